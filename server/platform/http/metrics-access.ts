import type { Server } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'
import { problem } from '../../api/problem.ts'
import { coalesce } from '../coalesce.ts'
import { secretsEqual } from '../secret-comparison.ts'
import { isLoopbackAddress } from './proxies.ts'

export interface MetricsAccess {
  /** Metrics are served only on this port. */
  port: number | undefined
  /** Metrics are served to callers with this bearer token. */
  token: string | undefined
  /** Whether the token may be sent only over HTTPS, or from this machine. */
  requireHttps: boolean
}

/** How long rendered metrics are reused: rendering takes milliseconds, and monitoring systems read them every few seconds. */
const CACHE_MS = 1000

/** Returns a function that renders the metrics at most once per second. */
export function createMetricsRenderer(registry: Registry): () => Promise<string> {
  let cached: { text: string; expiresAt: number } | undefined
  const render = coalesce(async () => {
    const text = await registry.metrics()
    cached = { text, expiresAt: performance.now() + CACHE_MS }
    return text
  })
  return async () => (cached && performance.now() < cached.expiresAt ? cached.text : render())
}

/** Headers of proxies: a request with one of them may come from another machine. */
const PROXY_HEADERS = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded', 'x-real-ip', 'via']
/** Checked because a page of another site can reach this machine by a name of its own (DNS rebinding). */
const LOOPBACK_HOST_PATTERN = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/** Throws a problem unless the caller may read metrics on the main port: with the token, or directly from this machine. */
export function requireMetricsAccess({ port, token, requireHttps }: MetricsAccess, request: FastifyRequest): void {
  if (port !== undefined) throw problem('NOT_FOUND', `Metrics are served on port ${port} only.`)
  const { headers, protocol, raw } = request
  const isProxied = PROXY_HEADERS.some((name) => headers[name] !== undefined)
  const isFromThisMachine = isLoopbackAddress(raw.socket.remoteAddress) && !isProxied
  if (token !== undefined) {
    if (requireHttps && protocol !== 'https' && !isFromThisMachine)
      throw problem(
        'HTTPS_REQUIRED',
        'This server requires HTTPS for metrics with a token. Send the request to its https:// URL, and replace the token if it was sent unencrypted.',
      )
    const sentToken = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
    if (sentToken !== undefined && secretsEqual(sentToken, token)) return
    throw problem('ACCESS_DENIED', 'Send METRICS_TOKEN as a bearer token in the Authorization header.')
  }
  if (isFromThisMachine && LOOPBACK_HOST_PATTERN.test(headers.host ?? '')) return
  throw problem(
    'ACCESS_DENIED',
    'Metrics are available on this machine only. To read them from elsewhere, set METRICS_TOKEN or METRICS_PORT.',
  )
}

/** Starts a server that serves only metrics. */
export async function startMetricsServer(registry: Registry, host: string, port: number): Promise<Server> {
  // Loaded when it is needed: an import of node:http at the top of a module also loads the HTTP client of Node.js, with 6 MB.
  const { createServer } = await import('node:http')
  const render = createMetricsRenderer(registry)
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') return void response.writeHead(404).end()
    render().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  server.listen(port, host)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('listening', resolve).once('error', reject)
  await promise
  return server
}
