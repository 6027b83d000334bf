import type { ConnectionSettings } from './connection-settings.ts'
import { DatabaseClient } from './database-client.ts'

const ROUNDS = 3
const QUERY_TIMEOUT_MS = 5000

/** A variable of the configuration, and the connection that it describes. */
export interface NamedConnection {
  variable: 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATABASE_OWNER_URL'
  connection: ConnectionSettings
}

/** A pooler between the server and PostgreSQL gives each transaction another session. */
class TransactionPoolerError extends Error {
  constructor(variable: NamedConnection['variable']) {
    super(
      `${variable} connects through a pooler in transaction mode, such as PgBouncer with pool_mode = transaction, which would lose locks and notifications. ${
        variable === 'DATABASE_URL'
          ? 'Set DATABASE_DIRECT_URL to the address of PostgreSQL itself, which is then used for them, or set pool_mode = session.'
          : `Set ${variable} to the address of PostgreSQL itself.`
      }`,
    )
  }
}

/**
 * Throws if two connections share a session of PostgreSQL, or one connection changes its session. Each connection to PostgreSQL itself,
 * or through a pooler in session mode, has a session of its own.
 */
export async function requireOwnSessions({ variable, connection }: NamedConnection): Promise<void> {
  const options = { ...connection, application_name: 'attestry check', query_timeout: QUERY_TIMEOUT_MS }
  const clients = [new DatabaseClient(options), new DatabaseClient(options)] as const
  const [first, second] = clients
  try {
    for (const client of clients) await client.connect()
    for (let round = 0; round < ROUNDS; round++) {
      const firstPid = await readSessionPid(first)
      await second.query('begin')
      const secondPid = await readSessionPid(second)
      if (firstPid === secondPid) throw new TransactionPoolerError(variable)
      const laterPid = await readSessionPid(first)
      await second.query('rollback')
      if (laterPid !== firstPid) throw new TransactionPoolerError(variable)
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

async function readSessionPid(client: DatabaseClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]!.pid
}

/** Throws unless the pooler and the direct connection reach the same database as the same role. */
export async function requireSameDatabase(
  pooled: Pick<DatabaseClient, 'query'>,
  direct: Pick<DatabaseClient, 'query'>,
): Promise<void> {
  const [pooledIdentity, directIdentity] = await Promise.all([readIdentity(pooled), readIdentity(direct)])
  for (const key of ['role', 'database', 'server'] as const)
    if (pooledIdentity[key] !== directIdentity[key])
      throw new Error(
        `DATABASE_URL and DATABASE_DIRECT_URL must reach the same database as the same role, but the ${key} differs: ${pooledIdentity[key]} through the pooler, ${directIdentity[key]} directly`,
      )
}

async function readIdentity(client: Pick<DatabaseClient, 'query'>) {
  const { rows } = await client.query<{ role: string; database: string; server: string }>(
    'select current_user as role, current_database() as database, (select system_identifier::text from pg_control_system()) as server',
  )
  return rows[0]!
}
