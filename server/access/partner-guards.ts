import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../api/invalid.ts'
import { type Detail, Problem, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import {
  bodyTimeoutMs,
  checkBodyOfRejectedCaller,
  EMPTY_BODY,
  hasBody,
  MAX_BODY_BYTES,
  readBody,
} from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import { type App, validateRequest } from '../platform/http/server.ts'
import { addressNotAllowedMessage, isAddressAllowed } from './allowed-addresses.ts'
import { authenticate, countFailedAuthentication, decodeHeader, inspectCredentials } from './authentication.ts'
import type { LimitClass } from './limits/table.ts'
import { chargeLimits, setRateLimitHeaders } from './rate-limits.ts'
import type { Scope } from './scopes.ts'
import { serviceDisabledProblem } from './service-switch.ts'
import { guardAgainstReplays } from './write-signatures.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that the key must have; null if any valid key is accepted. */
    scope?: Scope | null
    /** A further scope that the key must have. */
    furtherScope?: Scope
    /** The rate limit class of the call. It is also charged to the bucket of the whole key. */
    limit?: LimitClass
    /** Whether an Idempotency-Key is optional, or required because the call spends credits. */
    idempotent?: 'optional' | 'required'
    /** Validation that a schema cannot express, such as limits that depend on the key. Runs together with the schema. */
    extraValidation?: (context: Context, request: FastifyRequest) => Detail[]
    /** Runs if validation failed: returns violated business rules, so that one response lists all errors. */
    businessRuleErrors?: (context: Context, request: FastifyRequest) => Promise<Detail[]>
  }
}

export type RequestCheck = (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  route: FastifyContextConfig,
) => void | Promise<void>

/**
 * The checks of a partner call, in order. A call that fails a check does not reach the later ones, and is not charged to the limits
 * that they count.
 */
export const partnerChecks: RequestCheck[] = [
  readPartnerBody, // checks the size, then the media type
  authenticate,
  requireAllowedAddress,
  requireServiceEnabled,
  chargeLimits, // cooldown, then buckets
  requireScope,
  requireSchema, // syntax, then headers, path, query and body
  requireIdempotencyKey,
  // Then, with REJECT_REPLAYS, the check for replayed requests. Afterwards `runIdempotent` looks for a stored response, and the domain applies its business rules.
]

/** Adds the checks to every route of the partner API. A route only declares its scope, rate limit class and idempotency. */
export function guardPartnerRoutes(app: App, context: Context): void {
  app.decorateRequest('caller', null as never)
  app.decorateRequest('claimedKey', undefined)
  app.addHook('onRoute', ({ config, url, method }) => {
    if (config?.scope === undefined || config.limit === undefined) {
      throw new Error(`${method} ${url} must declare its scope and its rate limit class`)
    }
  })
  runChecks(app, context, [...partnerChecks, guardAgainstReplays(app, context)])
}

/** Runs the checks of an API in order, before the route's handler. */
export function runChecks(app: App, context: Context, checks: RequestCheck[]): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { config } = request.routeOptions // a getter that creates a new object
    runFrom(0)

    /** Runs checks synchronously as long as they return no promise, which saves event-loop turns. */
    function runFrom(firstIndex: number) {
      try {
        for (let index = firstIndex; index < checks.length; index++) {
          const pending = checks[index]!(context, request, reply, config)
          if (pending) return void pending.then(() => runFrom(index + 1), done)
        }
      } catch (error) {
        return done(error as Error)
      }
      done(null, payload)
    }
  })
  // The checks read and parse the body; keep Fastify's parsers from replacing it.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, _payload, done) => done(null, request.body))
}

/**
 * Reads the body, if there is one. `authenticate` rejects some callers whatever the body contains: their body is not read, or for a short
 * time only, for the debugging details of a TEST key.
 */
function readPartnerBody(context: Context, request: FastifyRequest): undefined | Promise<void> {
  request.rawBody = EMPTY_BODY
  if (!hasBody(request.raw)) return undefined
  const refreshing = context.keyring.refreshIfStale()
  return refreshing ? refreshing.then(read) : read()

  async function read() {
    const credentials = inspectCredentials(context, request)
    if (credentials === 'unknown') return checkBodyOfRejectedCaller(request.raw)
    request.rawBody = await (credentials === 'valid if signed'
      ? readBody(request.raw)
      : readBody(request.raw, MAX_BODY_BYTES, bodyTimeoutMs.rejected))
  }
}

/** Reads the body, if there is one, up to a maximum size. */
export function readRequestBody(_context: Context, request: FastifyRequest, maxBytes?: number) {
  if (!hasBody(request.raw)) {
    request.rawBody = EMPTY_BODY
    return undefined
  }
  return readBody(request.raw, maxBytes).then((body) => {
    request.rawBody = body
  })
}

function requireAllowedAddress(context: Context, request: FastifyRequest, reply: FastifyReply) {
  const { allowedAddresses } = request.caller.key
  return allowedAddresses === undefined || isAddressAllowed(request.ip, allowedAddresses)
    ? undefined
    : rejectAddress(context, request, reply)
}

async function rejectAddress(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<never> {
  // Charged to the address and not to the key, so that a stolen key cannot use up the limits of the partner.
  await countFailedAuthentication(context, request.ip)
  await setRateLimitHeaders(context, request, reply)
  throw problem('FORBIDDEN', addressNotAllowedMessage(request.ip))
}

function requireServiceEnabled(context: Context, request: FastifyRequest, reply: FastifyReply) {
  return context.keyring.isServiceDisabled(request.caller.orgId)
    ? rejectDisabledService(context, request, reply)
    : undefined
}

async function rejectDisabledService(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<never> {
  await setRateLimitHeaders(context, request, reply)
  throw serviceDisabledProblem(context.keyring.isServicePaused(request.caller.orgId))
}

function requireScope(
  _context: Context,
  { caller }: FastifyRequest,
  _reply: FastifyReply,
  { scope, furtherScope }: FastifyContextConfig,
) {
  for (const required of [scope, furtherScope])
    if (required && !caller.key.scopes.has(required))
      throw problem('SCOPE_MISSING', `This key does not have the scope ${required}; use a key that has it.`)
}

/** Checks syntax, headers and schema, and reports all violations in one response. */
export function requireSchema(
  context: Context,
  request: FastifyRequest,
  _reply: FastifyReply,
  route: FastifyContextConfig,
): void | Promise<void> {
  if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
  const { headers } = request
  const details: Detail[] = []
  if (!isAbsentOrMatches(PRINTABLE_ASCII, 128, headers['x-on-behalf-of'])) {
    details.push({ path: 'headers.x-on-behalf-of', message: 'must be 1 to 128 printable ASCII characters' })
  }
  if (route.idempotent && !isAbsentOrMatches(PRINTABLE, 255, headers['idempotency-key'])) {
    details.push({ path: 'headers.Idempotency-Key', message: 'must be 1 to 255 printable characters' })
  }
  if (route.extraValidation) details.push(...route.extraValidation(context, request))
  if (!route.businessRuleErrors) return validateRequest(request, route, details)
  try {
    validateRequest(request, route, details)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'VALIDATION_FAILED') throw error
    return route.businessRuleErrors(context, request).then((ruleErrors) => {
      throw ruleErrors.length === 0 ? error : invalid([...error.details, ...ruleErrors])
    })
  }
}

const PRINTABLE_ASCII = /^[\x20-\x7e]+$/
const PRINTABLE = /^[^\p{Cc}\p{Cs}\ufffd]+$/u

function isAbsentOrMatches(pattern: RegExp, maxLength: number, value: string | string[] | undefined): boolean {
  if (value === undefined) return true
  const text = decodeHeader(String(value))
  return pattern.test(text) && [...text].length <= maxLength
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
    'This call spends credits and requires an Idempotency-Key, so that a retry does not spend them twice.',
    {
      details: [{ path: 'headers.Idempotency-Key', message: 'is required' }],
    },
  )
}
