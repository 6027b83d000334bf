export interface SignInput {
  /** Secret of the key, `VFN_SK_…`; never sent. */
  secret: string
  /** Unix time in whole seconds. */
  timestamp: number
  method: string
  /** Path and query exactly as sent, such as `/api/v1/partner/skills?limit=10`. */
  target: string
  onBehalfOf?: string | undefined
  idempotencyKey?: string | undefined
  /** Request body exactly as sent; omit it if there is none. */
  body?: string | Uint8Array | undefined
}

const encoder = new TextEncoder()

/** Returns the string that is signed for a partner request: seven lines. */
export async function linesToSign(input: SignInput): Promise<string> {
  const body = typeof input.body === 'string' ? encoder.encode(input.body) : (input.body ?? new Uint8Array())
  const digest = hex(await crypto.subtle.digest('SHA-256', body as Uint8Array<ArrayBuffer>))
  return [
    'VFN1',
    input.timestamp,
    input.method.toUpperCase(),
    input.target,
    input.onBehalfOf ?? '',
    input.idempotencyKey ?? '',
    digest,
  ].join('\n')
}

/** Returns the value of the `x-signature` header. Needs only WebCrypto, so it works in Node, Deno, Bun and workers. */
export async function sign(input: SignInput): Promise<string> {
  const key = await crypto.subtle.importKey(
    'raw',
    encoder.encode(input.secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  return `v1=${hex(await crypto.subtle.sign('HMAC', key, encoder.encode(await linesToSign(input))))}`
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
