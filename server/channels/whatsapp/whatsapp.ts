import { type Channel, SendError, type SendFault } from '../channel.ts'
import { type ProviderAnswer, postTo, SHORT_REST } from '../provider.ts'
import type { WhatsAppSettings } from '../settings.ts'
import { sessionMessage, templateMessage } from './messages.ts'

const HOST = 'https://graph.facebook.com'
const VERSION = 'v23.0'
/** Too much for this one person: everybody else is written to as before. */
const PAIR_RATE = 131056
/** The person has not written within a day: only a template goes through. */
const OUTSIDE_WINDOW = 131047

/** The WhatsApp Cloud API. */
export const whatsapp: Channel = {
  name: 'whatsapp',
  async send(message, credentials, signal) {
    const settings = credentials as WhatsAppSettings | undefined
    if (!settings?.phone_number_id) throw new SendError('refused', 'WhatsApp is not set up for the organisation')
    const template = message.contactStep ? (settings.follow_up_template ?? settings.template) : settings.template
    if (message.contactStep !== undefined) return post(templateMessage(message, template))
    try {
      return await post(sessionMessage(message))
    } catch (error) {
      if (!(error instanceof CloudError) || error.code !== OUTSIDE_WINDOW) throw error
      return post(templateMessage(message, template))
    }

    async function post(body: object): Promise<{ providerId: string | undefined }> {
      const { base_url = HOST, version = VERSION, phone_number_id, access_token } = settings!
      const answer = await postTo(
        `${base_url.replace(/\/+$/, '')}/${version}/${phone_number_id}/messages`,
        { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
        JSON.stringify(body),
        signal,
      )
      if (answer.status >= 200 && answer.status < 300) return { providerId: messageId(answer.body) }
      throw refusal(answer)
    }
  },
}

function messageId(body: unknown): string | undefined {
  const id = (body as { messages?: { id?: unknown }[] } | undefined)?.messages?.[0]?.id
  return typeof id === 'string' ? id : undefined
}

class CloudError extends SendError {
  readonly code: number | undefined

  constructor(fault: SendFault, message: string, code: number | undefined, retryAfter?: number) {
    super(fault, message, retryAfter)
    this.code = code
  }
}

/** By the error's code, as the provider advises; a status alone says less. Codes not named here refuse the message. */
const faults: Record<number, SendFault> = {
  2: 'busy', // the service is down
  4: 'busy', // too many calls by the application
  80007: 'busy', // too many calls for the account
  130429: 'busy', // too many messages from the number
  131056: 'busy', // too many messages to this person
  131000: 'busy', // something went wrong, and the message was not sent
  131016: 'busy', // temporarily unavailable
  131057: 'busy', // the account is in maintenance
  130472: 'unreachable', // the person is part of an experiment
  131026: 'unreachable', // no WhatsApp there, or an old one
  131049: 'unreachable', // held back, because the person gets too much of this kind
  131050: 'unreachable', // the person wants no more of this kind
}

function refusal({ status, body, retryAfter }: ProviderAnswer): CloudError {
  const error = (
    body as { error?: { code?: unknown; message?: unknown; error_data?: { details?: unknown } } } | undefined
  )?.error
  const code = typeof error?.code === 'number' ? error.code : undefined
  const text = [`HTTP ${status}`, code, error?.message, error?.error_data?.details].filter(Boolean).join(', ')
  const fault = (code === undefined ? undefined : faults[code]) ?? faultOf(status)
  const rest = fault === 'busy' && code !== PAIR_RATE ? (retryAfter ?? SHORT_REST) : undefined
  return new CloudError(fault, text, code, rest)
}

/** A gateway that answers 502 or 504 does not know whether the message went through. */
function faultOf(status: number): SendFault {
  if (status === 429 || status === 503) return 'busy'
  return status >= 500 ? 'unknown' : 'refused'
}
