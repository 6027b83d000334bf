import { AttestryError } from './error.ts'
import { type RetryOptions, withRetries } from './retry.ts'
import { sign } from './sign.ts'

export interface ClientOptions extends RetryOptions {
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

export interface CallOptions extends RequestOptions, RetryOptions {}

export interface AttestryAnswer<T = unknown> {
  status: number
  headers: Headers
  body: T
}

interface Envelope<T> {
  data: T
}

interface Page<T> {
  items: T[]
  next_cursor: string | null
}

const PARTNER_BASE = '/api/v1/partner'
/** What these do twice is what they do once. */
const REPEATABLE = ['GET', 'HEAD', 'PUT', 'DELETE']

/** Signs and sends calls to the partner API. */
export class AttestryClient {
  readonly #options: ClientOptions
  readonly #retry: RetryOptions

  constructor(options: ClientOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') }
    this.#retry = given(options)
  }

  /**
   * Makes a call and answers its `data`; a refusal is thrown as an `AttestryError`. What is over a limit, or meets a fault that passes, is
   * made again: a POST only with an `idempotencyKey`, or where the server says that it did nothing.
   */
  call<T = unknown>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const repeatable = REPEATABLE.includes(method.toUpperCase()) || options.idempotencyKey !== undefined
    const attempt = async () => {
      const { status, headers, body } = await this.request<Envelope<T>>(method, path, options)
      if (status < 200 || status > 299) throw new AttestryError(status, headers, body)
      return body.data
    }
    return withRetries(attempt, repeatable, { ...this.#retry, ...given(options) }, options.signal)
  }

  /** Every entry of a list, page after page as they are wanted. `path` may hold filters and a `limit`, which is the size of a page. */
  async *list<T = unknown>(path: string, options: CallOptions = {}): AsyncGenerator<T, void, undefined> {
    let cursor: string | null = null
    do {
      const query: string =
        cursor === null ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
      const page: Page<T> = await this.call<Page<T>>('GET', path + query, options)
      yield* page.items
      cursor = page.next_cursor
    } while (cursor !== null)
  }

  /** One call, as it is: `path` is relative to the partner API (`/shifts`) or absolute (`/api/v1/partner/shifts`); a query may follow. */
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

function given({ retries, longestWait }: RetryOptions): RetryOptions {
  return { ...(retries === undefined ? {} : { retries }), ...(longestWait === undefined ? {} : { longestWait }) }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
