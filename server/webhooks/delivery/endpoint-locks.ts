import type pg from 'pg'
import type { ConnectionSettings } from '../../platform/database/connection-settings.ts'
import { openReconnectingClient } from '../../platform/database/reconnecting-client.ts'
import type { Log } from '../../platform/log.ts'

/**
 * Locks that decide which process delivers to which endpoint. They are session-level advisory locks: PostgreSQL releases them
 * as soon as the connection of the process ends, so none has to expire.
 */
export interface EndpointLocks {
  /** Locks the endpoints that no other process has locked, and returns their IDs. */
  claim(webhookIds: string[]): Promise<string[]>
  release(webhookIds: string[]): Promise<void>
  readonly connected: boolean
  close(): Promise<void>
}

export interface EndpointLocksOptions {
  connection: ConnectionSettings
  log: Log
  onConnected(): void
  /** Called when the connection is lost, and all locks with it. */
  onLost(): void
}

const CONNECT_TIMEOUT_MS = 10_000
const RECONNECT_DELAY_MS = 250

export function openEndpointLocks({ connection, log, onConnected, onLost }: EndpointLocksOptions): EndpointLocks {
  const client = openReconnectingClient({
    connection,
    name: 'webhooks',
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    reconnectDelayMs: RECONNECT_DELAY_MS,
    log,
    onConnected: async () => onConnected(),
    onLost,
  })

  return {
    async claim(webhookIds) {
      const { rows } = await query<{ id: string; locked: boolean }>(
        `select id, pg_try_advisory_lock(hashtextextended('webhook ' || id, 0)) as locked from unnest($1::text[]) as id`,
        webhookIds,
      )
      return rows.filter(({ locked }) => locked).map(({ id }) => id)
    },
    async release(webhookIds) {
      if (webhookIds.length === 0) return
      await query(
        `select pg_advisory_unlock(hashtextextended('webhook ' || id, 0)) from unnest($1::text[]) as id`,
        webhookIds,
      )
    },
    get connected() {
      return client.current !== undefined
    },
    close: () => client.close(),
  }

  async function query<Row extends pg.QueryResultRow>(text: string, ids: string[]) {
    if (!client.current) throw new Error('not connected')
    return client.current.query<Row>(text, [ids])
  }
}
