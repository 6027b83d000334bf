import { type AcceptedMessage, type ChannelAdapter, SendError, type SendErrorReason } from '../channel.ts'
import { DEFAULT_PAUSE_SECONDS, type ProviderResponse, postTo } from '../provider.ts'
import type { WhatsAppSettings } from '../settings.ts'
import { renderWhatsApp } from '../templates/render.ts'
import { sessionMessage, templateMessage } from './messages.ts'

export const API_URL = 'https://graph.facebook.com'
export const API_VERSION = 'v23.0'
/** Rate limit for one recipient, which does not affect other recipients. */
const PAIR_RATE_CODE = 131056
/** The recipient has opted out of marketing messages of the business. */
export const OPTED_OUT_CODE = 131050
/** Limit of messages because of the low quality of the sender number. */
const SPAM_RATE_CODE = 131048
const SPAM_PAUSE_SECONDS = 3600
/** More than 24 hours since the recipient's last message: only templates are accepted. */
const OUTSIDE_WINDOW_CODE = 131047

/** Sends through the WhatsApp Cloud API. */
export const whatsapp: ChannelAdapter = {
  name: 'whatsapp',
  async send(message, credentials, signal) {
    const settings = credentials as WhatsAppSettings | undefined
    if (!settings?.phone_number_id) throw new SendError('rejected', 'WhatsApp is not configured for the organisation')
    // A candidate who asked for the contact has probably written within the last 24 hours.
    const isUnsolicited = message.followUpNumber !== undefined && !message.isRequested
    if (isUnsolicited) return sendTemplate()
    try {
      return await postMessage(sessionMessage(message))
    } catch (error) {
      if (!(error instanceof CloudApiError) || error.code !== OUTSIDE_WINDOW_CODE) throw error
      return sendTemplate()
    }

    async function sendTemplate(): Promise<AcceptedMessage> {
      const template = renderWhatsApp(message, settings!.registered_templates)
      return { ...(await postMessage(templateMessage(message, template))), templateId: template.name }
    }

    async function postMessage(body: object): Promise<AcceptedMessage> {
      const { base_url = API_URL, version = API_VERSION, phone_number_id, access_token } = settings!
      const response = await postTo(
        `${base_url.replace(/\/+$/, '')}/${version}/${phone_number_id}/messages`,
        { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
        JSON.stringify(body),
        signal,
      )
      if (response.status >= 200 && response.status < 300) return { providerId: readMessageId(response.body) }
      throw toCloudError(response)
    }
  },
}

function readMessageId(body: unknown): string | undefined {
  const id = (body as { messages?: { id?: unknown }[] } | undefined)?.messages?.[0]?.id
  return typeof id === 'string' ? id : undefined
}

class CloudApiError extends SendError {
  readonly code: number | undefined

  constructor(reason: SendErrorReason, message: string, code: number | undefined, retryAfter?: number) {
    super(reason, message, retryAfter)
    this.code = code
  }
}

/** Reasons by error code, which is more precise than the status. Other codes mean that the message was rejected. */
const errorReasons: Record<number, SendErrorReason> = {
  2: 'busy', // service unavailable
  4: 'busy', // rate limit of the application
  80007: 'busy', // rate limit of the account
  130429: 'busy', // rate limit of the sender number
  [PAIR_RATE_CODE]: 'busy',
  131000: 'busy', // internal error, not sent
  131016: 'busy', // temporarily unavailable
  131057: 'busy', // account in maintenance
  [SPAM_RATE_CODE]: 'busy',
  130472: 'unreachable', // recipient is part of an experiment
  131026: 'unreachable', // no WhatsApp account, or an outdated app
  131049: 'unreachable', // withheld: recipient gets too many marketing messages
  [OPTED_OUT_CODE]: 'stopped',
}

function toCloudError({ status, body, retryAfter }: ProviderResponse): CloudApiError {
  const error = (
    body as { error?: { code?: unknown; message?: unknown; error_data?: { details?: unknown } } } | undefined
  )?.error
  const code = typeof error?.code === 'number' ? error.code : undefined
  const text = [`HTTP ${status}`, code, error?.message, error?.error_data?.details].filter(Boolean).join(', ')
  const reason = (code === undefined ? undefined : errorReasons[code]) ?? reasonForStatus(status)
  const defaultPause = code === SPAM_RATE_CODE ? SPAM_PAUSE_SECONDS : DEFAULT_PAUSE_SECONDS
  const pauseSeconds = reason === 'busy' && code !== PAIR_RATE_CODE ? (retryAfter ?? defaultPause) : undefined
  return new CloudApiError(reason, text, code, pauseSeconds)
}

/** After a gateway error such as 502 or 504, it is unknown whether the message was sent. */
function reasonForStatus(status: number): SendErrorReason {
  if (status === 429 || status === 503) return 'busy'
  return status >= 500 ? 'unknown' : 'rejected'
}
