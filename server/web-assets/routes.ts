import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../platform/http/server.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { type Pages, servePages } from './assets.ts'

/**
 * Serves the start page, the pages for reviewers and students and about personal data, and the page that sends test requests. They call the
 * API like any other client.
 */
export function pageRoutes(app: App): Pages {
  const pages = servePages(app)

  app.get('/verify/:id', async (request: FastifyRequest, reply: FastifyReply) => {
    const { id } = request.params as { id: string }
    const dataUrl = escapeHtml(`/api/v1/humanverification/verify-page/${encodeURIComponent(id)}`)
    // Fetched in parallel with the script, which saves a round trip.
    const preloadLink = `<link rel="preload" as="fetch" href="${dataUrl}" crossorigin="anonymous">`
    return pages.send(request, reply, 'reviewer', { head: preloadLink })
  })

  app.get('/', async (request: FastifyRequest, reply: FastifyReply) => pages.send(request, reply, 'front'))

  app.get('/docs/try', async (request: FastifyRequest, reply: FastifyReply) =>
    pages.send(request, reply, 'try-request'),
  )

  app.get('/session', async (request: FastifyRequest, reply: FastifyReply) => pages.send(request, reply, 'student'))

  app.get('/your-data/:kind', async (request: FastifyRequest, reply: FastifyReply) =>
    pages.send(request, reply, 'your-data'),
  )

  return pages
}
