import { useState } from 'preact/hooks'
import type { ApiKey } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import type { ApiError } from '../shell/api.ts'
import { KeyDialog, type KeyDialogProps } from './key-dialog.tsx'

const MAX_NAME_LENGTH = 80

/** Returns the name of a key, or its ID if it has none. */
export function keyLabel({ name, key_id }: Pick<ApiKey, 'name' | 'key_id'>): string {
  return name ?? key_id
}

/** A dialog that names a key, changes its name or removes it. */
export function RenameKey(props: KeyDialogProps) {
  const { apiKey } = props
  const [name, setName] = useState(apiKey.name ?? '')
  return (
    <KeyDialog
      {...props}
      title={t('Name of the key')}
      intro={<code>{apiKey.key_id}</code>}
      submitLabel={t('Save name')}
      property="name"
      body={() => ({ name: name.trim() || null })}
      errorAt={nameErrorAt}
      field={(error, clearError) => (
        <NameField
          value={name}
          error={error}
          onInput={(text) => {
            clearError()
            setName(text)
          }}
        />
      )}
    />
  )
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
