import type { SentDelivery as Delivery } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { AttemptResult } from './attempt-result.tsx'

const POLL_INTERVAL_MS = 3000

interface Props {
  /** The path of the webhook. */
  path: string
  eventId: string
  replay: (() => void) | undefined
  onClose: () => void
}

/** A dialog with the request of a delivery, and the headers and the response of each attempt. */
export function SentDelivery({ path, eventId, replay, onClose }: Props) {
  const context = useOrgContext()
  const { data, error } = useData<Delivery>(`${path}/deliveries/${eventId}`, { pollMs: POLL_INTERVAL_MS })
  return (
    <Dialog title={t('Delivery: {eventType}', { eventType: data?.event_type ?? eventId })} onClose={onClose}>
      {error && <Notice kind="bad">{error.message}</Notice>}
      {data && (
        <>
          <div class="row between">
            <span class="row">
              <Badge state={data.status} />
              <Link to={context.pagePath(`/events?event_id=${eventId}`)}>
                <code>{eventId}</code>
              </Link>
            </span>
            {replay && (
              <button type="button" class="small-button" onClick={replay}>
                {t('Replay')}
              </button>
            )}
          </div>
          <h3>{t('Request body')}</h3>
          <Payload name={t('Request body')}>{JSON.stringify(JSON.parse(data.body), null, 2)}</Payload>
          <details>
            <summary>{t('Exact body, as it is signed')}</summary>
            <CopyText text={data.body} label={t('the body')} />
          </details>
          <h3>{t('Attempts')}</h3>
          <Attempts attempts={data.attempts} />
        </>
      )}
    </Dialog>
  )
}

/** Text that can be scrolled with the keyboard if it is long. */
function Payload({ name, children }: { name: string; children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable
    <section class="json" aria-label={name} tabIndex={0}>
      <pre>{children}</pre>
    </section>
  )
}

function Attempts({ attempts }: Pick<Delivery, 'attempts'>) {
  if (attempts.length === 0) return <p class="soft">{t('No attempts yet.')}</p>
  return (
    <ol class="ordered">
      {attempts.map((attempt) => (
        <li key={attempt.attempted_at} class="stack-tight">
          <p class="row between">
            <Time at={attempt.attempted_at} seconds />
            <AttemptResult attempt={attempt} />
          </p>
          {attempt.error && attempt.status_code !== null && <p class="bad-text small">{attempt.error}</p>}
          <details>
            <summary>{t('Request headers')}</summary>
            <pre class="json">{attempt.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')}</pre>
            {!attempt.headers.some(({ name }) => name === 'webhook-signature') && (
              <p class="soft small">{t('The signature of this attempt was not stored.')}</p>
            )}
          </details>
          {attempt.answer ? (
            <Payload name={t('Response body')}>{attempt.answer}</Payload>
          ) : (
            attempt.status_code !== null && <p class="soft small">{t('The response had no body.')}</p>
          )}
        </li>
      ))}
    </ol>
  )
}
