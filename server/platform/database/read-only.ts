export const READ_ONLY_SQL_TRANSACTION = '25006'

/** The database accepts no writes: it is a standby, or `default_transaction_read_only` is on. */
export class ReadOnlyDatabaseError extends Error {
  readonly code = READ_ONLY_SQL_TRANSACTION

  constructor() {
    super(
      'the database is read-only, for example because it is a standby; connect to the primary, or turn off default_transaction_read_only',
    )
  }
}
