import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../platform/http/server.ts'

/**
 * Lets scripts of other websites send JSON and access tokens to a public POST route. Browsers send a preflight request first. The
 * route itself sets `access-control-allow-origin`. No cookies are sent.
 */
export function respondToPreflight(app: App, path: string): void {
  app.options(path, async (_request: FastifyRequest, reply: FastifyReply) =>
    reply
      .status(204)
      .headers({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization, content-type',
        'access-control-max-age': '86400',
      })
      .send(),
  )
}
