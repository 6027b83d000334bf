import type { FastifyReply, FastifyRequest } from 'fastify'
import { countFailedAuthentication } from '../access/authentication.ts'
import type { AtsKey } from '../access/keyring.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { serviceDisabledProblem } from '../access/service-switch.ts'
import { type Problem, partnerErrorCodes, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import { runForAllOrganisations } from '../platform/database/tenant-scope.ts'
import { readBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import { type App, toProblem, validateRequest } from '../platform/http/server.ts'
import type { AtsAdapter } from './adapter.ts'
import { openCredentials } from './connections.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guards of the routes that applicant tracking systems call. */
    atsKey: AtsKey
  }
}

/** An error response in the format of an ATS. */
interface AtsErrorResponse {
  status: number
  body: object
}

/** Returns the error response that an ATS expects. `status` is that of the partner API. */
export type RenderError = (status: number, message: string, code: Problem['code']) => AtsErrorResponse

const KEY_RATE_LIMIT: Rule = { name: 'ats-key', kind: 'tokens', limit: 50, seconds: 1 }

/**
 * Checks, in this order: the key, which must be of this adapter, or the signature, then the service switch, the rate limit, and the body.
 * Renders errors in the shape of the ATS. The routes of an ATS that signs its calls have the parameter `connection_id`.
 */
export function guardAtsRoutes(app: App, context: Context, adapter: AtsAdapter, renderError: RenderError): void {
  app.decorateRequest('atsKey', null as never)
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return
    if (adapter.verifySignature) {
      // Unauthenticated calls must not count against the rate limit of the connection.
      request.atsKey = await authenticateSigned(context, request, adapter)
    } else request.atsKey = await authenticate(context, request, reply, adapter)
    request.tenant.scope = request.atsKey
    context.keyUses.record(request.atsKey.keyId, context.clock.now())
    await requireWithinRate(context, request.atsKey)
    if (!adapter.verifySignature) request.rawBody = await readBody(request.raw)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.is404) return done()
    try {
      if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
      validateRequest(request, request.routeOptions.config)
    } catch (error) {
      return done(error as Error)
    }
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    const { code, status, message, details, retryAfter } = toProblem(error, request)
    request.errorCode = code
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    const text = details.length > 1 ? details.map((detail) => `${detail.path} ${detail.message}`).join('; ') : message
    const httpStatus = status ?? (partnerErrorCodes as Partial<Record<string, number>>)[code] ?? 500
    const response = renderError(httpStatus, text, code)
    return reply
      .status(response.status)
      .type('application/json; charset=utf-8')
      .serializer(JSON.stringify)
      .send(response.body)
  })
}

async function authenticate(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { name }: AtsAdapter,
): Promise<AtsKey> {
  const { keyring } = context
  await keyring.refreshIfStale()
  const sentKey = readKey(request.headers.authorization ?? '')
  const key = sentKey === undefined ? undefined : keyring.atsKey(sentKey)
  // A key of another ATS is rejected like an unknown key.
  if (!key || key.revoked || key.adapter !== name) {
    await countFailedAuthentication(context, request.ip)
    reply.header('www-authenticate', 'Basic realm="Attestry"')
    throw problem(
      'UNAUTHORIZED',
      'The API key is missing, invalid or revoked. Send a key that was created for this integration, as the user name of Basic authentication or as a Bearer token.',
    )
  }
  requireService(context, key)
  return key
}

async function authenticateSigned(context: Context, request: FastifyRequest, adapter: AtsAdapter): Promise<AtsKey> {
  const { keyring, db, vault } = context
  await keyring.refreshIfStale()
  const { connection_id } = request.params as { connection_id: string }
  const key = keyring.atsKeyOfConnection(connection_id)
  const isKnown = key?.adapter === adapter.name
  if (isKnown) request.rawBody = await readBody(request.raw) // the signature covers the body
  const credentials =
    isKnown && (await runForAllOrganisations(() => openCredentials(db.queries, vault, key.connectionId)))
  const secret = credentials ? credentials.signing_secret : undefined
  if (!key || secret === undefined || !adapter.verifySignature!(request.rawBody, request.headers, secret)) {
    await countFailedAuthentication(context, request.ip)
    throw problem(
      'UNAUTHORIZED',
      `The connection does not exist, or the signature is missing or wrong. Check the address of the webhook, and the webhook secret of the connection in Attestry.`,
    )
  }
  requireService(context, key)
  return key
}

function requireService({ keyring }: Context, { orgId }: AtsKey): void {
  if (keyring.isServiceDisabled(orgId)) throw serviceDisabledProblem(keyring.isServicePaused(orgId))
}

/** Returns the user name of Basic authentication, whose password is empty, or the Bearer token. */
function readKey(authorization: string): string | undefined {
  const [, scheme, value] = /^(basic|bearer) +(\S{1,300}) *$/i.exec(authorization) ?? []
  if (value === undefined || scheme!.toLowerCase() === 'bearer') return value
  return Buffer.from(value, 'base64').toString('utf8').split(':', 1)[0]
}

async function requireWithinRate({ limits, clock }: Context, { keyId }: AtsKey): Promise<void> {
  const { rejectedBy, retryAfter } = await limits.limiter.take(keyId, [KEY_RATE_LIMIT], clock.now())
  if (rejectedBy === undefined) return
  throw problem(
    'RATE_LIMITED',
    `Too many requests with this key: the limit is ${KEY_RATE_LIMIT.limit} per second. Try again in ${formatSeconds(retryAfter)}.`,
    { retryAfter },
  )
}
