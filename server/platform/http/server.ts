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
import packageJson from '../../../package.json' with { type: 'json' }
import { apiOfPath, type ErrorOrigin, errorEnvelope, pathOf, unexpectedProblem } from '../../api/envelope.ts'
import { invalid } from '../../api/invalid.ts'
import { type Detail, type ErrorCode, Problem, problem } from '../../api/problem.ts'
import { isDatabaseUnavailable, isWithoutEffect } from '../database/outage.ts'
import { hasScope, runWithScope, type ScopeHolder } from '../database/tenant-scope.ts'
import { errorText } from '../error-text.ts'
import { randomCode } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Telemetry } from '../telemetry/trace.ts'
import { notFoundProblem, RouteList } from './not-found.ts'
import { createProxyCheck } from './proxies.ts'
import { createLazySerializers } from './serializers.ts'
import { createTransportCheck, type TransportOptions } from './transport-checks.ts'
import { compileRequestValidator, type RequestSchema, type RequestValidator } from './validation.ts'

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

declare module 'fastify' {
  interface FastifyInstance {
    /** PUBLIC_URL. */
    publicUrl: string | undefined
    routeList: RouteList
    renderErrorPage: HttpOptions['renderErrorPage']
  }
  interface FastifyContextConfig {
    validator?: RequestValidator
    /** Codes of errors that the handler returns, in addition to those of the guards; the API reference lists them. */
    errors?: readonly ErrorCode[]
    /** Set if the route is deprecated: responses have the headers Deprecation (RFC 9745) and Sunset (RFC 8594). */
    deprecation?: Deprecation
  }
  interface FastifyRequest {
    /** The body as sent; empty if there is none. */
    rawBody: Buffer
    /** Limits the rows that queries of this request see. */
    tenant: ScopeHolder
    /** The code of the error response, for logs. */
    errorCode: string | undefined
  }
}

interface Deprecation {
  /** Day from which the route is deprecated, in YYYY-MM-DD format. */
  since: string
  /** Day from which the route may be removed. */
  sunset: string
  /** Page or endpoint that replaces the route, for the header Link. */
  successor: string
}

export interface HttpOptions {
  log: Log
  metrics: Metrics
  trustProxy: string[]
  transport: TransportOptions
  telemetry?: Telemetry | undefined
  /** Renders errors of pages, which browsers show. Without it, all errors are JSON. */
  renderErrorPage?: ((error: ErrorPageInput) => ErrorPage) | undefined
}

export interface ErrorPageInput {
  status: number
  message: string
  requestId: string
}

export interface ErrorPage {
  html: string
  headers: Record<string, string>
}

/** Routes that probes and Prometheus call every few seconds. */
const UNTRACED_ROUTES = new Set(['/healthz', '/readyz', '/metrics'])

/** Requests with larger headers get a 431 response. */
const MAX_HEADER_BYTES = 16 * 1024
/** Colon and space after the name, CRLF after the value. */
const HEADER_SEPARATOR_BYTES = 4
/** Limit of the HTTP parser of Node.js, which treats larger headers as a protocol error. */
const PARSER_MAX_HEADER_BYTES = 32 * 1024

/** How long the rest of a body is read and discarded after the response: closing immediately could lose the response. */
const DISCARD_BODY_MS = 10_000

export function createHttp({ log, metrics, trustProxy, transport, telemetry, renderErrorPage }: HttpOptions): App {
  const checkTransport = createTransportCheck(transport)
  const app: App = fastify({
    loggerInstance: withoutChildLoggers(log),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 ? createProxyCheck(trustProxy) : false,
    requestIdHeader: false,
    genReqId: chooseRequestId,
    // Only a last resort: readBody enforces shorter body timeouts, and its errors are sent in the API's envelope.
    requestTimeout: 300_000,
    keepAliveTimeout: 65_000,
    http: {
      maxHeaderSize: PARSER_MAX_HEADER_BYTES,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: MAX_HEADER_BYTES, caseSensitive: true },
    rewriteUrl: ({ url }) => escapeInvalidPath(url!),
    frameworkErrors: sendBadUrl,
    clientErrorHandler: ((error: Error, socket: Socket) =>
      sendProtocolError(error, socket, transport.publicUrl)) as never,
    exposeHeadRoutes: true,
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App

  // Ignore unknown Expect headers, for which Node.js would respond with 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.decorate('publicUrl', transport.publicUrl)
  app.decorate('renderErrorPage', renderErrorPage)
  app.decorateRequest('rawBody', null as unknown as Buffer)
  app.decorateRequest('errorCode', undefined)
  app.decorateRequest('tenant', null as never)
  app.addHook('onRequest', (request, _reply, done) => {
    request.tenant = { scope: undefined }
    if (telemetry && !UNTRACED_ROUTES.has(request.routeOptions.url ?? ''))
      request.tenant.trace = telemetry.startRequest(request.headers.traceparent as string | undefined)
    runWithScope(request.tenant, done)
  })
  // Reading the body leaves the asynchronous context of the request. Without a body it is still the current one: entering it copies a map.
  const enterScope = (request: FastifyRequest, _reply: FastifyReply, done: () => void) =>
    hasScope(request.tenant) ? done() : runWithScope(request.tenant, done)
  app.addHook('preValidation', enterScope)
  app.addHook('preHandler', enterScope)
  // Fastify's validation is turned off: `validateRequest` validates all parts together.
  app.setValidatorCompiler((() => () => true) as never)
  app.setSerializerCompiler(createLazySerializers() as never)
  app.addHook('onRoute', (route) => {
    if (route.schema)
      route.config = { ...route.config, validator: compileRequestValidator(route.schema as RequestSchema) }
  })
  app.removeAllContentTypeParsers()
  // Bodies are read and parsed by the APIs themselves, in the order that each documents.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined))
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders)
    // This server uses plain HTTP; a trusted proxy reports the client's protocol. The header is checked first because reading it is cheap.
    if (request.headers['x-forwarded-proto'] !== undefined && request.protocol === 'https')
      reply.header('strict-transport-security', 'max-age=31536000')
    reply.header('x-request-id', request.id)
    done(checkHeaders(request.raw) ?? checkTransport(request))
  })
  app.addHook('onRoute', (route) => {
    if (!route.config?.deprecation) return
    const headers = deprecationHeaders(route.config.deprecation)
    const setHeaders = (_request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      reply.headers(headers)
      done()
    }
    route.onRequest = [setHeaders, ...[route.onRequest ?? []].flat()]
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.raw.complete)
      setTimeout(() => request.raw.complete || request.raw.socket.destroy(), DISCARD_BODY_MS).unref()
    const { method, errorCode: code } = request
    const route = request.routeOptions.url ?? 'unknown'
    const status = reply.statusCode
    const milliseconds = reply.elapsedTime
    metrics.requests.observe({ method, route, status }, milliseconds / 1000)
    const trace = request.tenant.trace
    const traceId = trace?.traceId
    trace?.end({
      name: `${method} ${route}`,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'attestry.request_id': request.id,
        ...(code === undefined ? {} : { 'error.type': code }),
      },
      failed: status >= 500,
    })
    if (log.isLevelEnabled('info')) {
      const ms = Math.round(milliseconds * 100) / 100
      log.info({ request_id: request.id, trace_id: traceId, method, route, status, code, ms }, 'request')
    }
    done()
  })
  app.decorate('routeList', new RouteList())
  app.addHook('onRoute', ({ method, url }) => app.routeList.add([method].flat(), url))
  app.setNotFoundHandler(async (request) => {
    throw notFoundProblem(app.routeList, request)
  })
  app.setErrorHandler(sendError)
  return app
}

function deprecationHeaders({ since, sunset, successor }: Deprecation): Record<string, string> {
  return {
    deprecation: `@${Date.parse(since) / 1000}`,
    sunset: new Date(sunset).toUTCString(),
    link: `<${successor}>; rel="successor-version"`,
  }
}

/**
 * Throws a problem that lists every validation error of a request; `headerErrors` are those of its headers. Outside the partner API,
 * a malformed ID in the path is reported as not found.
 */
export function validateRequest(
  request: FastifyRequest,
  route: FastifyContextConfig,
  headerErrors: Detail[] = [],
): void {
  const errors = route.validator?.(request) ?? []
  if (errors.length === 0 && headerErrors.length === 0) return
  const invalidParam = errors.find(({ part }) => part === 'params')
  if (invalidParam && apiOfPath(request.raw.url!) !== 'partner') {
    throw resourceNotFoundProblem(
      invalidParam.detail.path.replace(/^path\./, ''),
      request.params as Record<string, string>,
    )
  }
  throw invalid([...errors.map(({ detail }) => detail), ...headerErrors])
}

/** Returns a problem that names the resource after its path parameter: `Mandate JM_1 not found.` Parameters other than IDs may be secret. */
function resourceNotFoundProblem(name: string, params: Record<string, string>): Problem {
  const words = /^(.+?)(?:_id|Id)$/.exec(name)?.[1]?.replace(/[A-Z]/g, ' $&').replaceAll('_', ' ').toLowerCase()
  if (words === undefined) return problem('NOT_FOUND', 'Not found.')
  const resource = words[0]!.toUpperCase() + words.slice(1)
  return problem('NOT_FOUND', `${resource} ${String(params[name]).slice(0, MAX_SHOWN_ID_LENGTH)} not found.`)
}

const MAX_SHOWN_ID_LENGTH = 60

/**
 * Escapes the percent signs of a path that cannot be decoded, so that it passes the same checks as any other unknown path.
 * `request.originalUrl` is the unchanged URL.
 */
function escapeInvalidPath(url: string): string {
  if (!url.includes('%')) return url
  const queryStart = url.search(/[?#]/)
  const path = queryStart < 0 ? url : url.slice(0, queryStart)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return path.replaceAll('%', '%25') + (queryStart < 0 ? '' : url.slice(queryStart))
  }
}

/** Returns a log without child loggers: Fastify would create one per request, which our few log lines do not need. */
function withoutChildLoggers(log: Log): Log {
  const logWithoutChildren: Log = Object.create(log, { child: { value: () => logWithoutChildren } })
  return logWithoutChildren
}

const REQUEST_ID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/

// Unique through a random code per process and a counter, which is cheaper than a sortable ID.
const processCode = randomCode(10)
let requestCount = 0

function nextRequestId(): string {
  return `req_${processCode}${(requestCount++).toString(36).padStart(7, '0')}`
}

function chooseRequestId(request: IncomingMessage): string {
  const sentId = request.headers['x-request-id']
  return typeof sentId === 'string' && REQUEST_ID_PATTERN.test(sentId) ? sentId : nextRequestId()
}

/** Headers of every response. */
const commonHeaders = {
  'attestry-version': packageJson.version,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
}

/**
 * Rejects headers that are too large, and several Host headers, which are ambiguous: a proxy may have used a different one than this
 * server.
 */
function checkHeaders({ rawHeaders }: IncomingMessage): Problem | undefined {
  let bytes = 0
  let hostCount = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    bytes += name.length + rawHeaders[i + 1]!.length + HEADER_SEPARATOR_BYTES
    if (name.length === 4 && name.toLowerCase() === 'host') hostCount++
  }
  if (bytes > MAX_HEADER_BYTES) return headersTooLargeProblem()
  return hostCount > 1 ? severalHostHeadersProblem() : undefined
}

function severalHostHeadersProblem() {
  const details = [{ path: 'headers.Host', message: 'must be sent only once' }]
  return problem('VALIDATION_FAILED', 'The request has several Host headers.', { details })
}

function headersTooLargeProblem() {
  return problem('VALIDATION_FAILED', `The request headers are larger than ${MAX_HEADER_BYTES} bytes.`, {
    status: 431,
    details: [{ path: 'headers', message: `must have at most ${MAX_HEADER_BYTES} bytes in total` }],
  })
}

/** Returns the problem that an error of a request is reported as. Logs unexpected errors and outages of the database. */
export function toProblem(error: unknown, request: FastifyRequest): Problem {
  const knownProblem =
    error instanceof Problem
      ? error
      : (outageProblem(error, request) ?? unroutableProblem(error as FastifyError, request))
  if (!knownProblem)
    request.log.error(
      { request_id: request.id, trace_id: request.tenant?.trace?.traceId, err: error },
      'unexpected error, responding with status 500',
    )
  return knownProblem ?? unexpectedProblem(apiOfPath(request.raw.url ?? '/'))
}

/** Returns the request ID and the address of the server: PUBLIC_URL, or the one that received the request. The caller chooses the Host header. */
export function errorOrigin(request: FastifyRequest): ErrorOrigin {
  return { requestId: request.id, baseUrl: request.server.publicUrl ?? socketUrl(request.raw.socket) }
}

function socketUrl({ localAddress = '127.0.0.1', localPort }: Socket): string {
  const address = localAddress.replace(/^::ffff:/, '')
  return `http://${address.includes(':') ? `[${address}]` : address}:${localPort}`
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const problem = toProblem(error, request)
  const api = apiOfPath(request.raw.url ?? '/')
  const { status, code, body } = errorEnvelope(api, problem, errorOrigin(request))
  if (code !== problem.code)
    request.log.error(
      { request_id: request.id, code: problem.code },
      'the API has no error with this code, responding with status 500',
    )
  request.errorCode = code
  if (problem.retryAfter !== undefined) reply.header('retry-after', problem.retryAfter)
  const { renderErrorPage } = request.server
  if (api === 'site' && renderErrorPage) {
    reply.header('vary', 'accept, sec-fetch-mode')
    if (isPageRequest(request)) {
      const page = renderErrorPage({ status, message: problem.message, requestId: request.id })
      return reply.status(status).type('text/html; charset=utf-8').headers(page.headers).send(page.html)
    }
  }
  return reply.status(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(body)
}

/** Returns whether a browser opens an address. Some programs accept HTML too, but not XHTML as the second type, as all browsers do. */
function isPageRequest({ method, headers }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return headers['sec-fetch-mode'] === 'navigate' || /^text\/html, ?application\/xhtml\+xml/.test(headers.accept ?? '')
}

/** The database usually returns within a few seconds, after a restart or a failover. */
const OUTAGE_RETRY_AFTER_SECONDS = 2
const OUTAGE_LOG_INTERVAL_MS = 1000
let outageLoggedAt = Number.NEGATIVE_INFINITY
let unloggedOutageErrors = 0

/**
 * Returns the problem for a request that failed because the database is not available; undefined for other errors. Only a request that
 * certainly changed nothing gets a Retry-After header, because clients repeat it without an Idempotency-Key.
 */
function outageProblem(error: unknown, request: FastifyRequest): Problem | undefined {
  if (!isDatabaseUnavailable(error)) return undefined
  logOutage(error, request)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead || isWithoutEffect(error))
    return problem(
      'SERVICE_UNAVAILABLE',
      'The database is not available at the moment. Nothing was changed. Retry after the time in the Retry-After header.',
      { retryAfter: OUTAGE_RETRY_AFTER_SECONDS },
    )
  return problem(
    'SERVICE_UNAVAILABLE',
    'The database became unavailable while the request was being stored, so the request may have taken effect. Retry it with the same Idempotency-Key, or check the resource first.',
  )
}

/** Logs one line per second of an outage, not one per request. */
function logOutage(error: unknown, request: FastifyRequest) {
  const now = performance.now()
  if (now - outageLoggedAt < OUTAGE_LOG_INTERVAL_MS) {
    unloggedOutageErrors++
    return
  }
  request.log.error(
    {
      request_id: request.id,
      reason: errorText(error),
      ...(unloggedOutageErrors > 0 ? { more: unloggedOutageErrors } : {}),
    },
    'the database is not available, responding with status 503',
  )
  outageLoggedAt = now
  unloggedOutageErrors = 0
}

/** Returns the problem for a URL or a method that Fastify itself rejects; undefined for other errors. */
function unroutableProblem(error: FastifyError, { method, raw }: FastifyRequest): Problem | undefined {
  return error.statusCode !== undefined && error.statusCode < 500
    ? problem('NOT_FOUND', `Unknown endpoint: ${method} ${pathOf(raw.url ?? '/').slice(0, 200)}.`)
    : undefined
}

/** Responds to a URL that Fastify could not route. No hooks have run, so the headers that they set are set here. */
function sendBadUrl(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  reply.headers(commonHeaders)
  reply.header('x-request-id', request.id)
  sendError(error, request, reply)
}

/** Responds to bytes that Node.js could not parse as HTTP. There is no request object, only the first line of the raw bytes. */
function sendProtocolError(
  error: Error & { code?: string; rawPacket?: Buffer },
  socket: Socket,
  publicUrl: string | undefined,
) {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const target = /^[A-Z]+ (\/\S{0,2000})/.exec(error.rawPacket?.subarray(0, 2048).toString('latin1') ?? '')?.[1]
  const requestId = nextRequestId()
  const origin = { requestId, baseUrl: publicUrl ?? '' }
  const { status, body } = errorEnvelope(apiOfPath(target ?? '/'), protocolProblem(error.code), origin)
  const bodyJson = JSON.stringify(body)
  const headLines = [
    `HTTP/1.1 ${status} ${reasonPhrases[status] ?? 'Bad Request'}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(bodyJson)}`,
    `x-request-id: ${requestId}`,
    ...Object.entries(commonHeaders).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ]
  socket.end(`${headLines.join('\r\n')}\r\n\r\n${bodyJson}`)
  setTimeout(() => socket.destroy(), DISCARD_BODY_MS).unref()
}

const reasonPhrases: Record<number, string> = { 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }

function protocolProblem(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLargeProblem()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return problem('VALIDATION_FAILED', 'The request took too long to arrive.', { status: 408 })
  }
  return problem('VALIDATION_FAILED', 'Malformed HTTP request.')
}
