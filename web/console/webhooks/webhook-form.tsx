import { useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useDryRun } from '../shared/dry-run.ts'
import { Fault } from '../shared/field-error.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { usePlace } from '../shell/session.ts'
import { useEventTypes } from './event-types.ts'
import type { Webhook, WebhookWithSecret } from './webhook-records.ts'

interface Props {
  /** The endpoint to change; without it, one is made. */
  webhook?: Webhook
  onClose: () => void
  onSaved: (saved: WebhookWithSecret) => void
}

export function WebhookForm({ webhook, onClose, onSaved }: Props) {
  const place = usePlace()
  const [url, setUrl] = useState(webhook?.url ?? '')
  const all = useEventTypes()
  const [chosen, setChosen] = useState(webhook && new Set(webhook.event_types))
  const types = chosen ?? new Set(all)
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const path = place.at(webhook ? `/webhooks/${webhook.webhook_id}` : '/webhooks')
  const method = webhook ? 'PUT' : 'POST'
  const body = {
    url: url.trim(),
    ...(chosen ? { event_types: [...chosen] } : {}),
    ...(description.trim() ? { description: description.trim() } : {}),
  }
  const check = useDryRun(url.trim() ? { path, method, body } : undefined, refusal)
  const refused = refusal ?? (check.answer && !check.answer.ok ? check.answer.refusal : undefined)
  return (
    <Dialog title={webhook ? 'Change the endpoint' : 'Add an endpoint'} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        {refused && refused.details.length === 0 && <Notice kind="bad">{refused.message}</Notice>}
        <Field
          id="webhook-url"
          label="Address"
          hint={
            place.mode === 'live'
              ? 'https only. Events are posted here, signed.'
              : 'Events are posted here, signed. In test, http to this machine will do.'
          }
          fault={check.at('url')}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="url"
              required
              placeholder="https://example.com/webhooks/attestry"
              value={url}
              onInput={(event) => change(() => setUrl(event.currentTarget.value))}
            />
          )}
        </Field>
        <fieldset>
          <legend>Events</legend>
          <div class="scopes">
            {all.map((type) => (
              <label key={type} class="check">
                <input type="checkbox" checked={types.has(type)} onChange={() => change(() => toggle(type))} />
                {type}
              </label>
            ))}
          </div>
          <Fault text={check.under('event_types')} />
        </fieldset>
        <Field id="webhook-description" label="What it is for (optional)" fault={check.at('description')}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              value={description}
              onInput={(event) => change(() => setDescription(event.currentTarget.value))}
            />
          )}
        </Field>
        <Action class="primary" busy={busy} ready={url.trim() !== ''}>
          {webhook ? 'Save' : 'Add the endpoint'}
        </Action>
      </form>
    </Dialog>
  )

  function change(act: () => void) {
    setRefusal(undefined)
    act()
  }

  function toggle(type: string) {
    const next = new Set(types)
    if (!next.delete(type)) next.add(type)
    setChosen(next)
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const answer = await api<WebhookWithSecret>(path, { method, body })
    setBusy(false)
    if (!answer.ok) return setRefusal(answer.refusal)
    onSaved(answer.data)
  }
}

/** The secret that signs, shown once. */
export function WebhookSecret({ webhook, onClose }: { webhook: WebhookWithSecret; onClose: () => void }) {
  return (
    <Dialog title="Keep this secret now" onClose={onClose}>
      <p>
        It signs every event that is sent to <strong>{webhook.url}</strong>. It is shown once and cannot be read again.
      </p>
      <Copy text={webhook.secret} label="the secret" />
      <p class="soft small">
        Check the headers webhook-id, webhook-timestamp and webhook-signature with any Standard Webhooks library, or
        with <code>verifyWebhook</code> of the SDK.
      </p>
    </Dialog>
  )
}
