import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Closes an HTTP server without resetting a connection on which a client has sent a request. */
interface GracefulClose {
  /** From now on, responses ask their clients to close the connection (`Connection: close`). New connections are still accepted. */
  startDraining(): void
  /** Stops listening, completes the requests in flight, and closes the other connections. */
  close(): Promise<void>
}

/** How long a connection without a request stays open after the server stops listening: a request may be on its way. */
const IDLE_GRACE_MS = 250
const CHECK_INTERVAL_MS = 25

export function prepareGracefulClose(server: Server): GracefulClose {
  /** The time at which each open connection was last in use; Infinity during a request. */
  const lastUsedAt = new Map<Socket, number>()
  const openResponses = new Set<ServerResponse>()
  let isDraining = false
  server.on('connection', (socket: Socket) => {
    lastUsedAt.set(socket, performance.now())
    socket.once('close', () => lastUsedAt.delete(socket))
  })
  server.prependListener('request', ({ socket }, response) => {
    if (isDraining) response.shouldKeepAlive = false
    openResponses.add(response)
    lastUsedAt.set(socket, Number.POSITIVE_INFINITY)
    // Emitted once; `once` would create two more functions for every request.
    response.on('close', () => {
      openResponses.delete(response)
      if (lastUsedAt.has(socket)) lastUsedAt.set(socket, performance.now())
    })
  })
  return {
    startDraining() {
      isDraining = true
      for (const response of openResponses) response.shouldKeepAlive = false
    },
    async close() {
      this.startDraining()
      // Accept the connections that clients have already established: closing the listener would reset them.
      await nextTurn()
      await nextTurn()
      // `close` of the HTTP server would also destroy idle connections, including those with a request that is not parsed yet.
      NetServer.prototype.close.call(server)
      const stoppedAt = performance.now()
      while (lastUsedAt.size > 0) {
        await new Promise((resolve) => setTimeout(resolve, CHECK_INTERVAL_MS))
        const now = performance.now()
        for (const [socket, usedAt] of lastUsedAt)
          if (now - Math.max(usedAt, stoppedAt) > IDLE_GRACE_MS) socket.destroy()
      }
    },
  }
}
