import { createHmac } from 'node:crypto'
import { secretsEqual } from '../../platform/secret-comparison.ts'
import { SendError, type SendErrorReason } from '../channel.ts'
import { DEFAULT_PAUSE_SECONDS, type ProviderResponse, postTo } from '../provider.ts'

export const EXOTEL_API_URL = 'https://api.exotel.com'

export interface ExotelAccount {
  account_sid: string
  api_key: string
  api_token: string
  base_url?: string
}

/** Sends a form to the API of Exotel and returns the body of the successful response. */
export async function postToExotel(
  { account_sid, api_key, api_token, base_url = EXOTEL_API_URL }: ExotelAccount,
  path: string,
  form: Record<string, string>,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await postTo(
    `${base_url.replace(/\/+$/, '')}/v1/Accounts/${account_sid}/${path}`,
    {
      authorization: `Basic ${Buffer.from(`${api_key}:${api_token}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    new URLSearchParams(form).toString(),
    signal,
  )
  if (response.status < 200 || response.status >= 300) throw toSendError(response)
  return response.body
}

/** After an internal or gateway error, it is unknown whether the message was sent or the call was made. */
function toSendError({ status, body, retryAfter }: ProviderResponse): SendError {
  const { RestException: error } = (body ?? {}) as { RestException?: { Message?: unknown; Code?: unknown } }
  const text = [`HTTP ${status}`, error?.Code, error?.Message].filter(Boolean).join(', ')
  const isBusy = status === 429 || status === 503
  const reason: SendErrorReason = isBusy ? 'busy' : status >= 500 ? 'unknown' : 'rejected'
  return new SendError(reason, text, isBusy ? (retryAfter ?? DEFAULT_PAUSE_SECONDS) : undefined)
}

/** Exotel does not sign its callbacks, so their URL contains a message authentication code. */
export function statusCallbackUrl(
  publicUrl: string,
  { api_token, channel_id }: { api_token: string; channel_id: string },
  messageId: string,
): string {
  const code = callbackCode(api_token, `status of ${messageId}`)
  return `${publicUrl.replace(/\/+$/, '')}/hooks/exotel/${channel_id}/status/${messageId}/${code}`
}

export function isStatusCallback(apiToken: unknown, messageId: string, code: string): boolean {
  return typeof apiToken === 'string' && secretsEqual(code, callbackCode(apiToken, `status of ${messageId}`))
}

/** Returns the URLs for the applets of a call flow: the Gather applet asks the question, and the Passthru applet reports the keys. */
export function flowUrls(hooksUrl: string, apiToken: string, channelId: string): string[] {
  const code = callbackCode(apiToken, `flow of ${channelId}`)
  return ['gather', 'passthru'].map((applet) => `${hooksUrl}/exotel/${channelId}/${applet}/${code}`)
}

export function isFlowRequest(apiToken: unknown, channelId: string, code: string): boolean {
  return typeof apiToken === 'string' && secretsEqual(code, callbackCode(apiToken, `flow of ${channelId}`))
}

function callbackCode(apiToken: string, subject: string): string {
  return createHmac('sha256', apiToken).update(subject).digest('base64url')
}
