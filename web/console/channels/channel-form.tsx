import { useState } from 'preact/hooks'
import type { ChannelOverview } from '../../api-types/console.ts'
import type { Channel } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
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
  label: t('Twilio, for numbers outside India'),
  fields: [
    { name: 'account_sid', label: t('Account SID of Twilio') },
    { name: 'auth_token', label: t('Auth token'), isSecret: true },
    { name: 'from', label: t('Sender number'), hint: t('Such as +14155550100') },
  ],
}

const EXOTEL_ACCOUNT: SettingField[] = [
  { name: 'account_sid', label: t('Account SID of Exotel') },
  { name: 'api_key', label: t('API key'), isSecret: true },
  { name: 'api_token', label: t('API token'), isSecret: true },
  {
    name: 'base_url',
    label: t('Data centre of the account'),
    choices: [
      { value: '', label: t('Singapore') },
      { value: 'https://api.in.exotel.com', label: t('Mumbai') },
    ],
    hint: t('Exotel shows it in the API settings.'),
  },
]

const DLT_FIELDS: SettingField[] = [
  { name: 'from', label: t('Registered header'), hint: t('Six letters, or six digits for promotional messages') },
  { name: 'dlt_entity_id', label: t('DLT entity ID'), hint: t('From the DLT portal') },
  {
    name: 'listed_hosts',
    label: t('Hosts of links on the DLT whitelist'),
    isList: true,
    hint: t('Separated by commas, such as verify.example.com. It must contain the host of your candidate pages.'),
  },
]

const EXOTEL_SMS: Provider = {
  provider: 'exotel',
  label: t('Exotel, for India'),
  fields: [...EXOTEL_ACCOUNT, ...DLT_FIELDS],
}

const GUPSHUP: Provider = {
  provider: 'gupshup',
  label: t('Gupshup, for India'),
  fields: [
    { name: 'user_id', label: t('User ID of Gupshup') },
    { name: 'password', label: t('Password'), isSecret: true },
    ...DLT_FIELDS,
  ],
}

const EXOTEL_VOICE: Provider = {
  provider: 'exotel',
  label: t('Exotel, for India'),
  fields: [
    ...EXOTEL_ACCOUNT,
    { name: 'app_id', label: t('ID of the call flow'), hint: t('Digits, from the dashboard of Exotel') },
    { name: 'from', label: t('Caller ID'), hint: t('A number of the series 140 or 1600, as Exotel shows it') },
    {
      name: 'languages',
      label: t('Languages of the voice (optional)'),
      isList: true,
      hint: t('Codes separated by commas, such as en, hi. Without them, only candidates in English are called.'),
    },
  ],
}

const WHATSAPP: Provider = {
  label: t('WhatsApp Cloud API'),
  fields: [
    { name: 'phone_number_id', label: t('Phone number ID') },
    {
      name: 'business_account_id',
      label: t('Business account ID (optional)'),
      hint: t('ID of the WhatsApp Business account. It is needed to submit registered texts and to get their status.'),
    },
    { name: 'access_token', label: t('Access token'), isSecret: true },
    { name: 'app_secret', label: t('App secret'), isSecret: true },
    {
      name: 'verify_token',
      label: t('Verify token'),
      isSecret: true,
      hint: t('A text that you choose, for the webhook'),
    },
    {
      name: 'template.name',
      label: t('Name of your own approved template (optional)'),
      hint: t('Only if you do not use the registered texts below'),
    },
    {
      name: 'template.languages',
      label: t('Approved languages of your own template (optional)'),
      isList: true,
      hint: t('Codes separated by commas, such as en, hi'),
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
        <Field id={`${channel}-provider`} label={t('Provider')}>
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
          {t('Save settings')}
        </SubmitButton>
        <button type="button" onClick={onClose}>
          {t('Cancel')}
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
