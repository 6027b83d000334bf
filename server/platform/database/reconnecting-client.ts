import type pg from 'pg'
import type { Log } from '../log.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import { DatabaseClient } from './database-client.ts'

/** A dedicated connection (for LISTEN, or for session-level locks) that is reopened when it is lost. */
export interface ReconnectingClient {
  /** The open connection; undefined while there is none. */
  readonly current: pg.Client | undefined
  /** Resolves after the first attempt to connect, whether it succeeded or will be repeated. */
  readonly ready: Promise<void>
  close(): Promise<void>
}

export interface ReconnectingClientOptions {
  connection: ConnectionSettings
  /** Shown in pg_stat_activity and in logs. */
  name: string
  connectTimeoutMs: number
  reconnectDelayMs: number
  log: Log
  onNotification?: (channel: string, payload: string) => void
  /** Called with each new connection, which is `current` by then. If it rejects, the connection is reopened. */
  onConnected: (client: pg.Client) => Promise<void>
  /** Called when `current` is lost, and its locks with it. */
  onLost?: () => void
}

export function openReconnectingClient(options: ReconnectingClientOptions): ReconnectingClient {
  const { connection, name, log } = options
  let current: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let connecting = connect()

  return {
    ready: connecting,
    get current() {
      return current
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await connecting
      await current?.end().catch(() => {})
    },
  }

  async function connect(): Promise<void> {
    const client = new DatabaseClient({
      ...connection,
      application_name: `attestry ${name} ${process.pid}`,
      connectionTimeoutMillis: options.connectTimeoutMs,
    })
    let lost = false
    client.on('error', reconnectLater)
    client.on('end', () => reconnectLater())
    client.on('notification', ({ channel, payload }) => options.onNotification?.(channel, payload ?? ''))
    try {
      await client.connect()
      if (closed) return void (await client.end())
      current = client
      await options.onConnected(client)
    } catch (error) {
      reconnectLater(error as Error)
    }

    function reconnectLater(error?: Error) {
      if (lost || closed) return
      lost = true
      if (error) log.warn({ err: error, connection: name }, 'database connection lost, reconnecting')
      client.end().catch(() => {})
      timer = setTimeout(() => {
        connecting = connect()
      }, options.reconnectDelayMs)
      timer.unref()
      if (current !== client) return
      current = undefined
      options.onLost?.()
    }
  }
}
