import { createHash } from 'node:crypto'
import pg from 'pg'
import type { ConnectionSettings } from './connection-settings.ts'
import { applyScope } from './tenant-scope.ts'
import { rememberScope, sendScope } from './transaction-pooling.ts'

/** Connections are replaced after this time, so that they follow an address that has moved to another server. */
const MAX_CONNECTION_LIFETIME_S = 600
const CONNECTION_TIMEOUT_MS = 15_000

type ConnectCallback = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void

/** A pool whose connections have the scope of the request that acquires them. */
class ScopedPool extends pg.Pool {
  readonly #setScope: (client: pg.PoolClient) => Promise<void> | void

  constructor(config: pg.PoolConfig, setScope: (client: pg.PoolClient) => Promise<void> | void) {
    super(config)
    this.#setScope = setScope
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: ConnectCallback): void
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    const connected = this.#connectWithScope()
    if (!callback) return connected
    connected.then(
      (client) => process.nextTick(callback, undefined, client, client.release),
      (error) => process.nextTick(callback, error, undefined, () => {}),
    )
  }

  async #connectWithScope(): Promise<pg.PoolClient> {
    const client = await super.connect()
    try {
      await this.#setScope(client)
      return client
    } catch (error) {
      client.release(true)
      throw error
    }
  }
}

export interface PoolOptions {
  connection: ConnectionSettings
  /** Whether the connections go through a pooler in transaction mode, and cannot keep a scope or prepared statements. */
  isPooled: boolean
  Client: typeof pg.Client
  name: string
  maxConnections: number
  connectionTimeoutMs?: number
}

/** Creates a pool whose connections have the scope of the request that acquires them. */
export function createPool({
  connection,
  isPooled,
  Client,
  name,
  maxConnections,
  connectionTimeoutMs = CONNECTION_TIMEOUT_MS,
}: PoolOptions): pg.Pool {
  const pool = new ScopedPool(
    {
      ...connection,
      max: maxConnections,
      application_name: name,
      connectionTimeoutMillis: connectionTimeoutMs,
      idleTimeoutMillis: 60_000,
      maxLifetimeSeconds: MAX_CONNECTION_LIFETIME_S,
      Client: Client as NonNullable<pg.PoolConfig['Client']>,
    },
    isPooled ? rememberScope : applyScope,
  )
  pool.on('connect', isPooled ? sendScope : usePreparedStatements)
  return pool
}

const statementNames = new Map<string, string>()
const MAX_STATEMENT_NAMES = 1000

/** Derives a prepared statement's name from its text, so that it is parsed and planned once per connection. */
function preparedStatementName(text: string): string | undefined {
  const knownName = statementNames.get(text)
  if (knownName !== undefined || statementNames.size >= MAX_STATEMENT_NAMES) return knownName
  const name = `s_${createHash('sha1').update(text).digest('base64url')}`
  statementNames.set(text, name)
  return name
}

const PREPARABLE_STATEMENT = /^\s*(select|insert|update|delete|with)\b/i

function usePreparedStatements(client: pg.PoolClient) {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  client.query = ((text: unknown, values: unknown, callback: unknown) => {
    if (typeof text !== 'string' || !Array.isArray(values) || !PREPARABLE_STATEMENT.test(text))
      return query(text, values, callback)
    return query({ name: preparedStatementName(text), text, values }, callback)
  }) as typeof client.query
}
