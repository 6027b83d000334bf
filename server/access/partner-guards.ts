import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { type Detail, Problem, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { hasBody, NO_BODY, readBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import { type App, validateRequest } from '../platform/http/server.ts'
import { invalid } from '../platform/http/validation.ts'
import { authenticate, textOfHeader } from './authentication.ts'
import type { LimitClass } from './limits/table.ts'
import { chargeLimits, tellLimits } from './rate-limits.ts'
import type { Scope } from './scopes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope a partner key needs; null where any valid key will do. */
    scope?: Scope | null
    /** The bucket that the call is charged to, beside the whole key's. */
    limit?: LimitClass
    /** Whether the call takes an Idempotency-Key, or insists on one because it spends credits. */
    idempotent?: 'optional' | 'required'
    /** What a schema cannot say about the call's shape, such as what depends on the key; it belongs to the same stage. */
    shape?: (context: Context, request: FastifyRequest) => Detail[]
    /** Once a call is refused for its shape: what its rules would refuse next, so that the caller learns of all of it. */
    rulesToo?: (context: Context, request: FastifyRequest) => Promise<Detail[]>
  }
}

export type Check = (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  route: FastifyContextConfig,
) => void | Promise<void>

/**
 * The order in which a partner call is examined. What an early check refuses never reaches a later one, and is charged
 * nothing that a later one counts.
 */
export const checks: Check[] = [
  requireHttps,
  readWholeBody, // its size, then its media type
  authenticate,
  requireService,
  chargeLimits, // cooldown, then every bucket
  requireScope,
  requireSchema, // syntax, then headers, path, query and body
  requireIdempotencyKey,
  // Then `perform` looks for a kept answer, and the domain applies its business rules.
]

/** Gives every route of the partner API its examination; a route only declares scope, limit class and idempotency. */
export function guardPartnerRoutes(app: App, context: Context): void {
  app.decorateRequest('caller', null as never)
  app.decorateRequest('claimed', undefined)
  app.addHook('onRoute', ({ config, url, method }) => {
    if (config?.scope === undefined || config.limit === undefined) {
      throw new Error(`${method} ${url} must declare its scope and its limit class`)
    }
  })
  examineRoutes(app, context, checks)
}

/** Puts every call of an API through its checks, one after the other, before a route sees it. */
export function examineRoutes(app: App, context: Context, checks: Check[]): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { config } = request.routeOptions // made anew at every look
    next(0)

    /** Most checks answer at once; only those that wait for something cost a turn. */
    function next(first: number) {
      try {
        for (let at = first; at < checks.length; at++) {
          const pending = checks[at]!(context, request, reply, config)
          if (pending) return void pending.then(() => next(at + 1), done)
        }
      } catch (error) {
        return done(error as Error)
      }
      done(null, payload)
    }
  })
  // The body was read and parsed above; Fastify's own parsing must not put anything in its place.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, _payload, done) => done(null, request.body))
}

export function requireHttps({ config }: Context, request: FastifyRequest) {
  if (config.requireHttps && request.protocol.toLowerCase() !== 'https') {
    throw problem('HTTPS_REQUIRED', 'The partner API is served over HTTPS only.')
  }
}

export function readWholeBody(_context: Context, request: FastifyRequest) {
  if (!hasBody(request.raw)) {
    request.rawBody = NO_BODY
    return undefined
  }
  return readBody(request.raw).then((body) => {
    request.rawBody = body
  })
}

function requireService(context: Context, request: FastifyRequest, reply: FastifyReply) {
  return context.keyring.serviceOff(request.caller.orgId) ? refuseService(context, request, reply) : undefined
}

async function refuseService(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<never> {
  await tellLimits(context, request, reply)
  throw problem('SERVICE_DISABLED', 'The operator has switched the partner API off; nothing was changed.')
}

function requireScope(
  _context: Context,
  { caller }: FastifyRequest,
  _reply: FastifyReply,
  { scope }: FastifyContextConfig,
) {
  if (scope && !caller.key.scopes.has(scope)) {
    throw problem('SCOPE_MISSING', `This key lacks the scope ${scope}.`)
  }
}

/** Syntax, headers and schema: everything that is wrong is told at once. */
export function requireSchema(
  context: Context,
  request: FastifyRequest,
  _reply: FastifyReply,
  route: FastifyContextConfig,
): void | Promise<void> {
  if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
  const { headers } = request
  const details: Detail[] = []
  if (!isAbsentOr(PRINTABLE_ASCII, 128, headers['x-on-behalf-of'])) {
    details.push({ path: 'headers.x-on-behalf-of', message: 'must be 1 to 128 printable ASCII characters' })
  }
  if (route.idempotent && !isAbsentOr(PRINTABLE, 255, headers['idempotency-key'])) {
    details.push({ path: 'headers.Idempotency-Key', message: 'must be 1 to 255 printable characters' })
  }
  if (route.shape) details.push(...route.shape(context, request))
  if (!route.rulesToo) return validateRequest(request, route, details)
  try {
    validateRequest(request, route, details)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'VALIDATION_FAILED') throw error
    return route.rulesToo(context, request).then((more) => {
      throw more.length === 0 ? error : invalid([...error.details, ...more])
    })
  }
}

const PRINTABLE_ASCII = /^[\x20-\x7e]+$/
const PRINTABLE = /^[^\p{Cc}\p{Cs}\ufffd]+$/u

function isAbsentOr(pattern: RegExp, most: number, value: string | string[] | undefined): boolean {
  if (value === undefined) return true
  const text = textOfHeader(String(value))
  return pattern.test(text) && [...text].length <= most
}

export function requireIdempotencyKey(
  _context: Context,
  { caller }: FastifyRequest,
  _reply: FastifyReply,
  { idempotent }: FastifyContextConfig,
) {
  if (idempotent !== 'required' || caller.idempotencyKey !== undefined) return
  throw problem(
    'IDEMPOTENCY_KEY_REQUIRED',
    'This call spends credits: send an Idempotency-Key, so that a retry cannot spend them twice.',
    {
      details: [{ path: 'headers.Idempotency-Key', message: 'is required' }],
    },
  )
}
