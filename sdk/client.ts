import { type Configuration, readConfiguration, requireSetting } from './configuration.ts'
import { AttestryConnectionError, AttestryError } from './error.ts'
import { explainRejectedSignature } from './rejected-signature.ts'
import { Resources } from './resources.ts'
import { type RetryOptions, withRetries } from './retry.ts'
import { sign } from './sign.ts'
import { type Operation, type CallOptions as ResourceCallOptions, type WriteOptions, withQuery } from './transport.ts'

export interface ClientOptions extends Configuration, RetryOptions {
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

/**
 * Client of the three APIs of a server. Each resource has typed methods: `client.mandates.create(…)`. Keys that are not passed
 * are read from the environment; a call whose key is missing is rejected with an error that names it.
 */
export class AttestryClient extends Resources {
  readonly #options: ClientOptions
  readonly #configuration: Configuration
  readonly #retry: RetryOptions

  constructor(options: ClientOptions = {}) {
    super({ send: (operation, callOptions) => this.#send(operation, callOptions) })
    this.#options = options
    this.#configuration = readConfiguration(options)
    this.#retry = definedRetryOptions(options)
    requireSetting(this.#configuration, 'baseUrl')
    // A key without its secret, or an option that is present but undefined, is a mistake that should be found before the first call.
    const isPartnerClient =
      this.#configuration.keyId || this.#configuration.secret || 'keyId' in options || 'secret' in options
    for (const name of ['keyId', 'secret'] as const) if (isPartnerClient) requireSetting(this.#configuration, name)
    if ('sessionKey' in options) requireSetting(this.#configuration, 'sessionKey')
  }

  /**
   * Makes a call to the partner API and returns its `data`; an error response is thrown as an `AttestryError`. Retries
   * rate-limited calls and transient errors. A POST without an `idempotencyKey` is retried only if the server rejected it
   * without any effect. The methods of the resources are typed and create an idempotency key; use this one for operations that
   * this version of the SDK does not have.
   */
  call<T = unknown>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const retryable = IDEMPOTENT_METHODS.includes(method.toUpperCase()) || options.idempotencyKey !== undefined
    const attempt = async () => {
      const operation = partnerOperation(method, path, options.body)
      return (await this.#successfulBody<Envelope<T>>(operation, options)).data
    }
    return this.#retryAttempts(attempt, retryable, options)
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
   * Sends one signed request to the partner API and returns the response, whatever its status; no retries. `path` is relative to
   * the partner API (`/shifts`) or absolute (`/api/v1/partner/shifts`) and may contain a query.
   */
  request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<AttestryResponse<T>> {
    return this.#exchange<T>(partnerOperation(method, path, options.body), options)
  }

  /** Sends an operation of a resource, with retries. All attempts have the same idempotency key. */
  #send<T>(operation: Operation, options: WriteOptions = {}): Promise<T> {
    const idempotencyKey = operation.acceptsIdempotencyKey ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined
    const retryable = IDEMPOTENT_METHODS.includes(operation.method) || idempotencyKey !== undefined
    const attempt = async () => {
      const body = await this.#successfulBody<Envelope<T>>(operation, { ...options, idempotencyKey })
      return operation.wholeBody ? (body as T) : body.data
    }
    return this.#retryAttempts(attempt, retryable, options)
  }

  #retryAttempts<T>(attempt: () => Promise<T>, retryable: boolean, options: ResourceCallOptions): Promise<T> {
    return withRetries(attempt, retryable, { ...this.#retry, ...definedRetryOptions(options) }, options.signal)
  }

  /** Returns the body of a successful response; throws an error response as an `AttestryError`. */
  async #successfulBody<T>(operation: Operation, options: RequestOptions): Promise<T> {
    const response = await this.#exchange<T>(operation, options)
    const { status, headers, body } = response
    if (status >= 200 && status <= 299) return body
    const explanation = await this.#explainUnauthorized(operation, options, response)
    throw new AttestryError(status, headers, body, explanation)
  }

  /** Returns why a signed request was rejected, if only the secret can be wrong. */
  async #explainUnauthorized(operation: Operation, options: RequestOptions, response: AttestryResponse) {
    if (operation.auth !== 'signature') return undefined
    const keyId = requireSetting(this.#configuration, 'keyId')
    const { pathname, search } = this.#urlOf(operation)
    return explainRejectedSignature(
      keyId,
      {
        method: operation.method,
        target: pathname + search,
        onBehalfOf: options.onBehalfOf ?? this.#options.onBehalfOf,
        idempotencyKey: options.idempotencyKey,
        body: operation.body === undefined ? undefined : JSON.stringify(operation.body),
      },
      response,
    )
  }

  #urlOf(operation: Operation): URL {
    return new URL(requireSetting(this.#configuration, 'baseUrl') + withQuery(operation.path, operation.query))
  }

  async #exchange<T>(operation: Operation, options: RequestOptions): Promise<AttestryResponse<T>> {
    const { fetch = globalThis.fetch } = this.#options
    const url = this.#urlOf(operation)
    const body = operation.body === undefined ? undefined : JSON.stringify(operation.body)
    const headers: Record<string, string> = { accept: 'application/json', ...options.headers }
    if (body !== undefined) headers['content-type'] = 'application/json'
    Object.assign(headers, await this.#credentials(operation, url, body, options))
    const init = { method: operation.method.toUpperCase(), headers, body: body ?? null, signal: options.signal ?? null }
    const response = await fetch(url, init).catch((error) => {
      if (options.signal?.aborted) throw error
      throw new AttestryConnectionError(requireSetting(this.#configuration, 'baseUrl'), error)
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: parseJson(text) as T }
  }

  /** Returns the headers that authenticate a request. */
  async #credentials(operation: Operation, url: URL, body: string | undefined, options: RequestOptions) {
    const headers: Record<string, string> = {}
    if (operation.auth === 'sessionKey') headers['x-api-key'] = requireSetting(this.#configuration, 'sessionKey')
    if (operation.auth === 'adminKey') headers['x-api-key'] = requireSetting(this.#configuration, 'adminKey')
    if (operation.sessionToken !== undefined) headers['x-session-token'] = operation.sessionToken
    if (operation.auth !== 'signature') return headers
    const keyId = requireSetting(this.#configuration, 'keyId')
    const secret = requireSetting(this.#configuration, 'secret')
    const timestamp = Math.floor(Date.now() / 1000)
    const onBehalfOf = options.onBehalfOf ?? this.#options.onBehalfOf
    const { idempotencyKey } = options
    if (onBehalfOf !== undefined) headers['x-on-behalf-of'] = onBehalfOf
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
    const { method } = operation
    const target = url.pathname + url.search
    return {
      ...headers,
      'x-api-key': keyId,
      'x-timestamp': String(timestamp),
      'x-signature': await sign({ secret, timestamp, method, target, onBehalfOf, idempotencyKey, body }),
    }
  }
}

/** Returns a signed operation of the partner API. */
function partnerOperation(method: string, path: string, body: unknown): Operation {
  return { method, path: path.startsWith('/api/') ? path : PARTNER_API_PATH + path, auth: 'signature', body }
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
