/** One violated rule: where, in a path that reads like code, and what is wrong there. */
export interface ErrorDetail {
  path: string
  message: string
}

/** A refusal by the API. */
export class AttestryError extends Error {
  /** The HTTP status. */
  readonly status: number
  /** Such as `VALIDATION_FAILED`; undefined where the answer is not one of the API's own. */
  readonly code: string | undefined
  readonly details: ErrorDetail[]
  /** Seconds after which the call could pass, where the answer says so. */
  readonly retryAfter: number | undefined
  /** Tell it to the operator, who finds the call in the log by it. */
  readonly requestId: string | undefined

  constructor(status: number, headers: Headers, body: unknown) {
    const { code, message, details } = (body as { error?: Partial<AttestryError> } | undefined)?.error ?? {}
    super(message ?? `the server answered ${status}`)
    this.name = 'AttestryError'
    this.status = status
    this.code = code
    this.details = details ?? []
    const wait = headers.get('retry-after')
    this.retryAfter = wait === null ? undefined : Number(wait)
    this.requestId = headers.get('x-request-id') ?? undefined
  }
}
