import { type Static, Type } from 'typebox'
import type { Detail } from '../api/problem.ts'
import { isLoopback } from '../config.ts'
import { compileRequestValidator, invalid } from '../platform/http/validation.ts'
import type { ChannelName } from './channel.ts'

/** What each channel is set up with. Only an operator sets it: the addresses in it are called without further questions. */

const closed = { additionalProperties: false }
const secret = Type.String({ minLength: 8, maxLength: 1000, pattern: '^[\\x21-\\x7e]+$' })
const phone = Type.String({ pattern: '^\\+[1-9]\\d{6,14}$' })
const base = {
  base_url: Type.Optional(Type.String({ maxLength: 300 })),
  per_second: Type.Optional(Type.Number({ minimum: 0.01, maximum: 1000 })),
}

const Template = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9_]{1,512}$' }),
    /** Codes in which the provider approved it; the first one serves everybody else. */
    languages: Type.Array(Type.String({ pattern: '^[a-z]{2,3}(_[A-Za-z]{2,4})?$' }), { minItems: 1, maxItems: 30 }),
    /** Whether it has the two buttons for yes and no. */
    buttons: Type.Optional(Type.Boolean()),
  },
  closed,
)

const WhatsApp = Type.Object(
  {
    phone_number_id: Type.String({ pattern: '^\\d{5,20}$' }),
    access_token: secret,
    app_secret: secret,
    verify_token: secret,
    template: Template,
    follow_up_template: Type.Optional(Template),
    version: Type.Optional(Type.String({ pattern: '^v\\d{1,3}\\.\\d$' })),
    ...base,
  },
  closed,
)
export type WhatsAppSettings = Static<typeof WhatsApp> & { channel_id: string }
export type WhatsAppTemplate = Static<typeof Template>

const twilio = {
  account_sid: Type.String({ pattern: '^AC[0-9a-fA-F]{32}$' }),
  auth_token: secret,
}

const Sms = Type.Object(
  {
    ...twilio,
    from: Type.Optional(Type.String({ pattern: '^(\\+[1-9]\\d{6,14}|[A-Za-z0-9 ]{1,11}|\\d{3,8})$' })),
    messaging_service_sid: Type.Optional(Type.String({ pattern: '^MG[0-9a-fA-F]{32}$' })),
    ...base,
  },
  closed,
)
export type SmsSettings = Static<typeof Sms> & { channel_id: string }

const Voice = Type.Object(
  { ...twilio, from: phone, ring_seconds: Type.Optional(Type.Integer({ minimum: 5, maximum: 120 })), ...base },
  closed,
)
export type VoiceSettings = Static<typeof Voice> & { channel_id: string }

const Email = Type.Object(
  {
    smtp_url: Type.String({ maxLength: 1000, pattern: '^smtps?://[\\x21-\\x7e]+$' }),
    from: Type.String({ maxLength: 300, pattern: '^[^\\p{Cc}<>]*(<[^\\s@<>]+@[^\\s@<>]+>|[^\\s@<>]+@[^\\s@<>]+)$' }),
    reply_to: Type.Optional(Type.String({ maxLength: 254, pattern: '^[^\\s@<>]+@[^\\s@<>]+$' })),
    per_second: base.per_second,
  },
  closed,
)
export type EmailSettings = Static<typeof Email> & { channel_id: string }

const validators = {
  whatsapp: compileRequestValidator({ body: WhatsApp }),
  sms: compileRequestValidator({ body: Sms }),
  voice: compileRequestValidator({ body: Voice }),
  email: compileRequestValidator({ body: Email }),
}

/** Refuses what does not fit the channel, naming everything that is wrong, and no value. */
export function requireSettings(channel: ChannelName, given: unknown): object {
  const rawBody = Buffer.from(JSON.stringify(given) ?? '')
  const details = validators[channel]({ params: {}, query: {}, body: given, rawBody }).map(({ detail }) => detail)
  if (details.length === 0) details.push(...moreThanShape(channel, given as Record<string, unknown>))
  if (details.length > 0) throw invalid(details)
  return given as object
}

function moreThanShape(channel: ChannelName, given: Record<string, unknown>): Detail[] {
  const details: Detail[] = []
  if (channel === 'sms' && (given.from === undefined) === (given.messaging_service_sid === undefined))
    details.push({ path: 'from', message: 'is required, or messaging_service_sid, and not both' })
  if (given.base_url !== undefined && !isSafeBase(given.base_url as string))
    details.push({
      path: 'base_url',
      message: 'must be an https address without query and credentials; http only on this machine',
    })
  if (given.smtp_url !== undefined && !URL.canParse(given.smtp_url as string))
    details.push({ path: 'smtp_url', message: 'must be a URL such as smtps://user:password@host:465' })
  return details
}

/** Credentials go there: over TLS, or to this very machine. */
function isSafeBase(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  if (username || password || search || hash) return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')))
}

const secrets = new Set(['access_token', 'app_secret', 'verify_token', 'auth_token', 'smtp_url'])

/** For people to look at: what is secret is only said to be there. */
export function withoutSecrets(settings: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, secrets.has(name) ? '(set)' : value]),
  )
}
