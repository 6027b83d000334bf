import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Replica } from '../database/replica.ts'
import type { App } from './server.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a GET request may read from the replica. The handler must not stream its response. */
    readsReplica?: true
  }
}

/**
 * Lets the GET routes that declare it read from the replica, if it has everything that was committed before the request. Otherwise, and if
 * the read fails there, the handler runs on the primary.
 */
export function readFromReplica(app: App, replica: Replica): void {
  app.addHook('onRoute', (route) => {
    if (!route.config?.readsReplica || route.method !== 'GET') return
    const { handler } = route
    route.handler = async function (this: App, request: FastifyRequest, reply: FastifyReply) {
      const run = () => (handler as (this: App, ...args: unknown[]) => unknown).call(this, request, reply)
      if (!(await replica.isCurrent())) return run()
      request.tenant.readsReplica = true
      try {
        return await run()
      } catch (error) {
        if (!request.tenant.readsReplica || !replica.shouldRetry(error)) throw error
        request.tenant.readsReplica = false
        return run()
      }
    } as RouteOptions['handler'] as never
  })
}
