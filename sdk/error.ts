import type { ErrorDetail } from './types.ts'

/** An error response of the API. */
export class AttestryError extends Error {
  /** HTTP status. */
  readonly status: number
  /**
   * Error code such as `VALIDATION_FAILED`; undefined if the response does not come from the API but,
   * for example, from a proxy.
   */
  readonly code: string | undefined
  readonly details: ErrorDetail[]
  /** Seconds to wait before retrying, if the response contains them. */
  readonly retryAfter: number | undefined
  /** ID of the request. Include it when you report a problem, so that the operator can find the call in the log. */
  readonly requestId: string | undefined

  constructor(status: number, headers: Headers, body: unknown) {
    const { code, message, details } = (body as { error?: Partial<AttestryError> } | undefined)?.error ?? {}
    super(message ?? `The server returned status ${status}`)
    this.name = 'AttestryError'
    this.status = status
    this.code = code
    this.details = details ?? []
    const retryAfterHeader = headers.get('retry-after')
    this.retryAfter = retryAfterHeader === null ? undefined : Number(retryAfterHeader)
    this.requestId = headers.get('x-request-id') ?? undefined
  }
}
