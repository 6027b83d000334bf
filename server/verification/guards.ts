import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { addressNotAllowedMessage, isAddressAllowed } from '../access/allowed-addresses.ts'
import { countFailedAuthentication } from '../access/authentication.ts'
import type { OrgScope } from '../access/caller.ts'
import { callerAddress } from '../access/client-address.ts'
import { sharedLimitsId } from '../access/keyring.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { describeLimit } from '../access/limits/messages.ts'
import { servicePausedProblem } from '../access/service-switch.ts'
import { Problem, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import {
  bodyTimeoutMs,
  checkBodyOfRejectedCaller,
  checkDeclaredBody,
  EMPTY_BODY,
  hasBody,
  MAX_BODY_BYTES,
  readBody,
} from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import type { App } from '../platform/http/server.ts'
import { declaredBytes } from '../platform/http/uploads.ts'
import { hashToken } from '../platform/token-hash.ts'
import { fieldOf, isMissing } from './fields.ts'
import { findOrganisationOf, getSession, isSessionToken, sessionNotFoundProblem } from './sessions.ts'

/**
 * How a route authenticates its caller.
 * `key`: a session key. `header`, `body`, `path`: a session token in that part of the request. `either`: a key, or a token in a
 * header. `link`: the token of an email link, which the route checks itself. `none`: no authentication; a key is ignored.
 */
type AuthMethod = 'key' | 'header' | 'body' | 'path' | 'either' | 'link' | 'none'

declare module 'fastify' {
  interface FastifyContextConfig {
    auth?: AuthMethod
    /** Maximum size of a body with a file. The token must be in the path. */
    maxUploadBytes?: number
  }
  interface FastifyRequest {
    /** Set by the guards of the verification API. */
    sessionCaller: SessionCaller
  }
}

interface SessionCaller {
  /** Organisation and mode of the session key; undefined without a key. */
  scope: OrgScope | undefined
  /** The session token; the route looks up its session in its own transaction. */
  token: string | undefined
}

/** How to authenticate, for error messages. A session key alone is enough only for `key` and `either`. */
const AUTH_INSTRUCTIONS = {
  key: 'Send a session key in the x-api-key header.',
  header: 'Send a session token in the x-session-token header.',
  body: 'Send a session token as `sessionToken` in the body.',
  path: 'Send a session token in the path.',
  either: 'Send a session key in the x-api-key header, or a session token in the x-session-token header.',
}

const KEY_RATE_LIMIT: Rule = { name: 'session-key', kind: 'tokens', limit: 50, seconds: 1 }
/** Rate limits of all session keys of an organisation and mode together, by their multiple of the limit of one key. */
const sharedKeyRateLimits = new Map<number, Rule>()
const TOKEN_RATE_LIMIT: Rule = { name: 'session-token', kind: 'tokens', limit: 5, seconds: 1 }
const ADDRESS_RATE_LIMIT: Rule = { name: 'verification-address', kind: 'fixed', limit: 60, seconds: 60 }
/** A review has a comment of up to 1,000 characters for each skill. */
const MAX_ANONYMOUS_BODY_BYTES = 128 * 1024
/** A high limit, because a whole campus can share one IP address. */
const UNKNOWN_TOKEN_RATE_LIMIT: Rule = { name: 'unknown-session-tokens', kind: 'fixed', limit: 600, seconds: 60 }

/**
 * Checks, in this order: body size and media type, key, token, rate limit, JSON, and whether the organisation is paused. Callers without
 * a key or a token are charged to the limit of their IP address before their body is read. The body of a caller whose key or token is
 * missing or invalid is not read. Uploads are charged, and their session is looked up, before the body is read. The route checks the
 * session and the fields.
 */
export function guardVerificationRoutes(app: App, context: Context): void {
  const { uploads } = context
  app.decorateRequest('sessionCaller', null as never)
  app.addHook('onRoute', ({ config, url, method }) => {
    if (config?.auth === undefined) throw new Error(`${method} ${url} must declare its auth method`)
    if (config.maxUploadBytes !== undefined && config.auth !== 'path')
      throw new Error(`${method} ${url} accepts uploads, so its token must be in the path`)
  })
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return
    const { auth: declaredAuth, maxUploadBytes } = request.routeOptions.config
    const auth = declaredAuth!
    const isAnonymous = auth === 'link' || auth === 'none'
    if (isAnonymous)
      await chargeRateLimit(context, callerAddress(request.ip), ADDRESS_RATE_LIMIT, 'from this IP address')
    const rejection = isAnonymous ? undefined : await findRejection(context, request, auth)
    if (rejection !== undefined) {
      await checkBodyOfRejectedCaller(request.raw, maxUploadBytes)
      request.rawBody = EMPTY_BODY
    } else if (maxUploadBytes !== undefined) {
      await receiveUpload(request, reply.raw, maxUploadBytes)
      return
    } else if (isAnonymous) request.rawBody = await readBody(request.raw, MAX_ANONYMOUS_BODY_BYTES, bodyTimeoutMs.small)
    else
      request.rawBody = await (hasKey(request) || auth !== 'body'
        ? readBody(request.raw)
        : readBodyWithToken(context, request))
    request.sessionCaller = await authenticateSession(context, request, auth)
    request.tenant.scope = request.sessionCaller.scope
    if (rejection === 'session not found') throw sessionNotFoundProblem()
  })
  app.addHook('preValidation', async (request) => {
    if (request.is404) return
    if (request.rawBody.length > 0) request.body ??= parseJson(request.rawBody)
    await requireServiceRunning(context, request)
  })
  // The body is parsed in the guards; keep Fastify from replacing it.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, _payload, done) => done(null, request.body))
  app.addHook('onError', async (request, _reply, error) => {
    if (!(error instanceof Problem) || error.code !== 'SESSION_NOT_FOUND' || request.sessionCaller?.scope) return
    await countUnknownToken(context, request)
  })

  /** Charges the rate limits and looks up the session before the body is read, because it is large and may take minutes. */
  async function receiveUpload(request: FastifyRequest, response: ServerResponse, maxBytes: number): Promise<void> {
    checkDeclaredBody(request.raw, maxBytes)
    request.rawBody = EMPTY_BODY
    request.sessionCaller = await authenticateSession(context, request, 'path')
    const { scope, token } = request.sessionCaller
    request.tenant.scope = scope
    if (!hasBody(request.raw)) return
    const session = await getSession(context.db.queries, context.clock, token!, scope)
    const bytes = declaredBytes(request.headers, maxBytes)
    uploads.reserve({ uploader: token!, orgId: session.scope.orgId, bytes }, response)
    request.rawBody = await readBody(request.raw, maxBytes, bodyTimeoutMs.withFile)
  }
}

/** Rejects requests of paused organisations. The organisation is looked up only while one is paused. */
async function requireServiceRunning({ db, keyring }: Pick<Context, 'db' | 'keyring'>, request: FastifyRequest) {
  await keyring.refreshIfStale()
  const paused = keyring.pausedOrganisations()
  if (paused.length === 0) return
  const { scope, token } = request.sessionCaller
  const params = (request.params ?? {}) as { sessionToken?: string; serviceVerificationId?: string }
  const orgId =
    scope?.orgId ??
    (await findOrganisationOf(db.queries, {
      token: token ?? params.sessionToken,
      verificationId: params.serviceVerificationId ?? fieldOf(request.body, 'serviceVerificationId'),
    }))
  if (orgId !== undefined && keyring.isServicePaused(orgId)) throw servicePausedProblem()
}

/** Returns why the request will be rejected, whatever its body contains, or undefined if the body has to be read to know. */
async function findRejection(
  context: Context,
  request: FastifyRequest,
  auth: AuthMethod,
): Promise<'not authenticated' | 'session not found' | undefined> {
  if (hasKey(request)) {
    await context.keyring.refreshIfStale()
    return findUsableKey(context, request.headers['x-api-key']!) ? undefined : 'not authenticated'
  }
  if (auth === 'key') return 'not authenticated'
  if (auth === 'body') return undefined
  const token = readToken(request, auth)
  if (token === undefined) return 'not authenticated'
  // Without a body, the query of the route is enough.
  if (!hasBody(request.raw)) return undefined
  await requireFewUnknownTokens(context, request)
  return (await isSessionToken(context.db.queries, token)) ? undefined : 'session not found'
}

/**
 * Reads a body that contains the token. The caller is not known before, so the body must arrive soon, and a body that does not arrive
 * counts like an unknown token.
 */
async function readBodyWithToken(context: Context, request: FastifyRequest): Promise<Buffer> {
  if (!hasBody(request.raw)) return EMPTY_BODY
  await requireFewUnknownTokens(context, request)
  try {
    return await readBody(request.raw, MAX_BODY_BYTES, bodyTimeoutMs.small)
  } catch (error) {
    await countUnknownToken(context, request)
    throw error
  }
}

function hasKey({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] !== undefined && headers['x-api-key'] !== ''
}

/** Tokens cannot be guessed, but each unknown one costs a query: they are limited per IP address. */
async function requireFewUnknownTokens({ limits, clock }: Pick<Context, 'limits' | 'clock'>, { ip }: FastifyRequest) {
  const { rejectedBy, retryAfter } = await limits.limiter.peek(
    callerAddress(ip),
    [UNKNOWN_TOKEN_RATE_LIMIT],
    clock.now(),
  )
  if (rejectedBy !== undefined)
    throw rateLimitedProblem('with invalid session tokens from this IP address', UNKNOWN_TOKEN_RATE_LIMIT, retryAfter)
}

async function countUnknownToken({ limits, clock }: Pick<Context, 'limits' | 'clock'>, { ip }: FastifyRequest) {
  await limits.limiter.charge(callerAddress(ip), [UNKNOWN_TOKEN_RATE_LIMIT], clock.now())
}

async function authenticateSession(
  context: Context,
  request: FastifyRequest,
  auth: AuthMethod,
): Promise<SessionCaller> {
  if (auth === 'link' || auth === 'none') {
    if (auth === 'link') await readKey(context, request)
    return { scope: undefined, token: undefined }
  }
  const key = await readKey(context, request)
  const token = readToken(request, auth)
  if (!key && (auth === 'key' || (token === undefined && headerToken(request) === undefined))) {
    throw problem('UNAUTHORIZED', AUTH_INSTRUCTIONS[auth])
  }
  if (key) {
    await chargeRateLimit(context, key.keyId, KEY_RATE_LIMIT, 'with this key')
    const sharedLimit = sharedKeyRateLimit(context.keyring.limitFactor(key.orgId))
    await chargeRateLimit(context, sharedLimitsId(key), sharedLimit, 'with the session keys of this organisation')
  } else {
    await requireFewUnknownTokens(context, request)
    const secret = token ?? headerToken(request)!
    await chargeRateLimit(context, hashToken(secret).toString('base64'), TOKEN_RATE_LIMIT, 'with this session token')
  }
  if (token === undefined && auth !== 'key' && auth !== 'either') {
    if (request.rawBody.length > 0) parseJson(request.rawBody) // report an invalid body first
    throw problem('MISSING_SESSION_TOKEN', AUTH_INSTRUCTIONS[auth])
  }
  return { scope: key && { orgId: key.orgId, mode: key.mode }, token }
}

function sharedKeyRateLimit(factor: number): Rule {
  let rule = sharedKeyRateLimits.get(factor)
  if (!rule) {
    rule = { ...KEY_RATE_LIMIT, name: `session-keys-${factor}`, limit: factor * KEY_RATE_LIMIT.limit }
    sharedKeyRateLimits.set(factor, rule)
  }
  return rule
}

/** Validates the key if one is sent, even together with a valid token. */
async function readKey(context: Context, { headers, ip }: FastifyRequest) {
  const { keyring, keyUses, clock } = context
  const keyHeader = headers['x-api-key']
  if (keyHeader === undefined || keyHeader === '') return undefined
  await keyring.refreshIfStale()
  const key = findUsableKey(context, keyHeader)
  if (!key) {
    const wrongKind = String(keyHeader).startsWith('VFN_SK_') ? 'the secret of a partner key' : 'a partner key'
    const partnerKeyHint = String(keyHeader).startsWith('VFN_')
      ? ` This API requires a session key (VSK_…), not ${wrongKind}.`
      : ''
    throw problem(
      'UNAUTHORIZED',
      `The session key in the x-api-key header is invalid, expired or revoked.${partnerKeyHint}`,
    )
  }
  if (key.allowedAddresses !== undefined && !isAddressAllowed(ip, key.allowedAddresses)) {
    await countFailedAuthentication(context, ip)
    throw problem('FORBIDDEN', addressNotAllowedMessage(ip))
  }
  keyUses.record(key.keyId, clock.now())
  return key
}

/** Returns the session key, unless it is unknown, revoked or expired. */
function findUsableKey({ keyring, clock }: Pick<Context, 'keyring' | 'clock'>, keyHeader: string | string[]) {
  const key = typeof keyHeader === 'string' ? keyring.sessionKey(keyHeader) : undefined
  return key && !key.revoked && clock.now() < key.expiresAt ? key : undefined
}

function readToken(request: FastifyRequest, auth: AuthMethod): string | undefined {
  if (auth === 'path') return (request.params as { sessionToken: string }).sessionToken
  if (auth !== 'body') return headerToken(request)
  request.body = parseJsonOrUndefined(request.rawBody)
  const token = fieldOf(request.body, 'sessionToken')
  // The schema rejects values that are not strings; as a token they match no session.
  return isMissing(token) ? undefined : String(token)
}

/** Returns undefined for invalid JSON; the error is reported later, to authenticated callers only. */
function parseJsonOrUndefined(raw: Buffer): unknown {
  try {
    return raw.length > 0 ? parseJson(raw) : undefined
  } catch {
    return undefined
  }
}

function headerToken({ headers }: FastifyRequest): string | undefined {
  const header = headers['x-session-token']
  if (typeof header === 'string' && header.trim() !== '') return header.trim()
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}

async function chargeRateLimit(
  { limits, clock }: Pick<Context, 'limits' | 'clock'>,
  caller: string,
  rule: Rule,
  subject: string,
): Promise<void> {
  const { rejectedBy, retryAfter } = await limits.limiter.take(caller, [rule], clock.now())
  if (rejectedBy !== undefined) throw rateLimitedProblem(subject, rule, retryAfter)
}

function rateLimitedProblem(subject: string, rule: Rule, retryAfter: number) {
  const message = `Too many requests ${subject}: the limit is ${describeLimit(rule)}. Try again in ${formatSeconds(retryAfter)}.`
  return problem('RATE_LIMITED', message, { retryAfter })
}
