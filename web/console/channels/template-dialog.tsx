import { useState } from 'preact/hooks'
import type { MessageTemplate, MessageTemplateList } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'

interface Props {
  path: string
  title: string
  template: MessageTemplate
  onClose: () => void
  onSaved: () => void
}

/** Changes a registered text, and the DLT template ID of an SMS. A changed text is a draft until the registry approves it. */
export function TemplateDialog({ path, title, template, onClose, onSaved }: Props) {
  const storedId = template.registry_id ?? ''
  const [text, setText] = useState(template.text)
  const [registryId, setRegistryId] = useState(storedId)
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const errorOf = (name: string) =>
    error?.details
      .filter(({ path: field }) => field === name)
      .map(({ message }) => message)
      .join('; ') || undefined
  const isShownAtField = errorOf('text') !== undefined || errorOf('registry_id') !== undefined
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" noValidate onSubmit={(event) => void save(event)}>
        <Field
          id="template-text"
          label={t('Text')}
          hint={t(
            'With variables such as {variable} and {otherVariable}. A changed text is a draft again, and must be registered as a new template.',
            { variable: '{title}', otherVariable: '{link}' },
          )}
          error={errorOf('text')}
        >
          {(attributes) => (
            <textarea {...attributes} rows={6} value={text} onInput={(event) => setText(event.currentTarget.value)} />
          )}
        </Field>
        {template.channel === 'sms' && (
          <Field
            id="template-id"
            label={t('DLT template ID')}
            hint={t('Enter the ID that the DLT portal assigned to this text. The text is then approved.')}
            error={errorOf('registry_id')}
          >
            {(attributes) => (
              <input
                {...attributes}
                type="text"
                inputMode="numeric"
                value={registryId}
                onInput={(event) => setRegistryId(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        {error && !isShownAtField && <Notice kind="bad">{error.message}</Notice>}
        <div class="row">
          <SubmitButton class="primary" busy={busy}>
            {t('Save text')}
          </SubmitButton>
          <button type="button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const newId = registryId.trim()
    const response = await api<MessageTemplateList>(path, {
      method: 'PUT',
      // The stored ID belongs to the stored text, so it is not sent with a changed text.
      body: { text: text.trim(), ...(newId !== '' && newId !== storedId ? { registry_id: newId } : {}) },
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onSaved()
  }
}
