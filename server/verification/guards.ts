import type { FastifyRequest } from 'fastify'
import type { OwnerScope } from '../access/caller.ts'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { allowance } from '../access/limits/messages.ts'
import { Problem, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { seconds } from '../platform/clock.ts'
import { readBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import type { App } from '../platform/http/server.ts'
import { fieldOf, isMissing } from './fields.ts'
import { hashToken } from './sessions.ts'

/**
 * How a route knows its caller.
 * `key`: a session key. `header`, `body`, `path`: a session token, found there. `either`: a key, or a token in a header.
 * `link`: the token of a mail, which the route itself looks at.
 * `nobody`: no proof of who calls; a key that is sent all the same is not looked at.
 */
export type Entry = 'key' | 'header' | 'body' | 'path' | 'either' | 'link' | 'nobody'

declare module 'fastify' {
  interface FastifyContextConfig {
    entry?: Entry
  }
  interface FastifyRequest {
    /** Set by the verification API's front door. */
    guest: Guest
  }
}

export interface Guest {
  /** Whose sessions the key opens; undefined without a key. */
  scope: OwnerScope | undefined
  /** The session token, wherever the route takes it from; the session itself is looked up in the route's transaction. */
  token: string | undefined
}

const KEY: Rule = { name: 'session-key', kind: 'tokens', limit: 50, seconds: 1 }
const TOKEN: Rule = { name: 'session-token', kind: 'tokens', limit: 5, seconds: 1 }
const ADDRESS: Rule = { name: 'verification-address', kind: 'fixed', limit: 60, seconds: 60 }
/** Generous: a whole campus may share one address. */
const UNKNOWN_TOKENS: Rule = { name: 'unknown-session-tokens', kind: 'fixed', limit: 600, seconds: 60 }

/** The order of checks: body size and media type, key, token, rate limit, JSON; then the route looks at the session and the fields. */
export function guardVerificationRoutes(app: App, context: Context): void {
  app.decorateRequest('guest', null as never)
  app.addHook('onRoute', ({ config, url, method }) => {
    if (config?.entry === undefined) throw new Error(`${method} ${url} must declare how it knows its caller`)
  })
  app.addHook('preParsing', async (request) => {
    if (request.is404) return
    request.rawBody = await readBody(request.raw)
    request.guest = await admit(context, request, request.routeOptions.config.entry!)
  })
  app.addHook('preValidation', async (request) => {
    if (!request.is404 && request.rawBody.length > 0) request.body ??= parseJson(request.rawBody)
  })
  // A body that was read for its token stays; Fastify's own parsing must not put anything in its place.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, _payload, done) => done(null, request.body))
  // Tokens are not guessed, but a flood of made-up ones would cost a query each.
  app.addHook('onError', async (request, _reply, error) => {
    if (!(error instanceof Problem) || error.code !== 'SESSION_NOT_FOUND' || request.guest?.scope) return
    const { limits, clock } = context
    await limits.limiter.charge(callerAddress(request.ip), [UNKNOWN_TOKENS], clock.now())
  })
}

async function admit(context: Context, request: FastifyRequest, entry: Entry): Promise<Guest> {
  if (entry === 'link' || entry === 'nobody') {
    if (entry === 'link') await readKey(context, request)
    await take(context, callerAddress(request.ip), ADDRESS, 'from this address')
    return { scope: undefined, token: undefined }
  }
  const key = await readKey(context, request)
  const token = readToken(request, entry)
  if (!key && (entry === 'key' || (token === undefined && headerToken(request) === undefined))) {
    throw problem('UNAUTHORIZED', 'Send a session key in x-api-key, or a session token.')
  }
  if (key) await take(context, key.keyId, KEY, 'with this key')
  else {
    const address = callerAddress(request.ip)
    const { refused, retryAfter } = await context.limits.limiter.peek(address, [UNKNOWN_TOKENS], context.clock.now())
    if (refused !== undefined)
      throw tooMany('with unknown session tokens from this address', UNKNOWN_TOKENS, retryAfter)
    const secret = token ?? headerToken(request)!
    await take(context, hashToken(secret).toString('base64'), TOKEN, 'with this session token')
  }
  if (token === undefined && entry !== 'key' && entry !== 'either') {
    if (request.rawBody.length > 0) parseJson(request.rawBody) // a body that cannot be read is told of first
    const where = entry === 'body' ? 'Send sessionToken in the body.' : 'Send the session token in x-session-token.'
    throw problem('MISSING_SESSION_TOKEN', where)
  }
  return { scope: key && { orgId: key.orgId, mode: key.mode }, token }
}

/** A key that is sent must be right, also beside a valid token. */
async function readKey({ keyring, clock }: Context, { headers }: FastifyRequest) {
  const given = headers['x-api-key']
  if (given === undefined || given === '') return undefined
  await keyring.stale()
  const key = typeof given === 'string' ? keyring.sessionKey(given) : undefined
  if (!key || key.revoked || clock.now() >= key.expiresAt) {
    const other = String(given).startsWith('VFN_') ? ' This API takes a session key (VSK_…), not a partner key.' : ''
    throw problem('UNAUTHORIZED', `The session key in x-api-key is not valid.${other}`)
  }
  return key
}

function readToken(request: FastifyRequest, entry: Entry): string | undefined {
  if (entry === 'path') return (request.params as { sessionToken: string }).sessionToken
  if (entry !== 'body') return headerToken(request)
  request.body = readQuietly(request.rawBody)
  const token = fieldOf(request.body, 'sessionToken')
  // What is no text is the schema's to complain of; as a token it is none that anybody was given.
  return isMissing(token) ? undefined : String(token)
}

/** A body that cannot be read has no token in it; what is wrong with it is told later, to who may know. */
function readQuietly(raw: Buffer): unknown {
  try {
    return raw.length > 0 ? parseJson(raw) : undefined
  } catch {
    return undefined
  }
}

function headerToken({ headers }: FastifyRequest): string | undefined {
  const own = headers['x-session-token']
  if (typeof own === 'string' && own.trim() !== '') return own.trim()
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}

async function take({ limits, clock }: Context, caller: string, rule: Rule, what: string): Promise<void> {
  const { refused, retryAfter } = await limits.limiter.take(caller, [rule], clock.now())
  if (refused !== undefined) throw tooMany(what, rule, retryAfter)
}

function tooMany(what: string, rule: Rule, retryAfter: number) {
  const message = `Too many calls ${what}: ${allowance(rule)} are allowed. Try again in ${seconds(retryAfter)}.`
  return problem('RATE_LIMITED', message, { retryAfter })
}
