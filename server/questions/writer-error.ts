/** Reasons why a writer failed. */
export type WriterErrorReason =
  /** The time limit was exceeded. */
  | 'timeout'
  /** The caller aborted the request. */
  | 'aborted'
  /** No connection, or a 429 or 5xx response, also on the second attempt. */
  | 'unavailable'
  /** The endpoint rejected the request, for example an invalid key or an unknown model. */
  | 'rejected'
  /** The model declined to answer. */
  | 'refused'
  /** The response did not match the schema, even after the repair request. */
  | 'invalid'

export class WriterError extends Error {
  readonly reason: WriterErrorReason

  constructor(reason: WriterErrorReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WriterError'
    this.reason = reason
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return this.reason !== 'rejected' && this.reason !== 'aborted'
  }
}
