import { createHash } from 'node:crypto'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { breakSilentConnections } from './connection-watchdog.ts'
import { openTopics, type Topics } from './notifications.ts'
import type { DB as Tables } from './tables.ts'

export type Tx = Transaction<Tables>
export type Queries = Kysely<Tables> | Tx

export interface ConnectionSettings {
  connectionString?: string
  host?: string
  port?: number
  user?: string
  password?: string
  database?: string
}

export interface DatabaseOptions {
  connection: ConnectionSettings
  /** Shown in pg_stat_activity. */
  name: string
  max?: number
  /** Told of idle connections that broke; without a listener one of them would end the process. */
  onError: (error: Error) => void
  /** Milliseconds after which it is asked whether a database that has not answered is still there. */
  patience?: number
}

export interface Database {
  /** For reads outside a transaction. */
  readonly queries: Kysely<Tables>
  readonly pool: pg.Pool
  /** Runs `work` in a transaction, again from the start if PostgreSQL asks for that (deadlock, serialisation). */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Tells of the topic now, after a statement that needed no transaction of its own. */
  tell(topic: string): void
  /**
   * Called after a commit that announced the topic: each of this process at once, those of others gathered. A crash may
   * swallow the call.
   */
  onCommitted: Topics['on']
  /** Hears what other processes announce as well. */
  listen: Topics['listen']
  close(): Promise<void>
}

// bigint columns hold counters and sequences far below 2^53: numbers are what callers and JSON want.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/**
 * A client whose connection may break at any moment. The statement under way fails, and whoever waits for it hears of it;
 * the event that comes besides would end the process if nobody listened.
 */
export class ResilientClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    this.on('error', () => {})
  }
}

export function openDatabase({ connection, name, max = 20, onError, patience }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    ...connection,
    max,
    application_name: name,
    connectionTimeoutMillis: 15_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    Client: ResilientClient,
  })
  pool.on('error', onError)
  pool.on('connect', prepareByText)
  const stopWatching = breakSilentConnections(pool, { ...connection, application_name: name }, patience)
  const queries = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const topics = openTopics(async (channel, text) => {
    await pool.query('select pg_notify($1, $2)', [channel, text])
  })
  return {
    queries,
    pool,
    transaction: (work) => retrying(() => attempt(work)),
    tell: topics.tell,
    onCommitted: topics.on,
    listen: topics.listen,
    async close() {
      await topics.settle()
      stopWatching()
      await queries.destroy()
    },
  }

  async function attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    let told: Set<string> | undefined
    const result = await queries.transaction().execute(async (tx) => {
      const answer = await work(tx)
      told = announced.get(tx)
      return answer
    })
    for (const topic of told ?? []) topics.tell(topic)
    return result
  }
}

const announced = new WeakMap<Tx, Set<string>>()

/** Tells whoever listens, here and in other processes, once the transaction has committed. */
export function announce(tx: Tx, topic: string): void {
  const topics = announced.get(tx)
  if (topics) topics.add(topic)
  else announced.set(tx, new Set([topic]))
}

const RETRIES = 5
const ASKS_TO_RETRY = new Set(['40001', '40P01'])

async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === RETRIES || !ASKS_TO_RETRY.has((error as { code?: string }).code ?? '')) throw error
    }
  }
}

const statementNames = new Map<string, string>()
const MOST_STATEMENTS = 1000

/** The same text gets the same name in every process, so a statement is parsed and planned once a connection. */
function statementName(text: string): string | undefined {
  const known = statementNames.get(text)
  if (known !== undefined || statementNames.size >= MOST_STATEMENTS) return known
  const name = `s_${createHash('sha1').update(text).digest('base64url')}`
  statementNames.set(text, name)
  return name
}

const PREPARABLE = /^\s*(select|insert|update|delete|with)\b/i

function prepareByText(client: pg.PoolClient) {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  client.query = ((text: unknown, values: unknown, callback: unknown) => {
    if (typeof text !== 'string' || !Array.isArray(values) || !PREPARABLE.test(text))
      return query(text, values, callback)
    return query({ name: statementName(text), text, values }, callback)
  }) as typeof client.query
}

export async function ping(database: Database): Promise<void> {
  await sql`select 1`.execute(database.queries)
}
