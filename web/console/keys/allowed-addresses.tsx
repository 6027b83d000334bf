import { useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import type { ApiError } from '../shell/api.ts'
import { KeyDialog, type KeyDialogProps } from './key-dialog.tsx'
import { keyLabel } from './key-name.tsx'

/** A dialog that changes the IP addresses that a key may be used from. */
export function AllowedAddresses(props: KeyDialogProps) {
  const { apiKey } = props
  const [text, setText] = useState(apiKey.allowed_addresses?.join('\n') ?? '')
  return (
    <KeyDialog
      {...props}
      title={t('Allowed addresses of {keyId}', { keyId: keyLabel(apiKey) })}
      intro={t('Calls with this key from any other address are rejected. The change takes effect within one second.')}
      submitLabel={t('Save addresses')}
      property="allowed-addresses"
      body={() => ({ allowed_addresses: splitAddresses(text).length > 0 ? splitAddresses(text) : null })}
      errorAt={addressErrorAt}
      field={(error, clearError) => (
        <AddressField
          value={text}
          error={error}
          onInput={(value) => {
            clearError()
            setText(value)
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

export function AddressField({ value, error, onInput }: FieldProps) {
  return (
    <Field
      id="key-addresses"
      label={t('Allowed addresses (optional)')}
      hint={t('IP addresses or CIDR ranges such as 203.0.113.0/24, one per line. Leave empty to allow any address.')}
      error={error}
    >
      {(attributes) => (
        <textarea {...attributes} rows={3} value={value} onInput={(event) => onInput(event.currentTarget.value)} />
      )}
    </Field>
  )
}

export function splitAddresses(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '')
}

/** Returns the first error about an address, if there is one. */
export function addressErrorAt(error: ApiError | undefined): string | undefined {
  return error?.details.find(({ path }) => path.startsWith('allowed_addresses'))?.message
}
