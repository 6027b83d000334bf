import { sign } from './sign.ts'

export interface ClientOptions {
  /** Where the server is, such as `https://verify.example.com`. */
  baseUrl: string
  /** `VFN_TEST_…` or `VFN_LIVE_…`. */
  keyId: string
  /** `VFN_SK_…`. */
  secret: string
  /** The recruiter for whom calls are made, unless a call names another. */
  onBehalfOf?: string
  fetch?: typeof globalThis.fetch
}

export interface RequestOptions {
  body?: unknown
  onBehalfOf?: string | undefined
  idempotencyKey?: string | undefined
  headers?: Record<string, string>
  signal?: AbortSignal
}

export interface AttestryAnswer<T = unknown> {
  status: number
  headers: Headers
  body: T
}

const PARTNER_BASE = '/api/v1/partner'

/** Signs and sends calls to the partner API. */
export class AttestryClient {
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') }
  }

  /** `path` is relative to the partner API (`/shifts`) or absolute (`/api/v1/partner/shifts`); a query may follow. */
  async request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<AttestryAnswer<T>> {
    const { baseUrl, keyId, secret, fetch = globalThis.fetch } = this.#options
    const url = new URL(baseUrl + (path.startsWith('/api/') ? path : PARTNER_BASE + path))
    const target = url.pathname + url.search
    const body = options.body === undefined ? undefined : JSON.stringify(options.body)
    const timestamp = Math.floor(Date.now() / 1000)
    const onBehalfOf = options.onBehalfOf ?? this.#options.onBehalfOf
    const { idempotencyKey } = options
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...options.headers,
      'x-api-key': keyId,
      'x-timestamp': String(timestamp),
      'x-signature': await sign({ secret, timestamp, method, target, onBehalfOf, idempotencyKey, body }),
    }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (onBehalfOf !== undefined) headers['x-on-behalf-of'] = onBehalfOf
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
    const response = await fetch(url, {
      method: method.toUpperCase(),
      headers,
      body: body ?? null,
      signal: options.signal ?? null,
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: readJson(text) as T }
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
