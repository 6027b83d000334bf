/**
 * Returns the message of an error. An `AggregateError` without a message, as after connecting to a host with several addresses fails,
 * is described by the messages of its causes.
 */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(errorText).join('; ')
  return error instanceof Error ? error.message : String(error)
}
