import { useEffect, useState } from 'preact/hooks'
import type { Delivery } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { AttemptResult } from './attempt-result.tsx'
import { SentDelivery } from './sent-delivery.tsx'

const POLL_INTERVAL_MS = 3000

interface Props {
  path: string
  /** Number of times that the user has sent events. The log is reloaded when it changes. */
  sendCount: number
  replay: ((selection: object) => Promise<void>) | undefined
}

/** The delivery log of an endpoint, with every attempt and its response. */
export function Deliveries({ path, sendCount, replay }: Props) {
  const context = useOrgContext()
  const { query } = useAddress()
  const status = query.get('status') ?? ''
  const list = useList<Delivery>(`${path}/deliveries${status ? `?status=${status}` : ''}`, { pollMs: POLL_INTERVAL_MS })
  const shownEventId = query.get('event')
  const [choosingRange, setChoosingRange] = useState(false)
  useEffect(() => {
    if (sendCount > 0) void list.reload()
  }, [sendCount])
  return (
    <section class="stack" aria-label={t('Delivery log')}>
      <div class="page-head">
        <h2>{t('Delivery log')}</h2>
        {replay && (
          <div class="row">
            <button type="button" class="small-button" onClick={() => void replay({ only_failed: true })}>
              {t('Retry all failed deliveries')}
            </button>
            <button type="button" class="small-button" onClick={() => setChoosingRange(true)}>
              {t('Replay a time range')}
            </button>
          </div>
        )}
      </div>
      <div class="row filters">
        <label>
          {t('Show')}
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">{t('All deliveries')}</option>
            <option value="pending">{t('Pending')}</option>
            <option value="delivered">{t('Delivered')}</option>
            <option value="failed">{t('Failed')}</option>
          </select>
        </label>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Deliveries, newest event first')}
        rows={list.items}
        keyOf={({ delivery_id }) => delivery_id}
        loadMore={list.more}
        empty={
          <p class="soft">
            {status
              ? t('No delivery with this status.')
              : t('No deliveries yet. Send a test event to check the endpoint.')}
          </p>
        }
        columns={[
          { name: t('When'), cell: ({ created_at }) => <Time at={created_at} seconds /> },
          {
            name: t('Event'),
            cell: (delivery) => (
              <>
                <code>{delivery.event_type}</code>
                <div class="small event-id">
                  <Link to={context.pagePath(`/events?event_id=${delivery.event_id}`)}>
                    <code>{delivery.event_id}</code>
                  </Link>
                </div>
              </>
            ),
          },
          { name: t('Status'), cell: ({ status: state }) => <Badge state={state} /> },
          { name: t('Last response'), cell: ({ attempts }) => <AttemptResult attempt={attempts.at(-1)} /> },
          {
            name: t('Attempts'),
            cell: ({ event_id, attempts }) => (
              <button type="button" class="plain flush" onClick={() => setQuery({ event: event_id })}>
                {attempts.length === 0
                  ? t('View request')
                  : t(attempts.length === 1 ? 'View 1 attempt' : 'View {count} attempts', { count: attempts.length })}
              </button>
            ),
          },
          { name: t('Next attempt'), cell: ({ next_attempt_at }) => <Time at={next_attempt_at} seconds /> },
          ...(replay
            ? [
                {
                  name: t('Actions'),
                  cell: ({ event_id }: Delivery) => (
                    <button
                      type="button"
                      class="plain flush"
                      aria-label={t('Replay {eventId}', { eventId: event_id })}
                      onClick={() => void replay({ event_ids: [event_id] })}
                    >
                      {t('Replay')}
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {shownEventId && (
        <SentDelivery
          path={path}
          eventId={shownEventId}
          replay={replay && (() => void replay({ event_ids: [shownEventId] }))}
          onClose={() => setQuery({ event: undefined })}
        />
      )}
      {choosingRange && replay && (
        <ReplayRange
          onClose={() => setChoosingRange(false)}
          onChoose={(selection) => {
            setChoosingRange(false)
            void replay(selection)
          }}
        />
      )}
    </section>
  )
}

interface ReplayRangeProps {
  onClose: () => void
  onChoose: (selection: object) => void
}

/** Dialog to replay all events of a time range, for example after the receiver lost data. */
function ReplayRange({ onClose, onChoose }: ReplayRangeProps) {
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [onlyFailed, setOnlyFailed] = useState(false)
  return (
    <Dialog title={t('Replay a time range')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          onChoose({
            from: new Date(from).toISOString(),
            ...(to ? { to: new Date(to).toISOString() } : {}),
            ...(onlyFailed ? { only_failed: true } : {}),
          })
        }}
      >
        <p class="soft">
          {t(
            "Sends all events of this endpoint's types again, including events from before the endpoint was created. Events are stored for 30 days.",
          )}
        </p>
        <div class="pair">
          <Field id="replay-from" label={t('From')}>
            {(attributes) => (
              <input
                {...attributes}
                type="datetime-local"
                required
                value={from}
                onInput={(event) => setFrom(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field id="replay-to" label={t('To (optional)')}>
            {(attributes) => (
              <input
                {...attributes}
                type="datetime-local"
                value={to}
                onInput={(event) => setTo(event.currentTarget.value)}
              />
            )}
          </Field>
        </div>
        <label class="check">
          <input type="checkbox" checked={onlyFailed} onChange={() => setOnlyFailed(!onlyFailed)} />
          {t('Only failed deliveries')}
        </label>
        <button type="submit" class="primary" disabled={!from}>
          {t('Replay')}
        </button>
      </form>
    </Dialog>
  )
}
