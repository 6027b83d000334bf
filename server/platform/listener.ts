import pg from 'pg'
import type { ConnectionSettings } from './database.ts'
import type { Log } from './log.ts'

/** Hears what transactions announce with pg_notify, on a connection of its own. */
export interface Listener {
  /** Called at each announcement, and after every (re)connection, since some may have been missed. */
  on(channel: string, hear: (payload: string) => void): Promise<void>
  close(): Promise<void>
}

const RECONNECT = 500

export async function openListener(connection: ConnectionSettings, log: Log): Promise<Listener> {
  const channels = new Map<string, (payload: string) => void>()
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  await connect()

  return {
    async on(channel, hear) {
      channels.set(channel, hear)
      await client?.query(`listen ${channel}`).catch(() => {}) // the reconnection will
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }

  async function connect() {
    const fresh = new pg.Client({
      ...connection,
      application_name: `attestry listener ${process.pid}`,
      keepAlive: true,
    })
    let lost = false
    const lose = (error?: Error) => {
      if (lost || closed) return
      lost = true
      if (error) log.warn({ err: error }, 'the connection for announcements broke')
      client = undefined
      fresh.end().catch(() => {})
      timer = setTimeout(connect, RECONNECT)
      timer.unref()
    }
    fresh.on('error', lose)
    fresh.on('end', () => lose())
    fresh.on('notification', ({ channel, payload }) => channels.get(channel)?.(payload ?? ''))
    try {
      await fresh.connect()
      for (const channel of channels.keys()) await fresh.query(`listen ${channel}`)
      client = fresh
      for (const hear of channels.values()) hear('')
    } catch (error) {
      lose(error as Error)
    }
  }
}
