import { useState } from 'preact/hooks'
import type { ApiKey, ApiKeyList, ScopeList } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { AddressField, addressErrorAt, splitAddresses } from './allowed-addresses.tsx'
import { keyLabel, NameField, nameErrorAt } from './key-name.tsx'

export type KeyWithSecret = ApiKey & { secret?: string; key?: string; rotated?: boolean }

interface CreateProps {
  path: string
  /** Maximum lifetime of the key in days, if the operator requires one. */
  maxDays: number | null
  onClose: () => void
  onCreated: (key: KeyWithSecret) => void
}

export function CreateKey({ path, maxDays, onClose, onCreated }: CreateProps) {
  const { data } = useData<ScopeList>('/scopes')
  const [kind, setKind] = useState<'partner' | 'session'>('partner')
  const [name, setName] = useState('')
  const [selected, setSelected] = useState<Set<string>>()
  const [lastDay, setLastDay] = useState('')
  const [addresses, setAddresses] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const allScopes = data?.items ?? []
  const scopes = selected ?? new Set(allScopes)
  const expiresAt = endOfDayTime(lastDay)
  const fieldError = fieldErrorAt(error, 'expires_at')
  const addressError = addressErrorAt(error)
  const nameError = nameErrorAt(error)
  return (
    <Dialog title={t('Create key')} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void create(event)}>
        {error && !fieldError && !addressError && !nameError && <Notice kind="bad">{error.message}</Notice>}
        <NameField
          value={name}
          error={nameError}
          onInput={(text) => {
            setError(undefined)
            setName(text)
          }}
        />
        <fieldset>
          <legend>{t('Kind')}</legend>
          <div class="choices two">
            {(['partner', 'session'] as const).map((each) => (
              <label class="choice" key={each}>
                <input type="radio" name="kind" checked={kind === each} onChange={() => setKind(each)} />
                {each === 'partner' ? t('Partner API') : t('Verifications')}
              </label>
            ))}
          </div>
        </fieldset>
        {kind === 'partner' && (
          <fieldset>
            <legend>{t('Permissions')}</legend>
            <div class="scopes">
              {allScopes.map((scope) => (
                <label key={scope} class="check">
                  <input type="checkbox" checked={scopes.has(scope)} onChange={() => toggle(scope)} />
                  {scope}
                </label>
              ))}
            </div>
          </fieldset>
        )}
        <Field
          id="key-last-day"
          label={maxDays === null ? t('Last valid day (optional)') : t('Last valid day')}
          hint={
            maxDays === null
              ? t(
                  'The key expires at the end of this day in your time zone. Leave empty for a key that does not expire.',
                )
              : t(
                  'The key expires at the end of this day in your time zone. LIVE keys are valid for at most {maxDays} days.',
                  { maxDays },
                )
          }
          error={fieldError}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="date"
              value={lastDay}
              onInput={(event) => {
                setError(undefined)
                setLastDay(event.currentTarget.value)
              }}
            />
          )}
        </Field>
        <AddressField
          value={addresses}
          error={addressError}
          onInput={(text) => {
            setError(undefined)
            setAddresses(text)
          }}
        />
        <SubmitButton class="primary" busy={busy} ready={kind !== 'partner' || scopes.size > 0}>
          {t('Create key')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  function toggle(scope: string) {
    const nextScopes = new Set(scopes)
    if (!nextScopes.delete(scope)) nextScopes.add(scope)
    setSelected(nextScopes)
  }

  async function create(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<KeyWithSecret>(path, {
      body: {
        kind,
        ...(name.trim() ? { name: name.trim() } : {}),
        ...(kind === 'partner' ? { scopes: [...scopes] } : {}),
        ...(expiresAt ? { expires_at: expiresAt } : {}),
        ...(addresses.trim() ? { allowed_addresses: splitAddresses(addresses) } : {}),
      },
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onCreated(response.data)
  }
}

/** Returns the end of a day in the browser's time zone. */
function endOfDayTime(day: string): string | undefined {
  return day ? new Date(`${day}T23:59:59.999`).toISOString() : undefined
}

interface RotateProps {
  path: string
  apiKey: ApiKey
  grace: ApiKeyList['grace_hours']
  onClose: () => void
  onRotated: (key: KeyWithSecret) => void
}

export function RotateKey({ path, apiKey, grace, onClose, onRotated }: RotateProps) {
  const [hours, setHours] = useState(String(grace.usual))
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = fieldErrorAt(error, 'grace_hours')
  return (
    <Dialog title={t('Rotate the secret of {keyId}?', { keyId: keyLabel(apiKey) })} onClose={onClose}>
      <form class="stack" noValidate onSubmit={(event) => void rotate(event)}>
        <p>
          {t(
            'Creates a new secret. The current secret stays valid for a while, so that you can switch without downtime.',
          )}
        </p>
        {apiKey.previous_secret_until && (
          <Notice kind="wait">
            {richText(
              'Two secrets are valid now. If you rotate, the older one (valid until {time}) expires immediately.',
              { time: <Time at={apiKey.previous_secret_until} /> },
            )}
          </Notice>
        )}
        {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
        <Field
          id="key-grace-hours"
          label={t('Keep the old secret valid for (hours)')}
          hint={t('Enter 0 if the old secret has leaked; it then expires immediately. Maximum: {hours}.', {
            hours: grace.most.toLocaleString(displayLocale()),
          })}
          error={fieldError}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min="0"
              max={grace.most}
              step="1"
              value={hours}
              onInput={(event) => {
                setError(undefined)
                setHours(event.currentTarget.value)
              }}
            />
          )}
        </Field>
        <SubmitButton class="primary" busy={busy}>
          {t('Rotate secret')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function rotate(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<KeyWithSecret>(`${path}/${apiKey.key_id}/rotate`, {
      body: hours.trim() ? { grace_hours: Number(hours) } : {},
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onRotated({ ...response.data, rotated: true })
  }
}

/** Shows the secret of a new or rotated key, which cannot be read again later. */
export function KeySecret({ created, onClose }: { created: KeyWithSecret; onClose: () => void }) {
  return (
    <Dialog title={t('Copy your secret now')} onClose={onClose} persistent>
      <p>{t('It is shown only once.')}</p>
      {created.name && <p>{created.name}</p>}
      <p class="label">{t('Key ID')}</p>
      <CopyText text={created.key_id} label={t('the key ID')} />
      <p class="label">{created.kind === 'session' ? t('Key') : t('Secret')}</p>
      <CopyText text={created.secret ?? created.key ?? ''} label={t('the secret')} />
      {created.rotated && (
        <p class="soft">
          {created.previous_secret_until
            ? richText('The old secret stays valid until {time}.', {
                time: <Time at={created.previous_secret_until} />,
              })
            : t('The old secret is no longer valid.')}
        </p>
      )}
      {!created.rotated && created.expires_at && (
        <p class="soft">{richText('The key is valid until {time}.', { time: <Time at={created.expires_at} /> })}</p>
      )}
      <button type="button" class="primary" onClick={onClose}>
        {t('I have copied it')}
      </button>
    </Dialog>
  )
}

function fieldErrorAt(error: ApiError | undefined, path: string): string | undefined {
  return error?.details.find((detail) => detail.path === path)?.message
}
