export interface SignInput {
  /** `VFN_SK_…`, never sent. */
  secret: string
  /** Unix time in whole seconds. */
  timestamp: number
  method: string
  /** Path and query exactly as sent, such as `/api/v1/partner/skills?limit=10`. */
  target: string
  onBehalfOf?: string | undefined
  idempotencyKey?: string | undefined
  /** The body's text exactly as sent; nothing where there is none. */
  body?: string | Uint8Array | undefined
}

const encoder = new TextEncoder()

/** The seven lines that a partner request is signed over. */
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

/** The value of `x-signature`. Works in Node, Deno, Bun and workers: it needs nothing but WebCrypto. */
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
