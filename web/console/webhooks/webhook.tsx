import '../shared/forms.css'
import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { MadeBy, ReadOnly } from '../shared/created-via.tsx'
import { Fact, Facts } from '../shared/description-list.tsx'
import { type Answer, api, type Refusal } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { Deliveries } from './deliveries.tsx'
import { typesText, useEventTypes } from './event-types.ts'
import { WebhookForm, WebhookSecret } from './webhook-form.tsx'
import type { Webhook, WebhookWithSecret } from './webhook-records.ts'

type Asking = 'change' | 'rotate' | 'disable' | 'enable' | 'archive'

/** One endpoint: what was sent to it, how often, with what answer; and the ways to send again. */
export default function WebhookPage({ params }: { params: Params }) {
  const place = usePlace()
  const path = place.at(`/webhooks/${params.webhook_id}`)
  const { data, refusal, set, reload } = useData<Webhook>(path)
  const [asking, setAsking] = useState<Asking>()
  const [secret, setSecret] = useState<WebhookWithSecret>()
  const [said, setSaid] = useState<{ kind: 'good' | 'bad'; text: string }>()
  const [sends, setSends] = useState(0)
  const types = useEventTypes()
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  if (!data) return <h1 class="waiting">An endpoint</h1>
  const here = data.created_via === 'playground'
  const inUse = data.status !== 'archived'
  const active = data.status === 'enabled' || data.status === 'failing'
  const owner = place.may('owner')
  const close = () => setAsking(undefined)
  return (
    <>
      <p>
        <Link to={place.go('/webhooks')}>Webhooks</Link>
      </p>
      <div class="page-head">
        <h1>
          {data.url} <Badge state={data.status} />
        </h1>
        {owner && inUse && (
          <div class="row">
            {active && (
              <button type="button" class="primary" onClick={() => void sendTest()}>
                Send a test event
              </button>
            )}
            {here && data.status === 'disabled' && (
              <button type="button" class="primary" onClick={() => setAsking('enable')}>
                Enable
              </button>
            )}
          </div>
        )}
      </div>
      {data.status === 'failing' && (
        <Notice kind="bad">
          Nothing was taken for a day. It is still tried; what waits is sent as soon as the endpoint answers 2xx.
        </Notice>
      )}
      {data.status === 'disabled' && (
        <Notice kind="wait">Nothing is sent while it is disabled; what is addressed to it is held.</Notice>
      )}
      {!here && inUse && owner && <ReadOnly what="endpoint" />}
      {said && <Notice kind={said.kind}>{said.text}</Notice>}
      <Facts>
        <Fact name="Events">{typesText(data.event_types, types)}</Fact>
        {data.description && <Fact name="For">{data.description}</Fact>}
        <Fact name="Made">
          <Time at={data.created_at} /> <MadeBy via={data.created_via} />
        </Fact>
        <Fact name="Changed">
          <Time at={data.updated_at} />
        </Fact>
        <Fact name="Id">
          <code>{data.webhook_id}</code>
        </Fact>
      </Facts>
      {owner && here && inUse && (
        <div class="row">
          <button type="button" onClick={() => setAsking('change')}>
            Change
          </button>
          <button type="button" onClick={() => setAsking('rotate')}>
            Rotate the secret
          </button>
          {active && (
            <button type="button" onClick={() => setAsking('disable')}>
              Disable
            </button>
          )}
          <button type="button" onClick={() => setAsking('archive')}>
            Archive
          </button>
        </div>
      )}
      <Deliveries path={path} sends={sends} replay={owner && active ? replay : undefined} />
      {asking === 'change' && (
        <WebhookForm
          webhook={data}
          onClose={close}
          onSaved={(saved) => {
            set(saved)
            close()
          }}
        />
      )}
      {asking === 'rotate' && (
        <Dialog title="Rotate the secret?" onClose={close}>
          <p>A new secret is made. For 24 hours both sign every event, so that you can change over without a break.</p>
          <button type="button" class="primary" onClick={() => void rotate()}>
            Make a new secret
          </button>
        </Dialog>
      )}
      {asking === 'disable' && (
        <Confirm
          title="Disable this endpoint?"
          action="Disable"
          onClose={close}
          act={() => changed(api<Webhook>(`${path}/disable`, { body: {} }))}
          onDone={() => {}}
        >
          <p>Nothing is sent to it until it is enabled. Events are held, and can be recovered then.</p>
        </Confirm>
      )}
      {asking === 'enable' && (
        <Dialog title="Enable this endpoint?" onClose={close}>
          <p>Events were held while it was disabled. Shall they be sent now?</p>
          <div class="row">
            <button type="button" class="primary" onClick={() => void enable(true)}>
              Enable, and send what was held
            </button>
            <button type="button" onClick={() => void enable(false)}>
              Enable, and drop what was held
            </button>
          </div>
        </Dialog>
      )}
      {asking === 'archive' && (
        <Confirm
          title="Archive this endpoint?"
          action="Archive"
          onClose={close}
          act={() => changed(api<Webhook>(path, { method: 'DELETE' }))}
          onDone={() => {}}
        >
          <p>Nothing is sent to it any more, and what still waits is dropped. This cannot be undone.</p>
        </Confirm>
      )}
      {secret && <WebhookSecret webhook={secret} onClose={() => setSecret(undefined)} />}
    </>
  )

  async function sendTest() {
    const answer = await api<{ event_id: string }>(`${path}/test`, { body: {} })
    if (!answer.ok) return tell(answer.refusal)
    setSaid({ kind: 'good', text: 'A test event is on its way; see below what the endpoint answers.' })
    setSends((count) => count + 1)
  }

  async function rotate() {
    const answer = await api<WebhookWithSecret>(`${path}/rotate-secret`, { body: {} })
    close()
    if (!answer.ok) return tell(answer.refusal)
    setSecret(answer.data)
    await reload()
  }

  async function enable(recover: boolean) {
    const answer = await changed(api<Webhook>(`${path}/enable`, { body: { recover } }))
    close()
    if (!answer.ok) return tell(answer.refusal)
    setSaid({
      kind: 'good',
      text: recover ? 'Enabled. What was held is being sent.' : 'Enabled. Only new events are sent.',
    })
    setSends((count) => count + 1)
  }

  async function replay(which: object) {
    const answer = await api<{ replayed: number }>(`${path}/replay`, { body: which })
    if (!answer.ok) return tell(answer.refusal)
    const { replayed } = answer.data
    setSaid({
      kind: 'good',
      text:
        replayed === 0
          ? 'There was nothing to send again.'
          : `${replayed.toLocaleString()} ${replayed === 1 ? 'event is' : 'events are'} sent again, at once.`,
    })
    setSends((count) => count + 1)
  }

  async function changed(answering: Promise<Answer<Webhook>>): Promise<Answer<Webhook>> {
    const answer = await answering
    if (answer.ok) {
      set(answer.data)
      setSaid(undefined)
    }
    return answer
  }

  function tell({ message, details }: Refusal) {
    setSaid({ kind: 'bad', text: [message, ...details.map((each) => `${each.path} ${each.message}.`)].join(' ') })
  }
}
