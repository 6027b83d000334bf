import { AttestryConfigurationError } from './configuration.ts'
import type { WebhookEvent } from './types.ts'

/** Headers of a delivery: a Fetch `Headers` object, Node's plain object or name-value pairs. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined> | Iterable<[string, string]>

export interface VerifyOptions {
  /** Maximum difference in seconds between the timestamp of the delivery and the current time. Default: 300. */
  tolerance?: number
  /** Current Unix time in seconds. Default: the system clock. */
  now?: number
}

export class WebhookVerificationError extends Error {}

const encoder = new TextEncoder()
const DEFAULT_TOLERANCE_SECONDS = 300

/**
 * Verifies that a delivery was signed with the endpoint's secret (`whsec_…`) and is recent, and returns its event.
 * `body` must be the request body exactly as received: verification fails if it was parsed and serialised again.
 */
export async function verifyWebhook<T = WebhookEvent>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { tolerance = DEFAULT_TOLERANCE_SECONDS, now = Date.now() / 1000 }: VerifyOptions = {},
): Promise<T> {
  const received = lowerCaseNames(headers)
  const id = received.get('webhook-id')
  const timestamp = received.get('webhook-timestamp')
  const signatures = received.get('webhook-signature')
  if (!id || !timestamp || !signatures)
    throw new WebhookVerificationError('The webhook-id, webhook-timestamp or webhook-signature header is missing')
  if (!/^\d+$/.test(timestamp) || !(Math.abs(now - Number(timestamp)) <= tolerance))
    throw new WebhookVerificationError(
      `The webhook-timestamp header differs from the current time by more than ${tolerance} s`,
    )
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  const message = concatenate(encoder.encode(`${id}.${timestamp}.`), bytes)
  const key = await hmacKey(secret, 'verify')
  // For a day after a rotation, deliveries carry two signatures, one for each secret; one valid one is enough.
  for (const signature of signatures.split(' ')) {
    const [version, encoded] = signature.split(',')
    const hmac = version === 'v1' && encoded ? fromBase64(encoded) : undefined
    // `verify` compares in constant time.
    if (hmac && (await crypto.subtle.verify('HMAC', key, hmac, message)))
      return JSON.parse(new TextDecoder().decode(bytes)) as T
  }
  throw new WebhookVerificationError('No signature in the webhook-signature header matches the secret and the body')
}

/** Returns the headers of a delivery, for tests of a receiver. */
export async function signWebhook(
  body: string,
  { id, secret, timestamp = Math.floor(Date.now() / 1000) }: { id: string; secret: string; timestamp?: number },
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const message = encoder.encode(`${id}.${timestamp}.${body}`)
  const signature = await crypto.subtle.sign('HMAC', await hmacKey(secret, 'sign'), message)
  const encoded = btoa(String.fromCharCode(...new Uint8Array(signature)))
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${encoded}` }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}

function hmacKey(secret: string | undefined, use: 'sign' | 'verify') {
  if (!secret)
    throw new AttestryConfigurationError(
      'The webhook secret is missing: pass the secret (whsec_…) that was returned when you created the endpoint or rotated its secret.',
    )
  const bytes = fromBase64(secret.replace(/^whsec_/, ''))
  if (!bytes || bytes.length === 0)
    throw new AttestryConfigurationError('A webhook secret is whsec_ followed by base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function lowerCaseNames(headers: WebhookHeaders): Map<string, string> {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers)
  return new Map(pairs.map(([name, value]) => [name.toLowerCase(), String(value ?? '')]))
}
