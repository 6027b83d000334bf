import { sql } from 'kysely'
import type { Config } from './config.ts'
import type { Queries } from './platform/database/database.ts'
import { QUEUE_CONNECTIONS } from './platform/jobs/queue.ts'

/** Connections for notifications, the probe of an unresponsive database, and changes of the schema. */
const OTHER_CONNECTIONS = 4
/** Connections of a worker for notifications of the job queue and for the locks of webhook endpoints. */
const WORKER_CONNECTIONS = 2
/** With a pooler, the notifications of the job queue use the connection of the others. */
const POOLED_WORKER_CONNECTIONS = 1

/** The position of the primary is read on a connection of its own if there is a replica. */
const REPLICA_CONNECTIONS = 1

/** Returns the most connections to PostgreSQL itself that a server process with this configuration opens. */
export function maxConnectionsOf({
  databasePoolSize,
  databaseDirectUrl,
  databaseReplicaUrl,
  roles,
}: Pick<Config, 'databasePoolSize' | 'databaseDirectUrl' | 'databaseReplicaUrl' | 'roles'>): number {
  const isWorker = roles.includes('worker')
  const others = OTHER_CONNECTIONS + (databaseReplicaUrl && roles.includes('api') ? REPLICA_CONNECTIONS : 0)
  if (databaseDirectUrl) return others + (isWorker ? POOLED_WORKER_CONNECTIONS : 0)
  return databasePoolSize + QUEUE_CONNECTIONS + others + (isWorker ? WORKER_CONNECTIONS : 0)
}

/** Returns how many connections the database accepts from roles without special rights. */
export async function readConnectionLimit(queries: Queries): Promise<number> {
  const { rows } = await sql<{ limit: number }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) as limit`.execute(queries)
  return rows[0]!.limit
}
