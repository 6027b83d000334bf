import { useState } from 'preact/hooks'
import type { ChannelOverview } from '../../api-types/console.ts'
import type { Channel } from '../../api-types/partner.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'

interface SettingField {
  name: string
  label: string
  isSecret?: boolean
  hint?: string
}

const TWILIO_FIELDS: SettingField[] = [
  { name: 'account_sid', label: 'Account SID of Twilio' },
  { name: 'auth_token', label: 'Auth token', isSecret: true },
  { name: 'from', label: 'Sender number', hint: 'Such as +14155550100' },
]

const EXOTEL_FIELDS: SettingField[] = [
  { name: 'account_sid', label: 'Account SID of Exotel' },
  { name: 'api_key', label: 'API key', isSecret: true },
  { name: 'api_token', label: 'API token', isSecret: true },
  { name: 'app_id', label: 'ID of the call flow', hint: 'Digits, from the dashboard of Exotel' },
  { name: 'from', label: 'Caller ID', hint: 'A number of the series 140 or 1600, as Exotel shows it' },
  {
    name: 'languages',
    label: 'Languages of the voice (optional)',
    hint: 'Codes separated by commas, such as en, hi. Without them, only candidates in English are called.',
  },
]

/**
 * The fields of channels that can be set up here. SMS through Exotel and Gupshup, and mail servers, are set up with the command line. Calls
 * have two providers.
 */
const FIELDS: Partial<Record<Channel, SettingField[]>> = {
  whatsapp: [
    { name: 'phone_number_id', label: 'Phone number ID' },
    {
      name: 'business_account_id',
      label: 'Business account ID (optional)',
      hint: 'ID of the WhatsApp Business account. It is needed to submit registered texts and to get their status.',
    },
    { name: 'access_token', label: 'Access token', isSecret: true },
    { name: 'app_secret', label: 'App secret', isSecret: true },
    { name: 'verify_token', label: 'Verify token', isSecret: true, hint: 'A text that you choose, for the webhook' },
    {
      name: 'template.name',
      label: 'Name of your own approved template (optional)',
      hint: 'Only if you do not use the registered texts below',
    },
    {
      name: 'template.languages',
      label: 'Approved languages of your own template (optional)',
      hint: 'Codes separated by commas, such as en, hi',
    },
  ],
  sms: TWILIO_FIELDS,
  voice: TWILIO_FIELDS,
}

export function hasForm(channel: Channel): boolean {
  return FIELDS[channel] !== undefined
}

interface Props {
  path: string
  channel: Channel
  onClose: () => void
  onSaved: (overview: ChannelOverview) => void
}

/** Replaces the settings of a channel. Stored secrets are not shown, so all fields must be entered again. */
export function ChannelForm({ path, channel, onClose, onSaved }: Props) {
  const [values, setValues] = useState<Record<string, string>>({})
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const [isExotel, setIsExotel] = useState(false)
  const fields = isExotel ? EXOTEL_FIELDS : FIELDS[channel]!
  const errorOf = (name: string) =>
    error?.details.find(({ path: field }) => field === name || field.startsWith(`${name}[`))?.message
  const isShownAtField = error !== undefined && fields.some(({ name }) => errorOf(name) !== undefined)
  return (
    <form class="stack" noValidate onSubmit={(event) => void save(event)}>
      {channel === 'sms' && (
        <p class="soft">
          These are the settings of Twilio, for numbers outside India. The operator sets up Exotel or Gupshup for India.
        </p>
      )}
      {channel === 'voice' && (
        <Field
          id="voice-provider"
          label="Provider"
          hint={isExotel ? 'If your account is in Mumbai, the operator must set base_url with the command line.' : ''}
        >
          {(attributes) => (
            <select
              {...attributes}
              value={isExotel ? 'exotel' : 'twilio'}
              onChange={(event) => setIsExotel(event.currentTarget.value === 'exotel')}
            >
              <option value="twilio">Twilio, for numbers outside India</option>
              <option value="exotel">Exotel, for India</option>
            </select>
          )}
        </Field>
      )}
      {fields.map(({ name, label, isSecret, hint }) => (
        <Field key={name} id={`${channel}-${name}`} label={label} hint={hint ?? ''} error={errorOf(name)}>
          {(attributes) => (
            <input
              {...attributes}
              {...(isSecret ? { type: 'password' as const } : { type: 'text' as const })}
              autoComplete="off"
              value={values[name] ?? ''}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          )}
        </Field>
      ))}
      {error && !isShownAtField && <Notice kind="bad">{error.message}</Notice>}
      <div class="row">
        <SubmitButton class="primary" busy={busy}>
          Save settings
        </SubmitButton>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<ChannelOverview>(path, { method: 'PUT', body: enteredSettings() })
    setBusy(false)
    if (response.ok) onSaved(response.data)
    else setError(response.error)
  }

  function enteredSettings() {
    const settings = toSettings(fields.map(({ name }) => [name, values[name] ?? '']))
    return isExotel ? { provider: 'exotel', ...settings } : settings
  }
}

/** Returns the settings for the API: `template.name` is a field of the object `template`. Empty fields are left out. */
function toSettings(values: [path: string, text: string][]): Record<string, unknown> {
  const settings: Record<string, unknown> = {}
  for (const [path, text] of values) {
    if (!text.trim()) continue
    const [name, inner] = path.split('.') as [string, string | undefined]
    const value = path.endsWith('languages') ? text.split(',').map((code) => code.trim()) : text.trim()
    settings[name] = inner === undefined ? value : { ...(settings[name] as object | undefined), [inner]: value }
  }
  return settings
}
