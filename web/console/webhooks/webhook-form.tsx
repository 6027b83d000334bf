import { useState } from 'preact/hooks'
import type { EventType, Webhook, WebhookWithSecret } from '../../api-types/partner.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { useDryRun } from '../shared/dry-run.ts'
import { FieldError } from '../shared/field-error.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useOrgContext } from '../shell/session.ts'
import { useEventTypes } from './event-types.ts'

interface Props {
  /** The endpoint to edit; undefined creates a new one. */
  webhook?: Webhook
  onClose: () => void
  onSaved: (saved: WebhookWithSecret) => void
}

export function WebhookForm({ webhook, onClose, onSaved }: Props) {
  const context = useOrgContext()
  const [url, setUrl] = useState(webhook?.url ?? '')
  const all = useEventTypes()
  const [selected, setSelected] = useState(webhook && new Set(webhook.event_types))
  const types = selected ?? new Set(all)
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const path = context.apiPath(webhook ? `/webhooks/${webhook.webhook_id}` : '/webhooks')
  const method = webhook ? 'PUT' : 'POST'
  const body = {
    url: url.trim(),
    ...(selected ? { event_types: [...selected] } : {}),
    ...(description.trim() ? { description: description.trim() } : {}),
  }
  const check = useDryRun(url.trim() ? { path, method, body } : undefined, error)
  const currentError = error ?? (check.response && !check.response.ok ? check.response.error : undefined)
  return (
    <Dialog title={webhook ? 'Edit endpoint' : 'Add endpoint'} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        {currentError && currentError.details.length === 0 && <Notice kind="bad">{currentError.message}</Notice>}
        <Field
          id="webhook-url"
          label="URL"
          hint={
            context.mode === 'live'
              ? 'HTTPS only. We send signed events to this URL.'
              : 'We send signed events to this URL. In test mode, HTTP to this machine is allowed.'
          }
          error={check.errorAt('url')}
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
          <FieldError text={check.errorUnder('event_types')} />
        </fieldset>
        <Field id="webhook-description" label="Description (optional)" error={check.errorAt('description')}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              value={description}
              onInput={(event) => change(() => setDescription(event.currentTarget.value))}
            />
          )}
        </Field>
        <SubmitButton class="primary" busy={busy} ready={url.trim() !== ''}>
          {webhook ? 'Save' : 'Add endpoint'}
        </SubmitButton>
      </form>
    </Dialog>
  )

  function change(update: () => void) {
    setError(undefined)
    update()
  }

  function toggle(type: EventType) {
    const next = new Set(types)
    if (!next.delete(type)) next.add(type)
    setSelected(next)
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<WebhookWithSecret>(path, { method, body })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onSaved(response.data)
  }
}

/** Shows the signing secret once. */
export function WebhookSecret({ webhook, onClose }: { webhook: WebhookWithSecret; onClose: () => void }) {
  return (
    <Dialog title="Copy your secret now" onClose={onClose}>
      <p>
        This secret signs every event that is sent to <strong>{webhook.url}</strong>. It is shown only once.
      </p>
      <CopyText text={webhook.secret} label="the secret" />
      <p class="soft small">
        Verify the headers webhook-id, webhook-timestamp and webhook-signature with any Standard Webhooks library, or
        with <code>verifyWebhook</code> of the SDK.
      </p>
    </Dialog>
  )
}
