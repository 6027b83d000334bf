/** Why a writer gave nothing. */
export type WriterFault =
  /** It took longer than it may. */
  | 'timeout'
  /** The caller no longer waits. */
  | 'aborted'
  /** No connection, or an answer of 429 or 5xx, also at the second attempt. */
  | 'unavailable'
  /** The endpoint refused the call: a wrong key, an unknown model. */
  | 'rejected'
  /** The model declined to answer. */
  | 'refused'
  /** The answer was not what was asked for, also after the repair round. */
  | 'invalid'

export class WriterError extends Error {
  readonly fault: WriterFault

  constructor(fault: WriterFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WriterError'
    this.fault = fault
  }

  /** Whether another attempt later may succeed without anybody changing anything. */
  get passing(): boolean {
    return this.fault !== 'rejected' && this.fault !== 'aborted'
  }
}
