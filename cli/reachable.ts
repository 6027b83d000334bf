import { connect } from 'node:net'

/** Tries to connect; answers what went wrong, or undefined. */
export function reachable(url: string, ports: Record<string, number>): Promise<string | undefined> {
  const { hostname, port, protocol } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || ports[protocol]!,
      timeout: 5000,
    })
    const end = (fault?: string) => {
      socket.destroy()
      resolve(fault)
    }
    socket.once('connect', () => end())
    socket.once('timeout', () => end('no answer within 5 s'))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}
