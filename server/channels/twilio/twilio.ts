import { createHmac, timingSafeEqual } from 'node:crypto'
import { SendError, type SendErrorReason } from '../channel.ts'
import { DEFAULT_PAUSE_SECONDS, type ProviderResponse, postTo } from '../provider.ts'

export const TWILIO_API_URL = 'https://api.twilio.com'

export interface TwilioAccount {
  account_sid: string
  auth_token: string
  base_url?: string
}

/** Creates a message or a call and returns its SID. */
export async function createResource(
  { account_sid, auth_token, base_url = TWILIO_API_URL }: TwilioAccount,
  resource: 'Messages' | 'Calls',
  form: Record<string, string>,
  signal: AbortSignal,
): Promise<{ providerId: string | undefined }> {
  const response = await postTo(
    `${base_url.replace(/\/+$/, '')}/2010-04-01/Accounts/${account_sid}/${resource}.json`,
    {
      authorization: `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    new URLSearchParams(form).toString(),
    signal,
  )
  if (response.status < 200 || response.status >= 300) throw toSendError(response)
  const { sid } = (response.body ?? {}) as { sid?: unknown }
  return { providerId: typeof sid === 'string' ? sid : undefined }
}

/** The recipient has opted out of messages from this sender. */
export const OPTED_OUT_CODE = 21610

/** Reasons by Twilio error code. Other codes mean that the message or the account was rejected. */
const errorReasons: Record<number, SendErrorReason> = {
  13223: 'unreachable', // malformed number
  13224: 'unreachable', // nonexistent number
  20429: 'busy', // too many requests
  20503: 'busy', // service unavailable
  21211: 'unreachable', // invalid recipient number
  21214: 'unreachable', // number cannot receive calls
  21217: 'unreachable', // invalid number
  [OPTED_OUT_CODE]: 'stopped',
  21612: 'unreachable', // no route to the number
  21614: 'unreachable', // not a mobile number
  21635: 'unreachable', // landline
}

function toSendError({ status, body, retryAfter }: ProviderResponse): SendError {
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown }
  const reasonForCode = typeof code === 'number' ? errorReasons[code] : undefined
  const text = [`HTTP ${status}`, code, message].filter(Boolean).join(', ')
  const reason = reasonForCode ?? reasonForStatus(status)
  return new SendError(reason, text, reason === 'busy' ? (retryAfter ?? DEFAULT_PAUSE_SECONDS) : undefined)
}

/** After an internal or gateway error, it is unknown whether the request was processed. */
function reasonForStatus(status: number): SendErrorReason {
  if (status === 429 || status === 503) return 'busy'
  return status >= 500 ? 'unknown' : 'rejected'
}

/** Computes `X-Twilio-Signature` over the URL and the form fields sorted by name. */
export function twilioSignature(authToken: string, url: string, form: URLSearchParams): string {
  const fields = [...form].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return createHmac('sha1', authToken)
    .update(url + fields.map(([name, value]) => name + value).join(''))
    .digest('base64')
}

/** Accepts signatures over the URL with and without the default port, since proxies and Twilio may differ. */
export function isSignedByTwilio(authToken: string, url: string, form: URLSearchParams, header: unknown): boolean {
  if (typeof header !== 'string') return false
  return [url, withDefaultPort(url)].some((address) => {
    const expectedSignature = Buffer.from(twilioSignature(authToken, address, form))
    const actualSignature = Buffer.from(header)
    return actualSignature.length === expectedSignature.length && timingSafeEqual(actualSignature, expectedSignature)
  })
}

function withDefaultPort(url: string): string {
  const { protocol, port } = new URL(url)
  return port ? url : url.replace(/^(https?:\/\/[^/?#]+)/, `$1:${protocol === 'https:' ? 443 : 80}`)
}

/** Reads the SID of a message or call. */
export function readSid(form: URLSearchParams, field: string): string | undefined {
  return /^\w{1,64}$/.exec(form.get(field) ?? '')?.[0]
}

export function twilioCallbackUrl(publicUrl: string, channelId: string, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/hooks/twilio/${channelId}/${path}`
}
