import type { ConnectionSettings } from './connection-settings.ts'
import { DatabaseClient } from './database-client.ts'

const ROUNDS = 3
const QUERY_TIMEOUT_MS = 5000

/** A pooler between the server and PostgreSQL gives each transaction another session. */
class TransactionPoolerError extends Error {
  constructor() {
    super(
      'DATABASE_URL connects through a pooler in transaction mode, such as PgBouncer with pool_mode = transaction, which would lose prepared statements, locks and notifications. Connect to PostgreSQL directly, or set pool_mode = session.',
    )
  }
}

/**
 * Throws if two connections share a session of PostgreSQL, or one connection changes its session. Each connection to PostgreSQL itself,
 * or through a pooler in session mode, has a session of its own.
 */
export async function requireOwnSessions(connection: ConnectionSettings): Promise<void> {
  const options = { ...connection, application_name: 'attestry check', query_timeout: QUERY_TIMEOUT_MS }
  const clients = [new DatabaseClient(options), new DatabaseClient(options)] as const
  const [first, second] = clients
  try {
    for (const client of clients) await client.connect()
    for (let round = 0; round < ROUNDS; round++) {
      const firstPid = await readSessionPid(first)
      await second.query('begin')
      const secondPid = await readSessionPid(second)
      if (firstPid === secondPid) throw new TransactionPoolerError()
      const laterPid = await readSessionPid(first)
      await second.query('rollback')
      if (laterPid !== firstPid) throw new TransactionPoolerError()
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

async function readSessionPid(client: DatabaseClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]!.pid
}
