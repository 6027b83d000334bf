import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../platform/http/server.ts'
import { escapeHtml, type Pages, servePages } from './assets.ts'

/** The pages for reviewers and students. What they show they ask the API for, like any other client. */
export function pageRoutes(app: App): Pages {
  const pages = servePages(app)

  app.get('/verify/:id', async (request: FastifyRequest, reply: FastifyReply) => {
    const { id } = request.params as { id: string }
    const data = escapeHtml(`/api/v1/humanverification/verify-page/${encodeURIComponent(id)}`)
    // Asked for beside the script, not after it: on a slow connection that is a round trip less.
    const head = `<link rel="preload" as="fetch" href="${data}" crossorigin="anonymous">`
    return pages.send(request, reply, 'reviewer', { head })
  })

  app.get('/', async (request: FastifyRequest, reply: FastifyReply) => pages.send(request, reply, 'front'))

  app.get('/session', async (request: FastifyRequest, reply: FastifyReply) => pages.send(request, reply, 'student'))

  return pages
}
