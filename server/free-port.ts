import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { localUrl } from './config.ts'

const PORT_CHECK_INTERVAL_MS = 250
const MAX_PORT_WAIT_MS = 3000
const PORT_CHECK_TIMEOUT_MS = 1000

/**
 * Throws if another process listens on the port, before the database is prepared, which takes seconds. Connects instead of listening: a
 * check must not take the port from a process that starts at the same time. Waits a moment for a process that is being stopped.
 */
export async function requireFreePort(target: ListenTarget): Promise<void> {
  if (target.port === 0) return
  for (let waitedMs = 0; await isListening(target); waitedMs += PORT_CHECK_INTERVAL_MS) {
    if (waitedMs >= MAX_PORT_WAIT_MS) throw portInUseError(target)
    await sleep(PORT_CHECK_INTERVAL_MS)
  }
}

function isListening({ host, port }: ListenTarget): Promise<boolean> {
  const { hostname } = new URL(localUrl(host, port))
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port, timeout: PORT_CHECK_TIMEOUT_MS })
    const finish = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => finish(true))
    socket.once('timeout', () => finish(false))
    socket.once('error', () => finish(false))
  })
}

export interface ListenTarget {
  host: string
  port: number
  /** The environment variable that sets the port. */
  variable: string
}

export function portInUseError({ host, port, variable }: ListenTarget): Error {
  return new Error(
    `${variable}=${port}: another process already listens on ${host}:${port}; set a different ${variable}`,
  )
}
