import { Kysely, type LogEvent, PostgresDialect, sql, type Transaction } from 'kysely'
import pg from 'pg'
import type { ConnectionSettings } from './connection-settings.ts'
import { destroyUnresponsiveConnections } from './connection-watchdog.ts'
import { DatabaseClient } from './database-client.ts'
import { type Notifications, openNotifications } from './notifications.ts'
import { markOutcome } from './outage.ts'
import { createPool } from './pool.ts'
import { ReadOnlyDatabaseError } from './read-only.ts'
import type { Replica } from './replica.ts'
import type { DB as Tables } from './tables.ts'
import { currentTrace, isReadingFromReplica, stopReadingFromReplica } from './tenant-scope.ts'
import { parseStoredTimestamp } from './timestamps.ts'
import { PooledClient } from './transaction-pooling.ts'

export type Tx = Transaction<Tables>
export type Queries = Kysely<Tables> | Tx

export interface DatabaseOptions {
  /** Settings of PostgreSQL itself, or of a pooler in session mode. */
  connection: ConnectionSettings
  /** Settings of a pooler in transaction mode, for everything that needs no session of its own. */
  pooledConnection?: ConnectionSettings | undefined
  /** Settings of the role that owns the tables, if it is a different one. */
  ownerConnection?: ConnectionSettings
  /** Name of the connections, shown in pg_stat_activity. */
  name: string
  maxConnections?: number
  /** Called when an idle connection is lost, except while the pool closes. */
  onError: (error: Error) => void
  /** How long a connection may be in use before the database is probed. */
  stalledAfterMs?: number
  /** Whether queries are added to the trace of their request or job. */
  traceQueries?: boolean
  /** A standby for requests that may read from it; closed with the database. */
  replica?: Replica | undefined
}

export interface Database {
  /** Query builder for reads outside a transaction. Uses the replica in a request that reads from it. */
  readonly queries: Kysely<Tables>
  /** Connections to the primary. */
  readonly pool: pg.Pool
  readonly replica: Replica | undefined
  /** Runs `work` in a transaction. After a deadlock or a serialisation failure, runs it again. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Runs `work` with connections of the role that owns the tables, for changes of the schema. */
  asOwner<T>(work: (owner: Database) => Promise<T>): Promise<T>
  /** Runs `work` with a connection that keeps its session, such as for a session-level lock, and closes the connection. */
  withSession<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /** Publishes a topic immediately, for a statement that ran outside a transaction. */
  publish(topic: string): void
  /**
   * Subscribes to a topic. The callback is called after each commit of this process that published the topic, and once per batch of
   * notifications from other processes. A notification can be lost if a process crashes.
   */
  onCommitted: Notifications['subscribe']
  /** Starts receiving the notifications of other processes, too. */
  listen: Notifications['listen']
  close(): Promise<void>
}

// bigint columns contain counters and sequences far below 2^53, so they are safe as numbers.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, parseStoredTimestamp)

function traceQuery(event: LogEvent): void {
  currentTrace()?.addQuery({
    sql: event.query.sql,
    milliseconds: event.queryDurationMillis,
    ...(event.level === 'error' ? { error: event.error } : {}),
  })
}

export function openDatabase({
  connection,
  pooledConnection,
  ownerConnection,
  name,
  maxConnections = 20,
  onError,
  stalledAfterMs,
  traceQueries = false,
  replica,
}: DatabaseOptions): Database {
  let closing = false
  const pool = createPool({
    connection: pooledConnection ?? connection,
    isPooled: pooledConnection !== undefined,
    Client: pooledConnection ? PooledClient : DatabaseClient,
    name,
    maxConnections,
  })
  pool.on('error', (error) => {
    if (!closing) onError(error)
  })
  const stopWatching = destroyUnresponsiveConnections(
    pool,
    { ...(pooledConnection ?? connection), application_name: name },
    { stalledAfterMs, ...(pooledConnection ? { direct: { ...connection, application_name: name } } : {}) },
  )
  const queries = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: replica ? withReplica(pool, replica) : pool }),
    ...(traceQueries ? { log: traceQuery } : {}),
  })
  const notifications = openNotifications(async (channel, text) => {
    await pool.query('select pg_notify($1, $2)', [channel, text])
  })
  const database: Database = {
    queries,
    pool,
    replica,
    transaction(work) {
      // The rest of the request must see what the transaction changes.
      stopReadingFromReplica()
      return withRetries(() => attempt(work))
    },
    async asOwner(work) {
      if (!ownerConnection && !pooledConnection) return work(database)
      const owner = openDatabase({ connection: ownerConnection ?? connection, name, maxConnections: 2, onError })
      try {
        return await work(owner)
      } finally {
        await owner.close()
      }
    },
    async withSession(work) {
      if (!pooledConnection) return withClient(await pool.connect(), (client) => client.release(true), work)
      const client = new DatabaseClient({ ...connection, application_name: name })
      await client.connect()
      return withClient(client, () => client.end(), work)
    },
    publish: notifications.publish,
    onCommitted: notifications.subscribe,
    listen: notifications.listen,
    async close() {
      closing = true
      await notifications.flush()
      stopWatching()
      await queries.destroy()
      await replica?.close()
      // Kysely ends the pool only if it has run a query.
      if (!pool.ending) await pool.end()
    },
  }
  return database

  async function attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    let topics: Set<string> | undefined
    let isCommitting = false
    const result = await queries
      .transaction()
      .execute(async (tx) => {
        const value = await work(tx)
        topics = topicsToPublish.get(tx)
        isCommitting = true
        return value
      })
      .catch((error) => {
        markOutcome(error, isCommitting)
        throw error
      })
    for (const topic of topics ?? []) notifications.publish(topic)
    return result
  }
}

/** Returns a pool that takes the connections of requests that read from the replica from there. */
function withReplica(pool: pg.Pool, replica: Replica) {
  return {
    connect: () => (isReadingFromReplica() ? replica.pool : pool).connect(),
    end: () => pool.end(),
    options: pool.options,
  }
}

async function withClient<Client, T>(
  client: Client,
  close: (client: Client) => Promise<void> | void,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  try {
    return await work(client)
  } finally {
    await close(client)
  }
}

const topicsToPublish = new WeakMap<Tx, Set<string>>()

/** Publishes a topic, to this process and the others, once the transaction has committed. */
export function notifyAfterCommit(tx: Tx, topic: string): void {
  const topics = topicsToPublish.get(tx)
  if (topics) topics.add(topic)
  else topicsToPublish.set(tx, new Set([topic]))
}

const MAX_ATTEMPTS = 5
/** serialization_failure and deadlock_detected */
const RETRYABLE_CODES = new Set(['40001', '40P01'])

/** Rolls back a transaction that conflicts with a concurrent change, so that it is retried. */
export class RepeatTransactionError extends Error {
  readonly code = '40001'

  constructor(options: ErrorOptions) {
    super('the transaction conflicts with a concurrent change', options)
  }
}

async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !RETRYABLE_CODES.has((error as { code?: string }).code ?? '')) throw error
    }
  }
}

/** Throws if the database does not respond, or accepts no writes. */
export async function pingDatabase(database: Database): Promise<void> {
  const { rows } = await sql<{ is_read_only: boolean }>`
    select current_setting('transaction_read_only')::boolean as is_read_only`.execute(database.queries)
  if (rows[0]!.is_read_only) throw new ReadOnlyDatabaseError()
}
