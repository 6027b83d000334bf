export type FailureCode =
  | 'NO_BINARIES' // nothing to run on this platform
  | 'CANNOT_RUN' // the binaries, the user or the folders do not allow it
  | 'IN_USE' // another server owns the data folder
  | 'BROKEN' // what lies in the data folder is not what we left there
  | 'NO_ANSWER' // it runs, or should, and does not answer in time

/** An expected failure of the embedded PostgreSQL; its message is one line meant for the operator. */
export class PostgresFailure extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string) {
    super(message)
    this.name = 'PostgresFailure'
    this.code = code
  }
}

/** The `code` of a Node or PostgreSQL error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code
}
