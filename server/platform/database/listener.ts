import { withDeadline } from '../deadline.ts'
import type { Log } from '../log.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import { destroySocket } from './destroy-socket.ts'
import { openReconnectingClient } from './reconnecting-client.ts'

/** Receives pg_notify notifications on a dedicated connection. */
export interface Listener {
  /** Calls `onNotification` for each notification, and with an empty payload after every (re)connection, since notifications may have been missed. */
  on(channel: string, onNotification: (payload: string) => void): Promise<void>
  close(): Promise<void>
}

const RECONNECT_DELAY_MS = 500
/** Interval of the heartbeat. The database must respond within half of it. */
const HEARTBEAT_INTERVAL_MS = 10_000

/** A connection that only listens cannot detect a dead peer, so it sends a heartbeat. */
export async function openListener(
  connection: ConnectionSettings,
  log: Log,
  heartbeatIntervalMs = HEARTBEAT_INTERVAL_MS,
): Promise<Listener> {
  const handlersByChannel = new Map<string, (payload: string) => void>()
  const client = openReconnectingClient({
    connection,
    name: 'listener',
    connectTimeoutMs: heartbeatIntervalMs,
    reconnectDelayMs: RECONNECT_DELAY_MS,
    log,
    onNotification: (channel, payload) => handlersByChannel.get(channel)?.(payload),
    async onConnected(connected) {
      for (const channel of handlersByChannel.keys()) await connected.query(`listen ${channel}`)
      for (const onNotification of handlersByChannel.values()) onNotification('')
    },
  })
  const heartbeatTimer = setInterval(() => {
    const { current } = client
    if (current) withDeadline(current.query('select 1'), heartbeatIntervalMs / 2).catch(() => destroySocket(current))
  }, heartbeatIntervalMs)
  heartbeatTimer.unref()
  await client.ready

  return {
    async on(channel, onNotification) {
      handlersByChannel.set(channel, onNotification)
      await client.current?.query(`listen ${channel}`).catch(() => {}) // repeated by onConnected after a reconnection
    },
    close() {
      clearInterval(heartbeatTimer)
      return client.close()
    },
  }
}
