import pg from 'pg'
import { DatabaseClient, IDLE_IN_TRANSACTION_TIMEOUT_MS } from './database-client.ts'
import { currentScope } from './tenant-scope.ts'

// A pooler in transaction mode gives each transaction another session of PostgreSQL, which other programs use before and after it. So a
// connection through it has no settings and no prepared statements of its own: the scope of row-level security, and the timeouts, are
// set in each transaction.

/** A connection through a pooler in transaction mode. */
export class PooledClient extends DatabaseClient {
  protected override sessionSettings(): Record<string, string> {
    return {}
  }
}

interface Scope {
  org: string
  mode: string
}

const scopesOfClients = new WeakMap<pg.ClientBase, Scope>()

/** Stores the scope of the current request for the transactions of a connection that was just acquired. */
export function rememberScope(client: pg.ClientBase): void {
  scopesOfClients.set(client, currentScope())
}

const STATEMENT = /^\s*(select|insert|update|delete|with)\b/i
const BEGIN = /^\s*(begin|start\s+transaction)\b[^;]*/i

/** Makes a connection send its scope with each transaction, and with each statement outside a transaction. */
export function sendScope(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const readScope = () => scopesOfClients.get(client)!
  client.query = ((text: unknown, values: unknown, callback: unknown) => {
    if (typeof text !== 'string') return query(text, values, callback)
    if (STATEMENT.test(text)) {
      const config = { text, values: Array.isArray(values) ? values : [] }
      return runQuery(client, query, config, readScope, (typeof values === 'function' ? values : callback) as Callback)
    }
    return query(
      text.replace(BEGIN, (begin) => `${begin}; ${localSettings(readScope())}`),
      values,
      callback,
    )
  }) as typeof client.query
}

/** Returns statements that set the scope and the timeout of a transaction. Unlike `set_config`, they may precede `set transaction`. */
function localSettings({ org, mode }: Scope): string {
  return [
    `set local attestry.org = ${pg.escapeLiteral(org)}`,
    `set local attestry.mode = ${pg.escapeLiteral(mode)}`,
    `set local idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
  ].join('; ')
}

type Callback = ((error: Error | null, result?: unknown) => void) | undefined

function runQuery(
  client: pg.ClientBase,
  query: (...args: unknown[]) => unknown,
  config: pg.QueryConfig,
  readScope: () => Scope,
  callback: Callback,
): Promise<unknown> | undefined {
  const run = (done: NonNullable<Callback>) => void query(new ScopedQuery(client, config, readScope), done)
  if (callback) return void run(callback)
  return new Promise((resolve, reject) => {
    run((error, result) => (error ? reject(error) : resolve(result)))
  }).catch((error) => {
    Error.captureStackTrace(error) // like node-postgres: the stack leads to the caller instead of the socket
    throw error
  })
}

interface Connection {
  parse(statement: { text: string }): void
  bind(portal: { values: string[] }): void
  execute(portal: object): void
}

/** The methods of a query of node-postgres that its types do not declare. */
interface QueryMethods {
  /** Whether the extended protocol is used, in which a text contains one statement. */
  requiresPreparation(): boolean
  prepare(connection: Connection): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
}

const Query = pg.Query as unknown as new (config: object) => QueryMethods

/**
 * A statement that is sent together with its scope: PostgreSQL runs all statements up to the next Sync message in one transaction, so
 * neither `begin` and `commit` nor a further round trip is needed. In a transaction, which has its scope, it is sent alone.
 */
class ScopedQuery extends Query {
  readonly #client: pg.ClientBase
  readonly #readScope: () => Scope
  #isSettingScope = false

  constructor(client: pg.ClientBase, config: pg.QueryConfig, readScope: () => Scope) {
    super(config)
    this.#client = client
    this.#readScope = readScope
  }

  override requiresPreparation(): boolean {
    return !this.#isInTransaction() || super.requiresPreparation()
  }

  override prepare(connection: Connection): void {
    if (!this.#isInTransaction()) {
      const { org, mode } = this.#readScope()
      this.#isSettingScope = true
      connection.parse({
        text: `select set_config('attestry.org', $1, true), set_config('attestry.mode', $2, true)`,
      })
      connection.bind({ values: [org, mode] })
      connection.execute({})
    }
    super.prepare(connection)
  }

  #isInTransaction(): boolean {
    return this.#client.getTransactionStatus() !== 'I'
  }

  override handleDataRow(message: unknown): void {
    if (!this.#isSettingScope) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#isSettingScope) this.#isSettingScope = false
    else super.handleCommandComplete(message, connection)
  }
}
