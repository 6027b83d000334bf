import type { FastifyReply, FastifyRequest } from 'fastify'
import { apiOfPath } from '../api/envelope.ts'
import { problem } from '../api/problem.ts'
import type { App } from '../platform/http/server.ts'
import type { Pages } from '../web-assets/assets.ts'

/** Serves the console's single-page app under every console path outside the API. */
export function consolePageRoutes(app: App, pages: Pages): void {
  for (const path of ['/console', '/console/*']) {
    app.get(path, async (request: FastifyRequest, reply: FastifyReply) => {
      if (apiOfPath(request.raw.url!) === 'console') throw problem('NOT_FOUND', 'This path does not exist.')
      return pages.send(request, reply, 'console', { allowFrames: true }) // emails are shown in an iframe
    })
  }
}
