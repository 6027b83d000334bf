import { createHmac, timingSafeEqual } from 'node:crypto'
import { SendError, type SendFault } from '../channel.ts'
import { type ProviderAnswer, postTo, SHORT_REST } from '../provider.ts'

const HOST = 'https://api.twilio.com'

export interface TwilioAccount {
  account_sid: string
  auth_token: string
  base_url?: string
}

/** Makes a resource of the account, a message or a call; answers its sid. */
export async function createResource(
  { account_sid, auth_token, base_url = HOST }: TwilioAccount,
  resource: 'Messages' | 'Calls',
  form: Record<string, string>,
  signal: AbortSignal,
): Promise<{ providerId: string | undefined }> {
  const answer = await postTo(
    `${base_url.replace(/\/+$/, '')}/2010-04-01/Accounts/${account_sid}/${resource}.json`,
    {
      authorization: `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    new URLSearchParams(form).toString(),
    signal,
  )
  if (answer.status < 200 || answer.status >= 300) throw refusal(answer)
  const { sid } = (answer.body ?? {}) as { sid?: unknown }
  return { providerId: typeof sid === 'string' ? sid : undefined }
}

/** The person has told the provider STOP, to this sender. */
export const TOLD_STOP = 21610

/** Codes that are about the person's number, not about the message or the account. */
const faults: Record<number, SendFault> = {
  13223: 'unreachable', // the number to dial is malformed
  13224: 'unreachable', // the number to dial does not exist
  20429: 'busy', // too many requests
  20503: 'busy', // the service is down
  21211: 'unreachable', // the number to write to is not valid
  21214: 'unreachable', // the number cannot be called
  21217: 'unreachable', // the number is not valid
  [TOLD_STOP]: 'stopped',
  21612: 'unreachable', // no route to the number
  21614: 'unreachable', // no mobile phone
  21635: 'unreachable', // a landline
}

function refusal({ status, body, retryAfter }: ProviderAnswer): SendError {
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown }
  const known = typeof code === 'number' ? faults[code] : undefined
  const text = [`HTTP ${status}`, code, message].filter(Boolean).join(', ')
  const fault = known ?? faultOf(status)
  return new SendError(fault, text, fault === 'busy' ? (retryAfter ?? SHORT_REST) : undefined)
}

/** An internal error, or that of a gateway, does not tell whether the request was carried out. */
function faultOf(status: number): SendFault {
  if (status === 429 || status === 503) return 'busy'
  return status >= 500 ? 'unknown' : 'refused'
}

/** `X-Twilio-Signature`: over the address as it was called and the fields in the order of their names. */
export function twilioSignature(authToken: string, url: string, form: URLSearchParams): string {
  const fields = [...form].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return createHmac('sha1', authToken)
    .update(url + fields.map(([name, value]) => name + value).join(''))
    .digest('base64')
}

/** With or without the port that goes without saying: proxies and the provider do not always agree on it. */
export function isSignedByTwilio(authToken: string, url: string, form: URLSearchParams, header: unknown): boolean {
  if (typeof header !== 'string') return false
  return [url, withPort(url)].some((address) => {
    const expected = Buffer.from(twilioSignature(authToken, address, form))
    const given = Buffer.from(header)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

function withPort(url: string): string {
  const { protocol, port } = new URL(url)
  return port ? url : url.replace(/^(https?:\/\/[^/?#]+)/, `$1:${protocol === 'https:' ? 443 : 80}`)
}

/** What the provider calls a message or a call. */
export function sidIn(form: URLSearchParams, field: string): string | undefined {
  return /^\w{1,64}$/.exec(form.get(field) ?? '')?.[0]
}

/** Where the provider calls back. */
export function twilioHook(publicUrl: string, channelId: string, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/hooks/twilio/${channelId}/${path}`
}
