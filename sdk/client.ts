import { AttestryError } from './error.ts'
import { type RetryOptions, withRetries } from './retry.ts'
import { sign } from './sign.ts'

export interface ClientOptions extends RetryOptions {
  /** Base URL of the server, such as `https://verify.example.com`. */
  baseUrl: string
  /** Key ID, `VFN_TEST_…` or `VFN_LIVE_…`. */
  keyId: string
  /** Secret of the key, `VFN_SK_…`. */
  secret: string
  /** Recruiter on whose behalf calls are made by default; a call can name another recruiter. */
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

export interface AttestryResponse<T = unknown> {
  status: number
  headers: Headers
  body: T
}

/** @deprecated Use `AttestryResponse`. */
export type AttestryAnswer<T = unknown> = AttestryResponse<T>

interface Envelope<T> {
  data: T
}

interface Page<T> {
  items: T[]
  next_cursor: string | null
}

const PARTNER_API_PATH = '/api/v1/partner'
/** Methods that can be retried safely: a second call changes nothing. */
const IDEMPOTENT_METHODS = ['GET', 'HEAD', 'PUT', 'DELETE']

/** Signs and sends calls to the partner API. */
export class AttestryClient {
  readonly #options: ClientOptions
  readonly #retry: RetryOptions

  constructor(options: ClientOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') }
    this.#retry = definedRetryOptions(options)
  }

  /**
   * Makes a call and returns its `data`; an error response is thrown as an `AttestryError`. Retries rate-limited calls
   * and transient errors. A POST without an `idempotencyKey` is retried only if the server rejected it without any
   * effect.
   */
  call<T = unknown>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const retryable = IDEMPOTENT_METHODS.includes(method.toUpperCase()) || options.idempotencyKey !== undefined
    const attempt = async () => {
      const { status, headers, body } = await this.request<Envelope<T>>(method, path, options)
      if (status < 200 || status > 299) throw new AttestryError(status, headers, body)
      return body.data
    }
    return withRetries(attempt, retryable, { ...this.#retry, ...definedRetryOptions(options) }, options.signal)
  }

  /**
   * Iterates over all items of a list and fetches pages as needed. `path` may contain filters and a `limit`, which is
   * the page size.
   */
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

  /**
   * Sends one signed request and returns the response, whatever its status; no retries. `path` is relative to the
   * partner API (`/shifts`) or absolute (`/api/v1/partner/shifts`) and may contain a query.
   */
  async request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<AttestryResponse<T>> {
    const { baseUrl, keyId, secret, fetch = globalThis.fetch } = this.#options
    const url = new URL(baseUrl + (path.startsWith('/api/') ? path : PARTNER_API_PATH + path))
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
    return { status: response.status, headers: response.headers, body: parseJson(text) as T }
  }
}

/** Omits undefined options, so that they do not override those of the client. */
function definedRetryOptions({ retries, longestWait, maxWaitSeconds = longestWait }: RetryOptions): RetryOptions {
  return { ...(retries === undefined ? {} : { retries }), ...(maxWaitSeconds === undefined ? {} : { maxWaitSeconds }) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
