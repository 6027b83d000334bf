import pg from 'pg'
import { withDeadline } from '../deadline.ts'
import type { ConnectionSettings, DatabaseHost } from './connection-settings.ts'
import { destroySocket } from './destroy-socket.ts'
import { findPrimary, forgetPrimary } from './primary.ts'
import { READ_ONLY_SQL_TRANSACTION, ReadOnlyDatabaseError } from './read-only.ts'
import { ALL } from './tenant-scope.ts'

/**
 * A transaction that is idle for this long is rolled back by PostgreSQL: its process or machine was paused or lost, and everything that
 * waits for its locks would wait as long.
 */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000
/** With these settings, PostgreSQL ends the session of an unreachable machine, and releases its locks, within half a minute. */
const TCP_SETTINGS = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '20000',
}
const KEEPALIVE_DELAY_MS = 10_000
const DEFAULT_SETUP_TIMEOUT_MS = 15_000

/**
 * A connection to a database that accepts writes. It is refused if the database is read-only, and closed if that becomes known later:
 * after a failover, a connection to the former primary would otherwise be used for as long as it is busy. If the settings name several
 * servers, it connects to the primary.
 */
export class DatabaseClient extends pg.Client {
  readonly #setupTimeoutMs: number
  readonly #hosts: DatabaseHost[] | undefined

  constructor(config?: string | (pg.ClientConfig & Pick<ConnectionSettings, 'hosts'>)) {
    super({
      ...(typeof config === 'string' ? { connectionString: config } : config),
      // The pool makes the password not enumerable.
      ...(typeof config === 'object' && 'password' in config ? { password: config.password } : {}),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    })
    this.#setupTimeoutMs = (typeof config === 'object' && config.connectionTimeoutMillis) || DEFAULT_SETUP_TIMEOUT_MS
    this.#hosts = typeof config === 'object' ? config.hosts : undefined
    // The `error` event of a lost connection would end the process. The query that is running rejects anyway.
    this.on('error', () => {})
    const { connection } = this as unknown as {
      connection: { on(event: 'errorMessage', listener: (message: { code?: string }) => void): void }
    }
    connection.on('errorMessage', ({ code }) => {
      if (code !== READ_ONLY_SQL_TRANSACTION) return
      if (this.#hosts) forgetPrimary(this.#hosts)
      setImmediate(() => destroySocket(this))
    })
  }

  override connect(): Promise<this>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    const connected = this.#connectAndSetUp()
    if (!callback) return connected
    connected.then(
      () => process.nextTick(callback, null),
      (error) => process.nextTick(callback, error),
    )
  }

  async #connectAndSetUp(): Promise<this> {
    if (!this.#hosts) return this.#connectToHost()
    const search = findPrimary(this.#hosts)
    const { host, port } = await search
    Object.assign(this, { host, port })
    try {
      return await this.#connectToHost()
    } catch (error) {
      forgetPrimary(this.#hosts, search)
      throw error
    }
  }

  async #connectToHost(): Promise<this> {
    await super.connect()
    try {
      await withDeadline(this.#setUp(), this.#setupTimeoutMs)
      return this
    } catch (error) {
      destroySocket(this)
      throw error
    }
  }

  /** Sets the timeouts with a statement, because a pooler rejects them as parameters of the connection. */
  async #setUp(): Promise<void> {
    const assignments = Object.entries(this.sessionSettings()).map(
      ([name, value]) => `set_config('${name}', '${value}', false)`,
    )
    const columns = [`current_setting('transaction_read_only')::boolean as is_read_only`, ...assignments]
    const { rows } = await this.query<{ is_read_only: boolean }>(`select ${columns.join(', ')}`)
    if (rows[0]!.is_read_only && !this.isReadOnlyAccepted) throw new ReadOnlyDatabaseError()
  }

  /** Whether the database may be one that accepts no writes. */
  protected get isReadOnlyAccepted(): boolean {
    return false
  }

  protected sessionSettings(): Record<string, string> {
    return {
      idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
      ...(this.host.startsWith('/') ? {} : TCP_SETTINGS),
      'attestry.org': ALL,
      'attestry.mode': ALL,
    }
  }
}
