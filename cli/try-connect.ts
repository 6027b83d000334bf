import { connect } from 'node:net'

const CONNECT_TIMEOUT_MS = 5000

/** Opens and closes a TCP connection to the host of a URL. Returns the error, or undefined if it succeeds. */
export function tryConnect(url: string, defaultPorts: Record<string, number>): Promise<string | undefined> {
  const { hostname, port, protocol } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || defaultPorts[protocol]!,
      timeout: CONNECT_TIMEOUT_MS,
    })
    const finish = (error?: string) => {
      socket.destroy()
      resolve(error)
    }
    socket.once('connect', () => finish())
    socket.once('timeout', () => finish(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`))
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message))
  })
}
