import type pg from 'pg'
import { type ConnectionSettings, ResilientClient } from '../../platform/database/database.ts'
import type { Log } from '../../platform/log.ts'

/**
 * Which process sends to which endpoint. An endpoint is held by an advisory lock of a connection: the database lets go of
 * it in the moment that the process is gone, and nothing has to expire.
 */
export interface Ownership {
  /** Takes the endpoints that nobody holds; answers with those taken. */
  claim(webhookIds: string[]): Promise<string[]>
  release(webhookIds: string[]): Promise<void>
  readonly connected: boolean
  close(): Promise<void>
}

export interface OwnershipOptions {
  connection: ConnectionSettings
  log: Log
  onConnected(): void
  /** Everything held is lost. */
  onLost(): void
}

const RECONNECT = 250

// A machine that vanished without a word is noticed within half a minute.
const NOTICE_SILENCE = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3'

export function openOwnership({ connection, log, onConnected, onLost }: OwnershipOptions): Ownership {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  const connecting = connect()

  return {
    async claim(webhookIds) {
      const { rows } = await query<{ id: string; taken: boolean }>(
        `select id, pg_try_advisory_lock(hashtextextended('webhook ' || id, 0)) as taken from unnest($1::text[]) as id`,
        webhookIds,
      )
      return rows.filter(({ taken }) => taken).map(({ id }) => id)
    },
    async release(webhookIds) {
      if (webhookIds.length === 0) return
      await query(
        `select pg_advisory_unlock(hashtextextended('webhook ' || id, 0)) from unnest($1::text[]) as id`,
        webhookIds,
      )
    },
    get connected() {
      return client !== undefined
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await connecting
      await client?.end().catch(() => {})
    },
  }

  function query<Row extends pg.QueryResultRow>(text: string, ids: string[]) {
    if (!client) throw new Error('not connected')
    return client.query<Row>(text, [ids])
  }

  async function connect() {
    const fresh = new ResilientClient({
      ...connection,
      application_name: `attestry webhooks ${process.pid}`,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    })
    let lost = false
    const lose = (error?: Error) => {
      if (lost || closed) return
      lost = true
      if (error) log.warn({ err: error }, 'the connection that holds endpoints broke')
      fresh.end().catch(() => {})
      timer = setTimeout(connect, RECONNECT)
      timer.unref()
      if (client !== fresh) return
      client = undefined
      onLost()
    }
    fresh.on('error', lose)
    fresh.on('end', () => lose())
    try {
      await fresh.connect()
      await fresh.query(NOTICE_SILENCE).catch(() => {}) // not on a unix socket
      if (closed) return void (await fresh.end())
      client = fresh
      onConnected()
    } catch (error) {
      lose(error as Error)
    }
  }
}
