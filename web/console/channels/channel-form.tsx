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
  /** Whether the value is a list, entered with commas. */
  isList?: boolean
  /** The values that can be chosen; the first is the default. */
  choices?: { value: string; label: string }[]
  hint?: string
}

interface Provider {
  /** The value of the setting `provider`; undefined for the only or the default provider of a channel. */
  provider?: string
  label: string
  fields: SettingField[]
}

const TWILIO: Provider = {
  label: 'Twilio, for numbers outside India',
  fields: [
    { name: 'account_sid', label: 'Account SID of Twilio' },
    { name: 'auth_token', label: 'Auth token', isSecret: true },
    { name: 'from', label: 'Sender number', hint: 'Such as +14155550100' },
  ],
}

const EXOTEL_ACCOUNT: SettingField[] = [
  { name: 'account_sid', label: 'Account SID of Exotel' },
  { name: 'api_key', label: 'API key', isSecret: true },
  { name: 'api_token', label: 'API token', isSecret: true },
  {
    name: 'base_url',
    label: 'Data centre of the account',
    choices: [
      { value: '', label: 'Singapore' },
      { value: 'https://api.in.exotel.com', label: 'Mumbai' },
    ],
    hint: 'Exotel shows it in the API settings.',
  },
]

const DLT_FIELDS: SettingField[] = [
  { name: 'from', label: 'Registered header', hint: 'Six letters, or six digits for promotional messages' },
  { name: 'dlt_entity_id', label: 'DLT entity ID', hint: 'From the DLT portal' },
  {
    name: 'listed_hosts',
    label: 'Hosts of links on the DLT whitelist',
    isList: true,
    hint: 'Separated by commas, such as verify.example.com. It must contain the host of your candidate pages.',
  },
]

const EXOTEL_SMS: Provider = {
  provider: 'exotel',
  label: 'Exotel, for India',
  fields: [...EXOTEL_ACCOUNT, ...DLT_FIELDS],
}

const GUPSHUP: Provider = {
  provider: 'gupshup',
  label: 'Gupshup, for India',
  fields: [
    { name: 'user_id', label: 'User ID of Gupshup' },
    { name: 'password', label: 'Password', isSecret: true },
    ...DLT_FIELDS,
  ],
}

const EXOTEL_VOICE: Provider = {
  provider: 'exotel',
  label: 'Exotel, for India',
  fields: [
    ...EXOTEL_ACCOUNT,
    { name: 'app_id', label: 'ID of the call flow', hint: 'Digits, from the dashboard of Exotel' },
    { name: 'from', label: 'Caller ID', hint: 'A number of the series 140 or 1600, as Exotel shows it' },
    {
      name: 'languages',
      label: 'Languages of the voice (optional)',
      isList: true,
      hint: 'Codes separated by commas, such as en, hi. Without them, only candidates in English are called.',
    },
  ],
}

const WHATSAPP: Provider = {
  label: 'WhatsApp Cloud API',
  fields: [
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
      isList: true,
      hint: 'Codes separated by commas, such as en, hi',
    },
  ],
}

/** The providers of the channels that can be set up here. Mail servers are set up with the command line. */
const PROVIDERS: Partial<Record<Channel, [Provider, ...Provider[]]>> = {
  whatsapp: [WHATSAPP],
  sms: [EXOTEL_SMS, GUPSHUP, TWILIO],
  voice: [EXOTEL_VOICE, TWILIO],
}

export function hasForm(channel: Channel): boolean {
  return PROVIDERS[channel] !== undefined
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
  const providers = PROVIDERS[channel]!
  const [provider, setProvider] = useState(providers[0])
  const { fields } = provider
  const errorOf = (name: string) =>
    error?.details.find(({ path: field }) => field === name || field.startsWith(`${name}[`))?.message
  const isShownAtField = error !== undefined && fields.some(({ name }) => errorOf(name) !== undefined)
  return (
    <form class="stack" noValidate onSubmit={(event) => void save(event)}>
      {providers.length > 1 && (
        <Field id={`${channel}-provider`} label="Provider">
          {(attributes) => (
            <select
              {...attributes}
              value={provider.label}
              onChange={(event) => setProvider(providers.find(({ label }) => label === event.currentTarget.value)!)}
            >
              {providers.map(({ label }) => (
                <option key={label}>{label}</option>
              ))}
            </select>
          )}
        </Field>
      )}
      {fields.map(({ name, label, isSecret, choices, hint }) => (
        <Field key={name} id={`${channel}-${name}`} label={label} hint={hint ?? ''} error={errorOf(name)}>
          {(attributes) =>
            choices ? (
              <select
                {...attributes}
                value={values[name] ?? ''}
                onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
              >
                {choices.map((choice) => (
                  <option key={choice.value} value={choice.value}>
                    {choice.label}
                  </option>
                ))}
              </select>
            ) : (
              <input
                {...attributes}
                {...(isSecret ? { type: 'password' as const } : { type: 'text' as const })}
                autoComplete="off"
                value={values[name] ?? ''}
                onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
              />
            )
          }
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
    const settings = toSettings(fields, values)
    return provider.provider ? { provider: provider.provider, ...settings } : settings
  }
}

/** Returns the settings for the API: `template.name` is a field of the object `template`. Empty fields are left out. */
function toSettings(fields: SettingField[], values: Record<string, string>): Record<string, unknown> {
  const settings: Record<string, unknown> = {}
  for (const { name: path, isList } of fields) {
    const text = (values[path] ?? '').trim()
    if (!text) continue
    const [name, inner] = path.split('.') as [string, string | undefined]
    const value = isList ? text.split(',').map((item) => item.trim()) : text
    settings[name] = inner === undefined ? value : { ...(settings[name] as object | undefined), [inner]: value }
  }
  return settings
}
