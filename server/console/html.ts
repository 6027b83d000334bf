import type { FastifyReply, FastifyRequest } from 'fastify'
import { apiOfPath } from '../api/envelope.ts'
import { problem } from '../api/problem.ts'
import type { App } from '../platform/http/server.ts'
import type { Pages } from '../web-assets/assets.ts'

/** One page, whatever the address within it: it finds its way by itself, and asks the console's API for what it shows. */
export function consolePageRoutes(app: App, pages: Pages): void {
  for (const path of ['/console', '/console/*']) {
    app.get(path, async (request: FastifyRequest, reply: FastifyReply) => {
      if (apiOfPath(request.raw.url!) === 'console') throw problem('NOT_FOUND', 'There is nothing at this path.')
      return pages.send(request, reply, 'console', { frames: true }) // mails are shown in one
    })
  }
}
