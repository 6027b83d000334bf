import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyBaseLogger,
  type FastifyContextConfig,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawServerDefault,
} from 'fastify'
import { apiOfPath, errorAnswer, unexpectedProblem } from '../../api/envelope.ts'
import { type Detail, Problem, problem } from '../../api/problem.ts'
import { randomCode } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { nothingHere } from './not-found.ts'
import { trustedProxies } from './proxies.ts'
import { lazySerializers } from './serializers.ts'
import { compileRequestValidator, invalid, type RequestSchema, type RequestValidator } from './validation.ts'

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

declare module 'fastify' {
  interface FastifyContextConfig {
    validator?: RequestValidator
  }
  interface FastifyRequest {
    /** The bytes of the body as sent; empty when there is none. */
    rawBody: Buffer
    /** The code of the error that was answered, for logs. */
    errorCode: string | undefined
  }
}

export interface HttpOptions {
  log: Log
  metrics: Metrics
  trustProxy: string[]
}

// Node refuses a larger head by closing the connection; a smaller one that is still too large gets a proper answer.
const PARSER_HEADER_LIMIT = 32 * 1024
const HEADER_LIMIT = 16 * 1024

/** Milliseconds that the rest of a body is let in, and thrown away, after the answer: closing at once could swallow the answer. */
const LINGER = 10_000

export function createHttp({ log, metrics, trustProxy }: HttpOptions): App {
  const app: App = fastify({
    loggerInstance: sharedLog(log),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 ? trustedProxies(trustProxy) : false,
    requestIdHeader: false,
    genReqId: requestId,
    // Only for who never ends: the time for a body is watched by those who read it, who can also say so in their own way.
    requestTimeout: 300_000,
    keepAliveTimeout: 65_000,
    http: {
      maxHeaderSize: PARSER_HEADER_LIMIT,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: HEADER_LIMIT, caseSensitive: true },
    rewriteUrl: ({ url }) => readable(url!),
    frameworkErrors: answerBadUrl,
    clientErrorHandler: answerBadProtocol as never,
    exposeHeadRoutes: true,
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App

  // An expectation that nobody knows is no reason for an answer of another kind.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.decorateRequest('rawBody', null as unknown as Buffer)
  app.decorateRequest('errorCode', undefined)
  // Schemas give types and descriptions; the check itself is `validateRequest`, which looks at all parts at once.
  app.setValidatorCompiler((() => () => true) as never)
  app.setSerializerCompiler(lazySerializers() as never)
  app.addHook('onRoute', (route) => {
    if (route.schema)
      route.config = { ...route.config, validator: compileRequestValidator(route.schema as RequestSchema) }
  })
  app.removeAllContentTypeParsers()
  // Bodies are read and parsed by the APIs themselves, in the order that each promises.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined))
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders)
    // We speak plain HTTP; a proxy that we trust tells of more. Asking who sent it takes a while.
    if (request.headers['x-forwarded-proto'] !== undefined && request.protocol === 'https')
      reply.header('strict-transport-security', 'max-age=31536000')
    reply.header('x-request-id', request.id)
    if (headerLength(request.raw) > HEADER_LIMIT) return done(headersTooLong())
    done(hasTwoHosts(request.raw) ? twoHosts() : undefined)
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.raw.complete) setTimeout(() => request.raw.complete || request.raw.socket.destroy(), LINGER).unref()
    const { method, errorCode: code } = request
    const route = request.routeOptions.url ?? 'unknown'
    const status = reply.statusCode
    const milliseconds = reply.elapsedTime
    metrics.requests.observe(method, route, status, milliseconds / 1000)
    if (log.isLevelEnabled('info')) {
      const ms = Math.round(milliseconds * 100) / 100
      log.info({ request_id: request.id, method, route, status, code, ms }, 'request')
    }
    done()
  })
  app.setNotFoundHandler(async (request) => {
    throw nothingHere(app, request)
  })
  app.setErrorHandler(answerError)
  return app
}

/**
 * Refuses a request that breaks its route's schema, naming every violation; `more` are those of headers. A malformed id in a
 * path means that nothing is there, except where partners are told what is wrong with it.
 */
export function validateRequest(request: FastifyRequest, route: FastifyContextConfig, more: Detail[] = []): void {
  const found = route.validator?.(request) ?? []
  if (found.length === 0 && more.length === 0) return
  if (found.some(({ part }) => part === 'params') && apiOfPath(request.raw.url!) !== 'partner') {
    throw problem('NOT_FOUND', 'There is nothing with this id.')
  }
  throw invalid([...found.map(({ detail }) => detail), ...more])
}

/**
 * A path that cannot be decoded names nothing that exists. Its stray signs are taken as they stand, so that it meets the same
 * limits, signatures and refusals as any other. `request.originalUrl` is the target as it was sent.
 */
function readable(url: string): string {
  if (!url.includes('%')) return url
  const query = url.search(/[?#]/)
  const path = query < 0 ? url : url.slice(0, query)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return path.replaceAll('%', '%25') + (query < 0 ? '' : url.slice(query))
  }
}

/** A logger a request would be made for every request; the few lines that are logged name the request themselves. */
function sharedLog(log: Log): Log {
  const shared: Log = Object.create(log, { child: { value: () => shared } })
  return shared
}

const SANE_ID = /^[A-Za-z0-9._:-]{1,128}$/

// Unique by the process's random part and a count; sortable ids would cost more than they are worth here.
const processCode = randomCode(10)
let requests = 0

function nextRequestId(): string {
  return `req_${processCode}${(requests++).toString(36).padStart(7, '0')}`
}

function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && SANE_ID.test(given) ? given : nextRequestId()
}

const commonHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
}

function headerLength({ rawHeaders }: IncomingMessage): number {
  let length = 0
  for (const text of rawHeaders) length += text.length + 2
  return length
}

/** Of two names for the host, a proxy before us may have gone by the other one. */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

function twoHosts() {
  const details = [{ path: 'headers.Host', message: 'must come once' }]
  return problem('VALIDATION_FAILED', 'The header Host comes more than once.', { details })
}

function headersTooLong() {
  return problem('VALIDATION_FAILED', `The request's headers are longer than ${HEADER_LIMIT} bytes.`, {
    status: 431,
    details: [{ path: 'headers', message: `must be at most ${HEADER_LIMIT} bytes together` }],
  })
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const api = apiOfPath(request.raw.url ?? '/')
  const known = error instanceof Problem ? error : knownProblem(error as FastifyError)
  if (!known) request.log.error({ request_id: request.id, err: error }, 'unexpected error')
  const { status, code, body } = errorAnswer(api, known ?? unexpectedProblem(api))
  request.errorCode = code
  if (known?.retryAfter !== undefined) reply.header('retry-after', known.retryAfter)
  return reply.status(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(body)
}

function knownProblem(error: FastifyError): Problem | undefined {
  // An address or a method that Fastify itself turns away: nothing answers there.
  return error.statusCode !== undefined && error.statusCode < 500
    ? problem('NOT_FOUND', 'There is nothing at this path.')
    : undefined
}

/** Fastify could not route the address at all: no hooks have run, so the headers they set are set here. */
function answerBadUrl(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  reply.headers(commonHeaders)
  reply.header('x-request-id', request.id)
  answerError(error, request, reply)
}

/** The bytes were not HTTP that Node accepts: there is no request, only what can be read of its first line. */
function answerBadProtocol(error: Error & { code?: string; rawPacket?: Buffer }, socket: Socket) {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const target = /^[A-Z]+ (\/\S{0,2000})/.exec(error.rawPacket?.subarray(0, 2048).toString('latin1') ?? '')?.[1]
  const found = protocolProblem(error.code)
  const { status, body } = errorAnswer(apiOfPath(target ?? '/'), found)
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Bad Request'}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    `x-request-id: ${nextRequestId()}`,
    ...Object.entries(commonHeaders).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
  setTimeout(() => socket.destroy(), LINGER).unref()
}

const reasons: Record<number, string> = { 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }

function protocolProblem(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLong()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return problem('VALIDATION_FAILED', 'The request took too long to arrive.', { status: 408 })
  }
  return problem('VALIDATION_FAILED', 'This is not a well-formed HTTP request.')
}
