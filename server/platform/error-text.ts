/** Returns the message of an error. An `AggregateError`, such as of a host name with several addresses, has only those of its causes. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(errorText).join('; ')
  return error instanceof Error ? error.message : String(error)
}
