import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../access/caller.ts'
import { callerAddress } from '../../access/client-address.ts'
import type { PartnerKey } from '../../access/keyring.ts'
import type { Mode } from '../../access/keys.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { limitsFor } from '../../access/limits/table.ts'
import {
  type RequestCheck,
  readRequestBody,
  requireIdempotencyKey,
  requireSchema,
  runChecks,
} from '../../access/partner-guards.ts'
import { CONSOLE_BASE } from '../../api/envelope.ts'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import { formatWait, MINUTE } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { EMPTY_BODY } from '../../platform/http/body.ts'
import type { App } from '../../platform/http/server.ts'
import { secretsEqual } from '../../platform/secret-comparison.ts'
import { type AuditActor, type AuditSource, recordAuditEntry } from '../audit.ts'
import { providerSignInUrl } from '../identity-providers/paths.ts'
import { readSessionCookie } from './cookies.ts'
import { findMemberAccess } from './members.ts'
import { type ConsoleRole, isAtLeast, scopesOfRole } from './roles.ts'
import { findSession, recordOpenedOrganisation, type SignedInSession } from './sessions.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The role that a console route requires; `public` requires no session, `signed_in` any session. */
    role?: ConsoleRole | 'public' | 'signed_in'
    /** The limit of calls per IP address, which is charged before the body is read. Required for public routes with a body. */
    visitorLimit?: Rule
    /** True if the handler reads the request body as a stream. */
    upload?: boolean
    /** True if the route requires a sign-in or a confirmation of the last minutes. */
    recentSignIn?: boolean
    /** True if only members of the organisation may call the route, and not operators who do not belong to it. */
    membersOnly?: boolean
    /** True if the handler of a read records its own audit entry. */
    recordsRead?: boolean
  }
  interface FastifyRequest {
    /** Set by the console's guards, except on public routes. */
    session: SignedInSession
    /** The organisation in the path, and the role of the caller in it. */
    orgAccess: OrgAccess
  }
}

export interface OrgAccess {
  orgId: string
  role: ConsoleRole
  /** Whether the caller is a member of the organisation; operators usually are not. */
  isMember: boolean
  /** The caller's role as a member, also if the caller is an operator. */
  memberRole?: ConsoleRole
}

/**
 * The checks of a console request, in order. They also guard the partner API's routes under the console: if a route requires a
 * scope of a key, the role of the console user must include this scope.
 */
const checks: RequestCheck[] = [
  limitVisitor,
  authenticate, // before the body is read: a caller without a session cannot delay its body
  readBody,
  requireSameOrigin,
  resolveOrg,
  requireRole,
  requireRecentSignIn,
  limitRequestRate,
  requireServiceEnabled,
  readDryRun,
  requireSchema,
  requireIdempotencyKeyUnlessDryRun,
]

export function guardConsoleRoutes(app: App, context: Context): void {
  app.decorateRequest('caller', null as never)
  app.decorateRequest('session', null as never)
  app.decorateRequest('orgAccess', null as never)
  app.addHook('onRoute', ({ config, url, method }) => {
    if (config?.role === undefined && config?.scope === undefined) {
      throw new Error(`${method} ${url} must declare a role or a scope`)
    }
    if (config.role === 'public' && method === 'POST' && !config.visitorLimit)
      throw new Error(`${method} ${url} must declare a visitor limit`)
  })
  runChecks(app, context, [...checks, createReadAudit(context)])
}

/** Returns whether the caller acts as an operator, on the server or in an organisation that they do not belong to. */
export function actorOf({ session, orgAccess }: FastifyRequest): AuditActor {
  return session.isOperator && !orgAccess?.isMember ? 'operator' : 'member'
}

export function sourceOf({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): AuditSource {
  return { address: ip, userAgent: headers['user-agent'] }
}

/** Stores the audit entry of a console route. */
export function recordRequestAudit(
  tx: Tx,
  { clock }: Pick<Context, 'clock'>,
  request: FastifyRequest,
  action: string,
  subject?: string,
  details?: object,
  scope: { orgId?: string | undefined; mode?: Mode | undefined } = {
    orgId: request.orgAccess?.orgId,
    mode: request.caller?.mode,
  },
): Promise<void> {
  return recordAuditEntry(tx, clock, {
    who: request.session.email,
    actor: actorOf(request),
    ...scope,
    action,
    subject,
    details,
    requestId: request.id,
    source: sourceOf(request),
  })
}

/** A read that is repeated within this time, for example by a page that polls, is recorded once. */
const READ_AUDIT_INTERVAL_MS = 15 * MINUTE
const MAX_REMEMBERED_READS = 10_000

interface AuditedRead {
  action: string
  subject?: string | undefined
  details: object
  /** Default: the organisation and mode in the path. */
  scope?: { orgId?: string | undefined; mode?: Mode | undefined }
}

/** Returns a function that records a read, unless the session has made the same read within the interval. */
export function createReadRecorder(context: Pick<Context, 'db' | 'clock'>) {
  const recordedAt = new BoundedMap<string, number>(MAX_REMEMBERED_READS)
  return async (request: FastifyRequest, { action, subject, details, scope }: AuditedRead): Promise<void> => {
    const now = context.clock.now()
    const { session, orgAccess, caller } = request
    const key = JSON.stringify([session.sessionId, orgAccess?.orgId, caller?.mode, action, subject, details])
    if (now - (recordedAt.get(key) ?? Number.NEGATIVE_INFINITY) < READ_AUDIT_INTERVAL_MS) return
    await context.db.transaction((tx) => recordRequestAudit(tx, context, request, action, subject, details, scope))
    recordedAt.set(key, now) // only if the entry was stored
  }
}

/** Scopes of routes that return no data of the organisation. */
const PUBLIC_DATA_SCOPES: readonly unknown[] = [null, 'skills:read']

/**
 * Returns the check that records the reads of operators in organisations that they do not belong to, so that the owners see who
 * looked at their data. The entry is stored before the data is returned.
 */
function createReadAudit(context: Context): RequestCheck {
  const recordRead = createReadRecorder(context)
  return async (_context, request, _reply, { scope, recordsRead }) => {
    if (!request.orgAccess || actorOf(request) !== 'operator' || recordsRead) return
    if ((request.method !== 'GET' && request.method !== 'HEAD') || PUBLIC_DATA_SCOPES.includes(scope)) return
    const details = { route: routeTemplate(request) }
    await recordRead(request, { action: 'operator.read', subject: auditSubject(request, {}), details })
  }
}

const MAX_SIGN_IN_BODY_BYTES = 4 * 1024

async function limitVisitor(
  { limits, clock }: Pick<Context, 'limits' | 'clock'>,
  { ip }: FastifyRequest,
  _reply: FastifyReply,
  { visitorLimit }: FastifyContextConfig,
) {
  if (!visitorLimit) return
  const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(ip), [visitorLimit], clock.now())
  if (rejectedBy !== undefined) throw tooManySignInsProblem(retryAfter)
}

export function tooManySignInsProblem(retryAfter: number) {
  return problem('RATE_LIMITED', `Too many sign-in attempts. Try again in ${formatWait(retryAfter)}.`, {
    retryAfter,
  })
}

function readBody(context: Context, request: FastifyRequest, _reply: FastifyReply, route: FastifyContextConfig) {
  const { upload, role } = route
  if (!upload) return readRequestBody(context, request, role === 'public' ? MAX_SIGN_IN_BODY_BYTES : undefined)
  request.rawBody = EMPTY_BODY
  return undefined
}

async function authenticate(
  context: Context,
  request: FastifyRequest,
  _reply: FastifyReply,
  route: FastifyContextConfig,
) {
  if (route.role === 'public') return
  const token = readSessionCookie(context, request)
  const session = token && (await findSession(context.db.queries, context, token))
  if (!session) throw problem('UNAUTHORIZED', 'You are not signed in, or your session has expired.')
  request.session = session
}

/** Requires writes to come from the console's own origin and to carry the session's CSRF token. */
function requireSameOrigin(
  context: Context,
  request: FastifyRequest,
  _reply: FastifyReply,
  route: FastifyContextConfig,
) {
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (!isSameOrigin(context, request)) throw problem('FORBIDDEN', 'This request did not come from a console page.')
  if (route.role === 'public') return
  const token = request.headers['x-csrf-token']
  if (typeof token !== 'string' || !secretsEqual(token, request.session.csrf)) {
    throw problem('FORBIDDEN', 'The `x-csrf-token` header is missing or wrong; reload the page.')
  }
}

function isSameOrigin({ config }: Pick<Context, 'config'>, { headers, protocol, host }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  const { origin } = headers
  if (origin === undefined) return true
  const ownOrigins = [`${protocol}://${host}`, ...(config.publicUrl ? [new URL(config.publicUrl).origin] : [])]
  return ownOrigins.includes(origin)
}

/** Reads the organisation and mode from the path. Responds 404 if the caller has no access to the organisation. */
async function resolveOrg(context: Context, request: FastifyRequest) {
  const { org, mode } = request.params as { org?: string; mode?: string }
  if (org === undefined) return
  if (!/^ORG_[0-9A-Z]{26}$/.test(org)) throw pathNotFoundProblem()
  const access = await findAccess(context, request.session, org)
  if (access === undefined || (mode !== undefined && mode !== 'test' && mode !== 'live')) {
    throw pathNotFoundProblem()
  }
  request.orgAccess = access
  request.tenant.scope = { orgId: org, mode }
  if (mode !== undefined) request.caller = consoleCaller(context, request, mode)
}

/**
 * Returns the same problem for an unknown organisation and for one without access, so that it does not reveal which organisations
 * exist.
 */
function pathNotFoundProblem() {
  return problem('NOT_FOUND', 'This path does not exist, or you have no access to it.')
}

async function findAccess(
  { db, config }: Pick<Context, 'db' | 'config'>,
  session: SignedInSession,
  orgId: string,
): Promise<OrgAccess | undefined> {
  const { isOperator, provider } = session
  // A session with a provider has only the access that this provider manages.
  if (provider && provider.orgId !== null && provider.orgId !== orgId) return undefined
  const memberAccess = provider?.orgId === null ? undefined : await findMemberAccess(db.queries, orgId, session.email)
  const mustUseProvider = memberAccess?.providerRequired === true && !provider
  if (mustUseProvider && !isOperator)
    throw problem(
      'IDENTITY_PROVIDER_REQUIRED',
      `This organisation requires a sign-in with its identity provider. Sign in at ${providerSignInUrl(config.publicUrl ?? '', orgId)}.`,
    )
  const memberRole = mustUseProvider ? undefined : memberAccess?.role
  const isMember = memberRole !== undefined
  if (isMember) await recordOpenedOrganisation(db.queries, session, orgId)
  if (!isOperator) return memberRole && { orgId, role: memberRole, isMember, memberRole }
  const org = await db.queries
    .selectFrom('organisations')
    .select('org_id')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return org && { orgId, role: 'operator', isMember, ...(memberRole ? { memberRole } : {}) }
}

/** Represents a console user as a caller of the partner API's routes. */
function consoleCaller(context: Context, request: FastifyRequest, mode: Mode): Caller {
  const { session, orgAccess } = request
  const { orgId } = orgAccess
  const keyId = `console:${orgId}:${mode}:${session.email}`
  const idempotencyKey = request.headers['idempotency-key']
  return {
    orgId,
    mode,
    keyId,
    key: consoleKey(keyId, orgAccess, mode),
    // Recruiters are people of the organisation.
    onBehalfOf: orgAccess.isMember ? session.email : undefined,
    idempotencyKey: typeof idempotencyKey === 'string' && idempotencyKey ? idempotencyKey : undefined,
    via: 'playground',
    record: (tx, response) =>
      recordRequestAudit(
        tx,
        context,
        request,
        `${request.method} ${routeTemplate(request)}`,
        auditSubject(request, response.body),
        auditDetails(request, response),
      ),
  }
}

/** The catalogue limits of a LIVE key apply in TEST too: browsing by hand does not need higher limits. */
const { skillsPerDay, browsePagesPerHour } = limitsFor('live')
const consoleLimits = {
  test: { ...limitsFor('test'), skillsPerDay, browsePagesPerHour },
  live: limitsFor('live'),
}

function consoleKey(keyId: string, { orgId, role }: OrgAccess, mode: Mode): PartnerKey {
  return {
    keyId,
    orgId,
    mode,
    scopes: scopesOfRole(role),
    secrets: () => [],
    limits: consoleLimits[mode],
    overrides: {},
    expiresAt: Number.POSITIVE_INFINITY,
    revoked: false,
    allowedAddresses: undefined,
  }
}

const ORG_PREFIX = `${CONSOLE_BASE}/orgs/:org/:mode`

/** Returns the URL template of the route without the console's prefix, as in the partner API. */
function routeTemplate({ routeOptions }: FastifyRequest): string {
  const url = routeOptions.url ?? ''
  return url.startsWith(ORG_PREFIX) ? url.slice(ORG_PREFIX.length) : url.slice(CONSOLE_BASE.length)
}

/** Returns the ID of the changed resource: from the path, or from the response if it was created. */
function auditSubject({ params }: FastifyRequest, body: object): string | undefined {
  const pathId = Object.entries(params as Record<string, string>).find(([name]) => name !== 'org' && name !== 'mode')
  if (pathId) return pathId[1]
  const { data = {} } = body as { data?: Record<string, unknown> }
  const createdResource = 'campaign' in data ? (data.campaign as Record<string, unknown>) : data
  const id = Object.entries(createdResource).find(([name, value]) => name.endsWith('_id') && typeof value === 'string')
  return id?.[1] as string | undefined
}

function auditDetails(request: FastifyRequest, { status, body }: { status: number; body: object }): object {
  const { data } = body as { data?: { enrolment?: object; name?: string | null } }
  return {
    status,
    ...(data?.enrolment ? { enrolment: data.enrolment } : {}),
    ...(routeTemplate(request).startsWith('/keys') && data?.name ? { key_name: data.name } : {}),
  }
}

function requireRole(_context: Context, request: FastifyRequest, _reply: FastifyReply, route: FastifyContextConfig) {
  const { role, scope, membersOnly } = route
  if (role === 'public' || role === 'signed_in') return
  if (membersOnly && !request.orgAccess.isMember)
    throw problem('FORBIDDEN', 'Only members of the organisation can do this. Operators use the command line.')
  const callerRole: ConsoleRole | undefined = membersOnly
    ? request.orgAccess.memberRole
    : (request.orgAccess?.role ?? (request.session.isOperator ? 'operator' : undefined))
  if (role !== undefined && !(callerRole && isAtLeast(callerRole, role))) {
    throw problem('FORBIDDEN', `This request requires the role ${role}.`)
  }
  if (scope && !scopesOfRole(callerRole!).has(scope)) {
    throw problem('FORBIDDEN', `Your role ${callerRole} does not include the scope ${scope}.`)
  }
}

/** Rejects sensitive changes in a session that was signed in long ago: its cookie may be used by another person. */
function requireRecentSignIn(
  { clock }: Pick<Context, 'clock'>,
  { session }: FastifyRequest,
  _reply: FastifyReply,
  { recentSignIn }: FastifyContextConfig,
) {
  if (recentSignIn) requireConfirmed(session, clock.now())
}

export function requireConfirmed({ confirmedUntil }: SignedInSession, now: number): void {
  if (now < confirmedUntil) return
  throw problem(
    'RECENT_SIGN_IN_REQUIRED',
    'This request requires that you have signed in within the last 15 minutes. Confirm it, or sign in again.',
  )
}

/** A token bucket: bursts of up to 40 requests, and 20 requests per second on average. */
const SESSION_RATE_LIMIT: Rule = { name: 'console-session', kind: 'tokens', limit: 40, seconds: 2 }

async function limitRequestRate(
  { limits, clock }: Pick<Context, 'limits' | 'clock'>,
  { session }: FastifyRequest,
  _reply: FastifyReply,
  { role }: FastifyContextConfig,
) {
  if (role === 'public') return
  const sessionId = session.tokenHash.toString('base64url')
  const { rejectedBy, retryAfter } = await limits.limiter.take(sessionId, [SESSION_RATE_LIMIT], clock.now())
  if (rejectedBy === undefined) return
  throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatWait(retryAfter)}.`, { retryAfter })
}

/** Rejects write requests while the operator has switched the service or the partner API off; reads stay possible. */
async function requireServiceEnabled(
  { keyring }: Pick<Context, 'keyring'>,
  request: FastifyRequest,
  _reply: FastifyReply,
  _route: FastifyContextConfig,
) {
  if (!request.orgAccess || request.method === 'GET' || request.method === 'HEAD') return
  if (request.orgAccess.role === 'operator') return
  await keyring.refreshIfStale()
  if (keyring.isServiceDisabled(request.orgAccess.orgId)) {
    throw problem(
      'SERVICE_DISABLED',
      keyring.isServicePaused(request.orgAccess.orgId)
        ? 'The operator has switched the service off for your organisation. Nothing was changed; the console is read-only until it is switched on.'
        : 'The operator has disabled the partner API for your organisation. Nothing was changed; the console is read-only until it is enabled.',
    )
  }
}

/** Reads `x-dry-run`: the request is validated and gets the usual response, but nothing is stored. */
function readDryRun(_context: Context, request: FastifyRequest, reply: FastifyReply, route: FastifyContextConfig) {
  if (request.headers['x-dry-run'] !== 'true') return
  if (route.idempotent === undefined) {
    throw invalid([{ path: 'headers.x-dry-run', message: 'is not supported for this request' }])
  }
  request.caller.dryRun = true
  reply.header('x-dry-run', 'true')
}

function requireIdempotencyKeyUnlessDryRun(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  route: FastifyContextConfig,
) {
  if (request.caller?.dryRun) return undefined
  return requireIdempotencyKey(context, request, reply, route)
}
