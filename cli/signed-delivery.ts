import { InvalidArgumentError } from 'commander'
import { type Event, signWebhook } from '../sdk/index.ts'

export const RESPONSE_TIMEOUT_MS = 10_000

/** Posts an event to a URL, signed like a webhook delivery. */
export async function postSigned(
  url: string,
  event: Omit<Event, 'delivery'>,
  secret: string,
  signal?: AbortSignal,
): Promise<{ status: number; accepted: boolean; durationMs: number }> {
  const body = JSON.stringify(event)
  const startedAt = performance.now()
  const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_MS)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await signWebhook(body, { id: event.event_id, secret })) },
    body,
    redirect: 'manual',
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  })
  await response.body?.cancel()
  return { status: response.status, accepted: response.ok, durationMs: performance.now() - startedAt }
}

export function parseHttpUrl(text: string): string {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  const valid = url && /^https?:$/.test(url.protocol) && /[.:]|^localhost$/.test(url.host)
  if (!valid) throw new InvalidArgumentError('Expected a URL such as http://localhost:3000/webhooks.')
  return url.href
}

export function parseWebhookSecret(text: string): string {
  if (!/^whsec_[A-Za-z0-9+/]{8,}={0,2}$/.test(text))
    throw new InvalidArgumentError('Expected whsec_ followed by at least 8 base64 characters.')
  return text
}
