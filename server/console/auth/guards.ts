import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../access/caller.ts'
import type { PartnerKey } from '../../access/keyring.ts'
import type { Mode } from '../../access/keys.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { limitsFor } from '../../access/limits/table.ts'
import {
  type Check,
  examineRoutes,
  readWholeBody as readBodyOf,
  requireIdempotencyKey,
  requireSchema,
} from '../../access/partner-guards.ts'
import { CONSOLE_BASE } from '../../api/envelope.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { seconds } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { NO_BODY } from '../../platform/http/body.ts'
import type { App } from '../../platform/http/server.ts'
import { invalid } from '../../platform/http/validation.ts'
import { recordChange } from '../audit.ts'
import { readCookie } from './cookies.ts'
import { roleIn } from './members.ts'
import { isAtLeast, type Role, scopesOf } from './roles.ts'
import { findSession, isSame, type Session } from './sessions.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The least that somebody must be who calls this route of the console; `anybody` needs no session, `signed_in` no role. */
    role?: Role | 'anybody' | 'signed_in'
    /** The route reads the body itself, as it comes in. */
    upload?: boolean
  }
  interface FastifyRequest {
    /** Set by the console's front door, but on routes for anybody. */
    session: Session
    /** The organisation that the path names, and what the caller is there. */
    place: Place
  }
}

export interface Place {
  orgId: string
  role: Role
}

/**
 * The order in which a call of the console is examined. The partner API's own routes stand behind it too: what they declare for
 * a key is asked of the role here, and everything after that is the same.
 */
const checks: Check[] = [
  requireHttps,
  readWholeBody,
  identify,
  requireOwnPage,
  locate,
  requireRole,
  chargeSession,
  requireService,
  readDryRun,
  requireSchema,
  requireKeyUnlessDry,
]

export function guardConsoleRoutes(app: App, context: Context): void {
  app.decorateRequest('caller', null as never)
  app.decorateRequest('session', null as never)
  app.decorateRequest('place', null as never)
  app.addHook('onRoute', ({ config, url, method }) => {
    if (config?.role === undefined && config?.scope === undefined) {
      throw new Error(`${method} ${url} must declare who may call it`)
    }
  })
  examineRoutes(app, context, checks)
}

/** The name that changes are written down under. */
export function nameOf({ email }: Session): string {
  return email ?? 'operator'
}

/** Writes down what a route of the console's own changes. */
export function noteChange(
  tx: Tx,
  { clock }: Pick<Context, 'clock'>,
  { session, place, caller, id }: FastifyRequest,
  action: string,
  subject?: string,
  details?: object,
): Promise<void> {
  const where = { orgId: place?.orgId, mode: caller?.mode }
  return recordChange(tx, clock, { who: nameOf(session), ...where, action, subject, details, requestId: id })
}

function requireHttps({ config }: Context, { protocol }: FastifyRequest) {
  if (config.requireHttps && protocol.toLowerCase() !== 'https') {
    throw problem('HTTPS_REQUIRED', 'The console is served over HTTPS only.')
  }
}

function readWholeBody(
  context: Context,
  request: FastifyRequest,
  _reply: FastifyReply,
  { upload }: FastifyContextConfig,
) {
  if (!upload) return readBodyOf(context, request)
  request.rawBody = NO_BODY
  return undefined
}

async function identify(context: Context, request: FastifyRequest, _reply: FastifyReply, route: FastifyContextConfig) {
  if (route.role === 'anybody') return
  const token = readCookie(context, request)
  const session = token && (await findSession(context.db.queries, context, token))
  if (!session) throw problem('UNAUTHORIZED', 'You are not signed in, or your session has ended.')
  request.session = session
}

/** A change comes from a page of ours: it knows the session's token, and the browser says that it stands on our own address. */
function requireOwnPage(context: Context, request: FastifyRequest, _reply: FastifyReply, route: FastifyContextConfig) {
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (!isFromHere(context, request)) throw problem('FORBIDDEN', 'This call did not come from a page of the console.')
  if (route.role === 'anybody') return
  const given = request.headers['x-csrf-token']
  if (typeof given !== 'string' || !isSame(given, request.session.csrf)) {
    throw problem('FORBIDDEN', 'The header x-csrf-token is missing or wrong; reload the page.')
  }
}

function isFromHere({ config }: Context, { headers, protocol, host }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  const { origin } = headers
  if (origin === undefined) return true
  const own = [`${protocol}://${host}`, ...(config.publicUrl ? [new URL(config.publicUrl).origin] : [])]
  return own.includes(origin)
}

/** The organisation and mode of the path; another's organisation is not there at all. */
async function locate(context: Context, request: FastifyRequest) {
  const { org, mode } = request.params as { org?: string; mode?: string }
  if (org === undefined) return
  if (!/^ORG_[0-9A-Z]{26}$/.test(org)) throw problem('NOT_FOUND', 'There is nothing at this path.')
  const role = await roleAt(context, request.session, org)
  if (role === undefined || (mode !== undefined && mode !== 'test' && mode !== 'live')) {
    throw problem('NOT_FOUND', 'There is nothing at this path.')
  }
  request.place = { orgId: org, role }
  if (mode !== undefined) request.caller = callerOf(context, request, mode)
}

async function roleAt({ db }: Context, { email }: Session, orgId: string): Promise<Role | undefined> {
  if (email !== null) return roleIn(db.queries, orgId, email)
  const known = await db.queries
    .selectFrom('organisations')
    .select('org_id')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return known && 'operator'
}

/** Somebody at the console, as the partner API's routes know their callers. */
function callerOf(context: Context, request: FastifyRequest, mode: Mode): Caller {
  const { session, place } = request
  const { orgId } = place
  const keyId = `console:${orgId}:${mode}:${nameOf(session)}`
  const idempotencyKey = request.headers['idempotency-key']
  return {
    orgId,
    mode,
    keyId,
    key: keyOf(keyId, place, mode),
    onBehalfOf: session.email ?? undefined,
    idempotencyKey: typeof idempotencyKey === 'string' && idempotencyKey ? idempotencyKey : undefined,
    via: 'playground',
    record: (tx, answer) =>
      recordChange(tx, context.clock, {
        who: nameOf(session),
        orgId,
        mode,
        action: `${request.method} ${routeOf(request)}`,
        subject: subjectOf(request, answer.body),
        details: detailsOf(answer),
        requestId: request.id,
      }),
  }
}

/** Reading the catalogue by hand is no reading in bulk, in TEST neither: what a LIVE key may see is enough for it. */
const { skillsPerDay, browsePagesPerHour } = limitsFor('live')
const limits = {
  test: { ...limitsFor('test'), skillsPerDay, browsePagesPerHour },
  live: limitsFor('live'),
}

function keyOf(keyId: string, { orgId, role }: Place, mode: Mode): PartnerKey {
  return {
    keyId,
    orgId,
    mode,
    scopes: scopesOf(role),
    secrets: () => [],
    limits: limits[mode],
    overrides: {},
    expiresAt: Number.POSITIVE_INFINITY,
    revoked: false,
  }
}

const MOUNT = `${CONSOLE_BASE}/orgs/:org/:mode`

/** The template of the route, as the partner API has it. */
export function routeOf({ routeOptions }: FastifyRequest): string {
  const url = routeOptions.url ?? ''
  return url.startsWith(MOUNT) ? url.slice(MOUNT.length) : url.slice(CONSOLE_BASE.length)
}

/** What was changed: the id in the path, or the one that the answer gives to what was made. */
function subjectOf({ params }: FastifyRequest, body: object): string | undefined {
  const named = Object.entries(params as Record<string, string>).find(([name]) => name !== 'org' && name !== 'mode')
  if (named) return named[1]
  const { data = {} } = body as { data?: Record<string, unknown> }
  const made = 'campaign' in data ? (data.campaign as Record<string, unknown>) : data
  const id = Object.entries(made).find(([name, value]) => name.endsWith('_id') && typeof value === 'string')
  return id?.[1] as string | undefined
}

function detailsOf({ status, body }: { status: number; body: object }): object {
  const { data } = body as { data?: { enrolment?: object } }
  return { status, ...(data?.enrolment ? { enrolment: data.enrolment } : {}) }
}

function requireRole(_context: Context, request: FastifyRequest, _reply: FastifyReply, route: FastifyContextConfig) {
  const { role, scope } = route
  if (role === 'anybody' || role === 'signed_in') return
  const own: Role | undefined = request.place?.role ?? (request.session.email === null ? 'operator' : undefined)
  if (role !== undefined && !(own && isAtLeast(own, role))) {
    throw problem('FORBIDDEN', `This needs the role ${role}.`)
  }
  if (scope && !scopesOf(own!).has(scope)) {
    throw problem('FORBIDDEN', `Your role here is ${own}, which does not include ${scope}.`)
  }
}

const SESSION: Rule = { name: 'console-session', kind: 'tokens', limit: 40, seconds: 2 }

async function chargeSession(
  { limits, clock }: Context,
  { session }: FastifyRequest,
  _reply: FastifyReply,
  { role }: FastifyContextConfig,
) {
  if (role === 'anybody') return
  const who = session.tokenHash.toString('base64url')
  const { refused, retryAfter } = await limits.limiter.take(who, [SESSION], clock.now())
  if (refused === undefined) return
  throw problem('RATE_LIMITED', `Too many calls at once; try again in ${seconds(retryAfter)}.`, { retryAfter })
}

/** What the operator switched off stays readable. */
async function requireService(
  { keyring }: Context,
  request: FastifyRequest,
  _reply: FastifyReply,
  _route: FastifyContextConfig,
) {
  if (!request.place || request.method === 'GET' || request.method === 'HEAD') return
  if (request.session.email === null) return
  await keyring.stale()
  if (keyring.serviceOff(request.place.orgId)) {
    throw problem('SERVICE_DISABLED', 'The operator has switched the service off; nothing was changed.')
  }
}

/** `x-dry-run`: everything is examined and answered as in earnest, and nothing is kept. */
function readDryRun(_context: Context, request: FastifyRequest, reply: FastifyReply, route: FastifyContextConfig) {
  if (request.headers['x-dry-run'] !== 'true') return
  if (route.idempotent === undefined) {
    throw invalid([{ path: 'headers.x-dry-run', message: 'is not for this call' }])
  }
  request.caller.dryRun = true
  reply.header('x-dry-run', 'true')
}

function requireKeyUnlessDry(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  route: FastifyContextConfig,
) {
  if (request.caller?.dryRun) return undefined
  return requireIdempotencyKey(context, request, reply, route)
}
