import { type Static, Type } from 'typebox'
import { invalid } from '../api/invalid.ts'
import type { Detail } from '../api/problem.ts'
import { isLoopback } from '../config.ts'
import { compileRequestValidator, describePattern } from '../platform/http/validation.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import type { ChannelName } from './channel.ts'
import { rulesFor } from './rules.ts'
import { type SmsTemplate, SmsTemplateSchema, templateErrors } from './sms-templates.ts'
import type { RegisteredTemplate } from './templates/template.ts'

// The description of a pattern is found by the text of the pattern, so different descriptions need different texts.

// Settings of each channel. Only operators set URLs of providers and mail servers, because they are called without further checks.

const LANGUAGE_CODE = describePattern('^[a-z]{2,3}(_[A-Za-z]{2,4})?$', 'must be a language code such as en or pt_BR')
const SMS_SENDER = describePattern(
  '^(\\+[1-9]\\d{6,14}|[A-Za-z0-9 ]{1,11}|\\d{3,8})$',
  'must be a phone number such as +919990000001, a name of up to 11 letters and digits, or a short code',
)
const MESSAGING_SERVICE_SID = describePattern(
  '^MG[0-9a-fA-F]{32}$',
  'must be a Twilio messaging service SID: MG and 32 hex digits',
)
const SMTP_URL = describePattern(
  '^smtps?://[\\x21-\\x7e]+$',
  'must be an SMTP URL such as smtps://user:password@smtp.example.com',
)
const EMAIL_SENDER = describePattern(
  '^[^\\p{Cc}<>]*(<[^\\s@<>]+@[^\\s@<>]+>|[^\\s@<>]+@[^\\s@<>]+)$',
  'must be an email address, with or without a name, such as Metro Ltd <jobs@example.com>',
)
const EMAIL_ADDRESS = describePattern('^[^\\s@<>]+@[^\\s@<>]+$', 'must be an email address, such as jobs@example.com')

/** Indian SMS providers send only to Indian numbers. */
const INDIAN_PREFIX = '+91'

const noOtherProperties = { additionalProperties: false }
const secret = Type.String({
  minLength: 8,
  maxLength: 1000,
  pattern: describePattern('^[\\x21-\\x7e]+$', 'must be ASCII characters without spaces'),
})
const phone = Type.String({
  pattern: describePattern('^\\+[1-9]\\d{6,14}$', 'must be a phone number in E.164 format, such as +919990000001'),
})
/** Fields that are added to the settings when they are read. */
interface RegisteredSettings {
  channel_id: string
  registered_templates: RegisteredTemplate[]
}

const ringSeconds = Type.Optional(Type.Integer({ minimum: 5, maximum: 120 }))
const commonFields = {
  base_url: Type.Optional(Type.String({ maxLength: 300 })),
  per_second: Type.Optional(Type.Number({ minimum: 0.01, maximum: 1000 })),
}

const TemplateSchema = Type.Object(
  {
    name: Type.String({
      pattern: describePattern('^[a-z0-9_]{1,512}$', 'must be 1 to 512 lower-case letters, digits or underscores'),
    }),
    /** Approved language codes; the first is the fallback. */
    languages: Type.Array(Type.String({ pattern: LANGUAGE_CODE }), { minItems: 1, maxItems: 30 }),
    /** Whether the template has yes and no buttons. */
    buttons: Type.Optional(Type.Boolean()),
  },
  noOtherProperties,
)

const WhatsAppSchema = Type.Object(
  {
    phone_number_id: Type.String({ pattern: describePattern('^\\d{5,20}$', 'must be 5 to 20 digits') }),
    access_token: secret,
    app_secret: secret,
    verify_token: secret,
    /** ID of the WhatsApp Business account, required to create templates and read their status. */
    business_account_id: Type.Optional(
      Type.String({ pattern: describePattern('^\\d{5,20}$', 'must be 5 to 20 digits') }),
    ),
    template: Type.Optional(TemplateSchema),
    follow_up_template: Type.Optional(TemplateSchema),
    version: Type.Optional(
      Type.String({ pattern: describePattern('^v\\d{1,3}\\.\\d$', 'must be an API version such as v21.0') }),
    ),
    ...commonFields,
  },
  noOtherProperties,
)
export type WhatsAppSettings = Static<typeof WhatsAppSchema> & RegisteredSettings

const twilioFields = {
  account_sid: Type.String({
    pattern: describePattern('^AC[0-9a-fA-F]{32}$', 'must be a Twilio account SID: AC and 32 hex digits'),
  }),
  auth_token: secret,
}

const SmsSchema = Type.Object(
  {
    ...twilioFields,
    from: Type.Optional(Type.String({ pattern: SMS_SENDER })),
    messaging_service_sid: Type.Optional(Type.String({ pattern: MESSAGING_SERVICE_SID })),
    ...commonFields,
  },
  noOtherProperties,
)
export type SmsSettings = Static<typeof SmsSchema> & { channel_id: string }

const HOST = describePattern(
  '^[a-z0-9-]+(\\.[a-z0-9-]+)*$',
  'must be a host name in lower case, such as verify.example.com',
)

/** Settings of the Indian SMS providers. */
const dltFields = {
  /** The registered header. */
  from: Type.String({
    pattern: describePattern('^([A-Za-z]{6}|\\d{6})$', 'must be the registered header: 6 letters, or 6 digits'),
  }),
  dlt_entity_id: Type.String({
    pattern: describePattern('^[0-9]{5,25}$', 'must be the DLT entity ID: 5 to 25 digits'),
  }),
  category: Type.Optional(Type.Enum(['service_explicit', 'promotional'])),
  /** Templates of earlier versions; the template register replaces them. */
  templates: Type.Optional(Type.Array(SmsTemplateSchema, { minItems: 1, maxItems: 100 })),
  /** Hosts of links on the whitelist of the DLT portal. */
  listed_hosts: Type.Array(Type.String({ maxLength: 253, pattern: HOST }), { minItems: 1, maxItems: 20 }),
  ...commonFields,
}

const exotelFields = {
  provider: Type.Literal('exotel'),
  account_sid: Type.String({
    pattern: describePattern('^[A-Za-z0-9_-]{1,64}$', 'must be the account SID of Exotel: letters and digits'),
  }),
  api_key: secret,
  api_token: secret,
}

const ExotelSchema = Type.Object({ ...exotelFields, ...dltFields }, noOtherProperties)
export type ExotelSettings = Static<typeof ExotelSchema> & RegisteredSettings

const ExotelVoiceSchema = Type.Object(
  {
    ...exotelFields,
    /** ID of the call flow in the dashboard of Exotel. */
    app_id: Type.String({ pattern: describePattern('^\\d{1,20}$', 'must be the ID of the call flow: 1 to 20 digits') }),
    /** The caller ID as the dashboard of Exotel shows it. */
    from: Type.String({
      pattern: describePattern(
        '^(\\+91|0)?\\d{10}$',
        'must be an ExoPhone in India as Exotel shows it, such as 01409123456 or +911409123456',
      ),
    }),
    /** Languages that the voice of the account speaks. */
    languages: Type.Optional(Type.Array(Type.Enum([...LANGUAGES]), { minItems: 1, uniqueItems: true })),
    ring_seconds: ringSeconds,
    ...commonFields,
  },
  noOtherProperties,
)
export type ExotelVoiceSettings = Static<typeof ExotelVoiceSchema> & { channel_id: string }

const GupshupSchema = Type.Object(
  {
    provider: Type.Literal('gupshup'),
    user_id: Type.String({
      pattern: describePattern('^[0-9]{5,20}$', 'must be the user ID of Gupshup: 5 to 20 digits'),
    }),
    password: secret,
    ...dltFields,
  },
  noOtherProperties,
)
export type GupshupSettings = Static<typeof GupshupSchema> & RegisteredSettings

const VoiceSchema = Type.Object(
  {
    ...twilioFields,
    from: phone,
    ring_seconds: ringSeconds,
    ...commonFields,
  },
  noOtherProperties,
)
export type VoiceSettings = Static<typeof VoiceSchema> & { channel_id: string }

const EmailSchema = Type.Object(
  {
    smtp_url: Type.String({ maxLength: 1000, pattern: SMTP_URL }),
    from: Type.String({ maxLength: 300, pattern: EMAIL_SENDER }),
    reply_to: Type.Optional(Type.String({ maxLength: 254, pattern: EMAIL_ADDRESS })),
    per_second: commonFields.per_second,
  },
  noOtherProperties,
)
export type EmailSettings = Static<typeof EmailSchema> & { channel_id: string }

const validators = {
  whatsapp: compileRequestValidator({ body: WhatsAppSchema }),
  sms: compileRequestValidator({ body: SmsSchema }),
  voice: compileRequestValidator({ body: VoiceSchema }),
  email: compileRequestValidator({ body: EmailSchema }),
}
const dltValidators = {
  exotel: compileRequestValidator({ body: ExotelSchema }),
  gupshup: compileRequestValidator({ body: GupshupSchema }),
}
const exotelVoiceValidator = compileRequestValidator({ body: ExotelVoiceSchema })
type DltProvider = keyof typeof dltValidators

/** Throws a validation error that lists every invalid field, without its value. */
export function validateSettings(channel: ChannelName, settings: unknown): object {
  const rawBody = Buffer.from(JSON.stringify(settings) ?? '')
  const validator = validatorFor(channel, settings)
  const details = validator({ params: {}, query: {}, body: settings, rawBody }).map(({ detail }) => detail)
  if (details.length === 0) details.push(...crossFieldErrors(channel, settings as Record<string, unknown>))
  if (details.length > 0) throw invalid(details)
  return settings as object
}

function validatorFor(channel: ChannelName, settings: unknown) {
  if (channel === 'voice' && providerOf(settings) === 'exotel') return exotelVoiceValidator
  const dltProvider = dltProviderOf(channel, settings)
  return dltProvider ? dltValidators[dltProvider] : validators[channel]
}

function providerOf(settings: unknown): unknown {
  return (settings as { provider?: unknown } | null)?.provider
}

/** Returns the Indian SMS provider in the settings; undefined if there is none. */
function dltProviderOf(channel: ChannelName, settings: unknown): DltProvider | undefined {
  const provider = providerOf(settings)
  return channel === 'sms' && (provider === 'exotel' || provider === 'gupshup') ? provider : undefined
}

function settingsTemplateErrors({ templates }: Record<string, unknown>): Detail[] {
  return templates === undefined ? [] : templateErrors(templates as SmsTemplate[], rulesFor(INDIAN_PREFIX).channels.sms)
}

function crossFieldErrors(channel: ChannelName, settings: Record<string, unknown>): Detail[] {
  const details: Detail[] = []
  if (dltProviderOf(channel, settings)) details.push(...settingsTemplateErrors(settings))
  else if (channel === 'sms' && (settings.from === undefined) === (settings.messaging_service_sid === undefined))
    details.push({ path: 'from', message: 'is required unless messaging_service_sid is set; set exactly one of them' })
  if (settings.base_url !== undefined && !isSafeBaseUrl(settings.base_url as string))
    details.push({
      path: 'base_url',
      message: 'must be an https URL without query or credentials; http is allowed only for localhost',
    })
  for (const field of SECRET_FIELDS) {
    const value = settings[field]
    if (typeof value === 'string' && value.includes('…'))
      details.push({
        path: field,
        message: 'contains the placeholder … of the documentation; replace it with your own value',
      })
  }
  if (settings.smtp_url !== undefined && !URL.canParse(settings.smtp_url as string))
    details.push({ path: 'smtp_url', message: 'must be a URL such as smtps://user:password@host:465' })
  return details
}

/** Credentials are sent to this URL: it must use TLS or be on this machine. */
function isSafeBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  if (username || password || search || hash) return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')))
}

const SECRET_FIELDS = new Set([
  'access_token',
  'app_secret',
  'verify_token',
  'auth_token',
  'api_key',
  'api_token',
  'password',
  'smtp_url',
])

/** Replaces secrets with `(set)`, for display. */
export function redactSecrets(settings: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, SECRET_FIELDS.has(name) ? '(set)' : value]),
  )
}
