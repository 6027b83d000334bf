import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../platform/http/server.ts'
import { type Pages, servePages } from './assets.ts'

/** Serves the start page, the page about personal data, and the page that sends test requests. They call the API like any other client. */
export function pageRoutes(app: App): Pages {
  const pages = servePages(app)

  app.get('/', async (request: FastifyRequest, reply: FastifyReply) => pages.send(request, reply, 'front'))

  app.get('/docs/try', async (request: FastifyRequest, reply: FastifyReply) =>
    pages.send(request, reply, 'try-request'),
  )

  app.get('/your-data/:kind', async (request: FastifyRequest, reply: FastifyReply) =>
    pages.send(request, reply, 'your-data'),
  )

  return pages
}
