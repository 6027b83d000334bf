import { useState } from 'preact/hooks'
import type { ApiKey } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'

const MAX_NAME_LENGTH = 80

/** Returns the name of a key, or its ID if it has none. */
export function keyLabel({ name, key_id }: Pick<ApiKey, 'name' | 'key_id'>): string {
  return name ?? key_id
}

interface Props {
  path: string
  apiKey: ApiKey
  onClose: () => void
  onChanged: () => void
}

/** A dialog that names a key, changes its name or removes it. */
export function RenameKey({ path, apiKey, onClose, onChanged }: Props) {
  const [name, setName] = useState(apiKey.name ?? '')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = nameErrorAt(error)
  return (
    <Dialog title={t('Name of the key')} onClose={onClose}>
      <form class="stack" noValidate onSubmit={(event) => void save(event)}>
        <p>
          <code>{apiKey.key_id}</code>
        </p>
        {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
        <NameField
          value={name}
          error={fieldError}
          onInput={(text) => {
            setError(undefined)
            setName(text)
          }}
        />
        <SubmitButton class="primary" busy={busy}>
          {t('Save name')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<ApiKey>(`${path}/${apiKey.key_id}/name`, {
      method: 'PUT',
      body: { name: name.trim() || null },
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onChanged()
  }
}

interface FieldProps {
  value: string
  error: string | undefined
  onInput: (text: string) => void
}

export function NameField({ value, error, onInput }: FieldProps) {
  return (
    <Field
      id="key-name"
      label={t('Name (optional)')}
      hint={t('Where the key is used, such as “Greenhouse production”. Lists, reminders and logs show it.')}
      error={error}
    >
      {(attributes) => (
        <input
          {...attributes}
          maxLength={MAX_NAME_LENGTH}
          autocomplete="off"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** Returns the error about the name, if there is one. */
export function nameErrorAt(error: ApiError | undefined): string | undefined {
  return error?.details.find(({ path }) => path === 'name')?.message
}
