import { AttestryConfigurationError } from './configuration.ts'
import type { RetryOptions } from './retry.ts'

/** Options of a call of any resource. */
export interface CallOptions extends RetryOptions {
  /** Recruiter on whose behalf the call is made. */
  onBehalfOf?: string | undefined
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Options of a call that changes something. */
export interface WriteOptions extends CallOptions {
  /**
   * Key of the operation. Default: a random key, which is the same in all retries of the call. Pass your own, stored with your
   * record of the operation, to retry safely after your process restarts.
   */
  idempotencyKey?: string | undefined
}

/** One operation of an API, as the generated resources describe it. */
export interface Operation {
  method: string
  /** Path from the root of the server, with its parameters. */
  path: string
  auth: 'signature' | 'sessionKey' | 'sessionToken' | 'adminKey' | 'none'
  query?: object
  body?: unknown
  sessionToken?: string
  /** Whether the operation accepts an idempotency key. */
  acceptsIdempotencyKey?: boolean
  /** Whether the result is the whole body of the response instead of its `data`. */
  wholeBody?: boolean
}

/** Sends the operations of the resources. */
export interface Transport {
  send<T>(operation: Operation, options?: WriteOptions): Promise<T>
}

/** Encodes a path parameter; rejects values that would call another path. */
export function pathSegment(name: string, value: string): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..')
    throw new AttestryConfigurationError(
      `${name} must be a non-empty string; got ${JSON.stringify(value) ?? 'undefined'}.`,
    )
  return encodeURIComponent(value)
}

/** Appends query parameters to a path, without those that are undefined. Lists are separated by commas. */
export function withQuery(path: string, query: object = {}): string {
  const parameters = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
}
