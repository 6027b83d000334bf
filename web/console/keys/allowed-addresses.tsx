import { useState } from 'preact/hooks'
import type { ApiKey } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { keyLabel } from './key-name.tsx'

interface Props {
  path: string
  apiKey: ApiKey
  onClose: () => void
  onChanged: () => void
}

/** A dialog that changes the IP addresses that a key may be used from. */
export function AllowedAddresses({ path, apiKey, onClose, onChanged }: Props) {
  const [text, setText] = useState(apiKey.allowed_addresses?.join('\n') ?? '')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = addressErrorAt(error)
  return (
    <Dialog title={t('Allowed addresses of {keyId}', { keyId: keyLabel(apiKey) })} onClose={onClose}>
      <form class="stack" noValidate onSubmit={(event) => void save(event)}>
        <p>
          {t('Calls with this key from any other address are rejected. The change takes effect within one second.')}
        </p>
        {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
        <AddressField
          value={text}
          error={fieldError}
          onInput={(value) => {
            setError(undefined)
            setText(value)
          }}
        />
        <SubmitButton class="primary" busy={busy}>
          {t('Save addresses')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const addresses = splitAddresses(text)
    const response = await api<ApiKey>(`${path}/${apiKey.key_id}/allowed-addresses`, {
      method: 'PUT',
      body: { allowed_addresses: addresses.length > 0 ? addresses : null },
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
