export type FailureCode =
  | 'NO_BINARIES' // no package for this platform
  | 'CANNOT_RUN' // the programs are broken, or the user or the folders lack permissions
  | 'IN_USE' // another server uses the data folder
  | 'BROKEN' // the data folder was changed or damaged
  | 'TIMEOUT' // the database did not respond in time

/** An expected failure of the embedded PostgreSQL; its message is one line meant for the operator. */
export class PostgresFailure extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string) {
    super(message)
    this.name = 'PostgresFailure'
    this.code = code
  }
}

/** Returns the `code` of a Node.js or PostgreSQL error, if it has one. */
export function errorCodeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code
}
