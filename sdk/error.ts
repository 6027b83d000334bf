import type { ErrorDetail } from './types.ts'

/** An error response of the API. */
export class AttestryError extends Error {
  /** HTTP status. */
  readonly status: number
  /**
   * Error code such as `VALIDATION_FAILED`; undefined if the response does not come from the API but,
   * for example, from a proxy. The catalogue API has no codes.
   */
  readonly code: string | undefined
  readonly details: ErrorDetail[]
  /** Seconds to wait before retrying, if the response contains them. */
  readonly retryAfter: number | undefined
  /** ID of the request. Include it when you report a problem, so that the operator can find the call in the log. */
  readonly requestId: string | undefined
  /** Address of the documentation of the error, if the response contains it. */
  readonly docUrl: string | undefined

  /** @param explanation - What the client knows about the error in addition. */
  constructor(status: number, headers: Headers, body: unknown, explanation?: string) {
    const { code, message = `The server returned status ${status}`, details, doc_url, request_id } = readError(body)
    super(explanation === undefined ? message : `${message} ${explanation}`)
    this.name = 'AttestryError'
    this.status = status
    this.code = code
    this.details = details ?? []
    const retryAfterHeader = headers.get('retry-after')
    this.retryAfter = retryAfterHeader === null ? undefined : Number(retryAfterHeader)
    this.requestId = headers.get('x-request-id') ?? request_id ?? undefined
    this.docUrl = doc_url
  }
}

/** No response was received: the server could not be reached, or the connection broke. */
export class AttestryConnectionError extends Error {
  constructor(baseUrl: string, error: unknown) {
    const cause = (error as { cause?: unknown }).cause ?? error
    const { code, message } = cause as { code?: string; message?: string }
    super(
      `No response from ${baseUrl} (${code ?? message ?? String(cause)}): check that baseUrl is correct, that the server is running and that this machine can reach it.`,
      { cause },
    )
    this.name = 'AttestryConnectionError'
  }
}

interface ErrorBody {
  code?: string
  message?: string
  details?: ErrorDetail[]
  doc_url?: string
  request_id?: string
}

/** Returns the error of a response body. Errors of the catalogue API are a text. */
function readError(body: unknown): ErrorBody {
  const { error, ...other } = (body ?? {}) as { error?: ErrorBody | string } & ErrorBody
  if (typeof error === 'string') return { ...other, message: error }
  return error ?? {}
}
