import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'

// A minimal server, for comparison: responds to every GET with the same bytes.
const [kind, body] = process.argv.slice(2) as [string, string]
const contentType = 'application/json; charset=utf-8'
if (kind === 'fastify') {
  const app = fastify()
  app.get('/*', (_request, reply) => reply.type(contentType).send(body))
  await app.listen({ port: 0, host: '127.0.0.1' })
  process.send!((app.server.address() as AddressInfo).port)
} else {
  const contentLength = Buffer.byteLength(body)
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': contentType, 'content-length': contentLength }).end(body),
  )
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
}
