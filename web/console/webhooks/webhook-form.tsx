import { useState } from 'preact/hooks'
import type { EventType, Webhook, WebhookWithSecret } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
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
  const allTypes = useEventTypes()
  const [selected, setSelected] = useState(webhook && new Set(webhook.event_types))
  const types = selected ?? new Set(allTypes)
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
  const dryRun = useDryRun(url.trim() ? { path, method, body } : undefined, error)
  const currentError = error ?? (dryRun.response && !dryRun.response.ok ? dryRun.response.error : undefined)
  return (
    <Dialog title={webhook ? t('Edit endpoint') : t('Add endpoint')} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        {currentError && currentError.details.length === 0 && <Notice kind="bad">{currentError.message}</Notice>}
        <Field
          id="webhook-url"
          label={t('URL')}
          hint={
            context.mode === 'live'
              ? t('HTTPS only. We send signed events to this URL.')
              : t('We send signed events to this URL. In test mode, HTTP to this machine is allowed.')
          }
          error={dryRun.errorAt('url')}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="url"
              required
              placeholder={t('https://example.com/webhooks/attestry')}
              value={url}
              onInput={(event) => applyChange(() => setUrl(event.currentTarget.value))}
            />
          )}
        </Field>
        <fieldset>
          <legend>{t('Events')}</legend>
          <div class="scopes">
            {allTypes.map((type) => (
              <label key={type} class="check">
                <input type="checkbox" checked={types.has(type)} onChange={() => applyChange(() => toggle(type))} />
                {type}
              </label>
            ))}
          </div>
          <FieldError text={dryRun.errorUnder('event_types')} />
        </fieldset>
        <Field id="webhook-description" label={t('Description (optional)')} error={dryRun.errorAt('description')}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              value={description}
              onInput={(event) => applyChange(() => setDescription(event.currentTarget.value))}
            />
          )}
        </Field>
        <SubmitButton class="primary" busy={busy} ready={url.trim() !== ''}>
          {webhook ? t('Save') : t('Add endpoint')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  function applyChange(update: () => void) {
    setError(undefined)
    update()
  }

  function toggle(type: EventType) {
    const nextTypes = new Set(types)
    if (!nextTypes.delete(type)) nextTypes.add(type)
    setSelected(nextTypes)
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

/** Shows the signing secret of an endpoint, which cannot be read again later. */
export function WebhookSecret({ webhook, onClose }: { webhook: WebhookWithSecret; onClose: () => void }) {
  return (
    <Dialog title={t('Copy your secret now')} onClose={onClose}>
      <p>
        {richText('This secret signs every event that is sent to {url}. It is shown only once.', {
          url: <strong>{webhook.url}</strong>,
        })}
      </p>
      <CopyText text={webhook.secret} label={t('the secret')} />
      <p class="soft small">
        {richText(
          'Verify the headers webhook-id, webhook-timestamp and webhook-signature with any Standard Webhooks library, or with {name} of the SDK.',
          { name: <code>verifyWebhook</code> },
        )}
      </p>
    </Dialog>
  )
}
