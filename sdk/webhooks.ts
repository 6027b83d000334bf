/** The headers of a delivery, as Fetch's `Headers`, Node's plain object or a list of pairs. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined> | Iterable<[string, string]>

export interface VerifyOptions {
  /** Seconds that the delivery's clock and yours may differ. */
  tolerance?: number
  /** Unix time in seconds. */
  now?: number
}

export class WebhookVerificationError extends Error {}

const encoder = new TextEncoder()
const TOLERANCE = 300

/**
 * Checks that a delivery comes from the server that knows the endpoint's secret (`whsec_…`), and that it is recent; answers the
 * event in it. `body` is the request's body exactly as received: parsed and written again, it does not verify.
 */
export async function verifyWebhook<T = unknown>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { tolerance = TOLERANCE, now = Date.now() / 1000 }: VerifyOptions = {},
): Promise<T> {
  const given = lowerCase(headers)
  const id = given.get('webhook-id')
  const timestamp = given.get('webhook-timestamp')
  const signatures = given.get('webhook-signature')
  if (!id || !timestamp || !signatures)
    throw new WebhookVerificationError('webhook-id, webhook-timestamp or webhook-signature is missing')
  if (!/^\d+$/.test(timestamp) || !(Math.abs(now - Number(timestamp)) <= tolerance))
    throw new WebhookVerificationError(`webhook-timestamp is more than ${tolerance} s away from this clock`)
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const message = encoder.encode(`${id}.${timestamp}.${text}`)
  const key = await hmacKey(secret, 'verify')
  // Both the old and the new secret's signature are sent for a day after a rotation: one that fits is enough.
  for (const signature of signatures.split(' ')) {
    const [version, encoded] = signature.split(',')
    const bytes = version === 'v1' && encoded ? fromBase64(encoded) : undefined
    if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, message))) return JSON.parse(text) as T
  }
  throw new WebhookVerificationError('no signature fits this secret and body')
}

/** The headers that a delivery carries, for tests of a receiver. */
export async function signWebhook(
  body: string,
  { id, secret, timestamp = Math.floor(Date.now() / 1000) }: { id: string; secret: string; timestamp?: number },
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const message = encoder.encode(`${id}.${timestamp}.${body}`)
  const signature = await crypto.subtle.sign('HMAC', await hmacKey(secret, 'sign'), message)
  const encoded = btoa(String.fromCharCode(...new Uint8Array(signature)))
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${encoded}` }
}

function hmacKey(secret: string, use: 'sign' | 'verify') {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''))
  if (!bytes || bytes.length === 0) throw new TypeError('a webhook secret is whsec_ and base64')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function lowerCase(headers: WebhookHeaders): Map<string, string> {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers)
  return new Map(pairs.map(([name, value]) => [name.toLowerCase(), String(value ?? '')]))
}
