import pg from 'pg'
import { withDeadline } from '../deadline.ts'
import type { Log } from '../log.ts'
import { breakOff } from './connection-watchdog.ts'
import type { ConnectionSettings } from './database.ts'

/** Hears what transactions announce with pg_notify, on a connection of its own. */
export interface Listener {
  /** Called at each announcement, and after every (re)connection, since some may have been missed. */
  on(channel: string, hear: (payload: string) => void): Promise<void>
  close(): Promise<void>
}

const RECONNECT = 500
/** Milliseconds between questions whether the connection still answers; the answer may take half of them. */
const HEARTBEAT = 10_000

/** A connection that only hears would not notice that nobody speaks any more, so it asks now and then. */
export async function openListener(connection: ConnectionSettings, log: Log, heartbeat = HEARTBEAT): Promise<Listener> {
  const channels = new Map<string, (payload: string) => void>()
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  const pulse = setInterval(() => {
    const asked = client
    if (asked) withDeadline(asked.query('select 1'), heartbeat / 2).catch(() => breakOff(asked))
  }, heartbeat)
  pulse.unref()
  await connect()

  return {
    async on(channel, hear) {
      channels.set(channel, hear)
      await client?.query(`listen ${channel}`).catch(() => {}) // the reconnection will
    },
    async close() {
      closed = true
      clearInterval(pulse)
      clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }

  async function connect() {
    const fresh = new pg.Client({
      ...connection,
      application_name: `attestry listener ${process.pid}`,
      keepAlive: true,
      connectionTimeoutMillis: heartbeat,
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
