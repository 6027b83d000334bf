import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { allScopes } from '../../access/scopes.ts'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { EventTypeSchema } from '../../events/schema.ts'
import { eventTypes } from '../../events/types.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { listOf, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { recordAuditEntry } from '../audit.ts'
import { searchOrganisations } from '../operator/organisations.ts'
import { closed, EmailAddress, successResponse } from '../schema.ts'
import { confirmWithCode, sendConfirmationCode } from './confirmation-codes.ts'
import { hasConsoleAccess } from './console-access.ts'
import { clearSessionCookie, readSessionCookie, setSessionCookie } from './cookies.ts'
import { recordRequestAudit, sourceOf, tooManySignInsProblem } from './guards.ts'
import { listMemberships, type Membership, recordSignIn } from './members.ts'
import { recordOperatorSignIn } from './operators.ts'
import { OwnSession, ScopeSchema, SessionRecord, SignInOptions } from './schema.ts'
import {
  createSession,
  endAllSessions,
  endOwnSession,
  endSession,
  findSession,
  listSessions,
  type SignedInSession,
} from './sessions.ts'
import { emailSignInLink } from './sign-in-emails.ts'
import { consumeSignInLink } from './sign-in-links.ts'

/** Limits of sign-in attempts, successful or not, and of sign-in emails per visitor and per email address. */
const SIGN_IN_ATTEMPTS_PER_VISITOR: Rule = {
  name: 'console-sign-in',
  kind: 'fixed',
  limit: 20,
  seconds: 300,
  listed: true,
}
const EMAILS_PER_VISITOR: Rule = { name: 'console-mails-from', kind: 'fixed', limit: 10, seconds: 900, listed: true }
const EMAILS_PER_ADDRESS: Rule = { name: 'console-mails-to', kind: 'fixed', limit: 3, seconds: 900 }
/** Counted separately: callers who are not signed in must not be able to use up the codes of a person. */
const CODES_PER_ADDRESS: Rule = { name: 'console-codes-to', kind: 'fixed', limit: 3, seconds: 900 }

export function sessionRoutes(app: App, context: Context): void {
  const { db, config, limits, clock, keyring } = context
  const publicConfig = { role: 'public' } as const
  const signedInConfig = { role: 'signed_in' } as const

  app.get('/sign-in', { config: publicConfig, schema: { response: { 200: success(SignInOptions) } } }, async () =>
    successResponse('Sign-in options', {
      mails: context.smtp ? ('sent' as const) : ('kept' as const),
      first_start: config.databaseUrl === undefined,
    }),
  )

  app.post(
    '/sign-in/mail',
    {
      config: { ...publicConfig, visitorLimit: EMAILS_PER_VISITOR },
      schema: { body: Type.Object({ email: EmailAddress }, closed) },
    },
    async (request, reply) => {
      const { email } = request.body
      await limitEmailsTo(email, EMAILS_PER_ADDRESS)
      const job = { email, source: sourceOf(request), requestId: request.id }
      await db.transaction((tx) => context.queue.enqueue(tx, emailSignInLink, job))
      reply.status(202)
      return successResponse('If a member or an operator has this email address, a sign-in link was sent to it.', {})
    },
  )

  app.post(
    '/sign-in/link',
    {
      config: { ...publicConfig, visitorLimit: SIGN_IN_ATTEMPTS_PER_VISITOR },
      schema: {
        body: Type.Object({ token: Type.String({ maxLength: 200 }) }, closed),
        response: { 200: success(SessionRecord) },
      },
    },
    async (request, reply) => {
      const { email, response } = await db.transaction(async (tx) => {
        const linkEmail = await consumeSignInLink(tx, clock, request.body.token)
        if (linkEmail === undefined || !(await hasConsoleAccess(tx, linkEmail))) return { email: linkEmail }
        return { email: linkEmail, response: await signIn(tx, request, reply, linkEmail) }
      })
      if (response) return response
      await recordFailedSignIn(request, email === undefined ? 'invalid link' : 'no access', email)
      throw problem(
        'UNAUTHORIZED',
        email === undefined
          ? 'This sign-in link is invalid, has expired or was already used. Request a new link.'
          : 'You are no longer a member of any organisation. Ask an owner of your organisation to add you again.',
      )
    },
  )

  app.post('/confirmation/mail', { config: signedInConfig }, async (request, reply) => {
    await limitEmailsTo(request.session.email, CODES_PER_ADDRESS)
    await db.transaction((tx) => sendConfirmationCode(tx, context, request.session))
    reply.status(202)
    return successResponse('A confirmation code was sent to your email address.', {})
  })

  // Pages call this before they start a download that requires a recent sign-in: a download cannot ask for the code.
  app.get('/confirmation', { config: { ...signedInConfig, recentSignIn: true } }, async () =>
    successResponse('You have signed in recently.', {}),
  )

  app.post(
    '/confirmation',
    {
      config: signedInConfig,
      schema: {
        body: Type.Object({ code: Type.String({ maxLength: 20 }) }, closed),
        response: { 200: success(SessionRecord) },
      },
    },
    async (request) => {
      const { session, body } = request
      if (!(await confirmWithCode(context, session, body.code))) {
        await context.audit.recordFailure({
          action: 'session.confirm_fail',
          reason: 'wrong or expired code',
          email: session.email,
          source: sourceOf(request),
          requestId: request.id,
        })
        throw invalid([{ path: 'code', message: 'is wrong or has expired; request a new code' }])
      }
      await db.transaction((tx) => recordRequestAudit(tx, context, request, 'session.confirm'))
      return sessionResponse(session)
    },
  )

  app.get(
    '/sessions',
    { config: signedInConfig, schema: { response: { 200: success(listOf(OwnSession)) } } },
    async ({ session }) => {
      const sessions = await listSessions(db.queries, clock, session.email)
      const items = sessions.map(({ created_at, seen_at, ...listed }) => ({
        ...listed,
        created_at: created_at.toISOString(),
        seen_at: seen_at.toISOString(),
        current: listed.session_id === session.sessionId,
      }))
      return successResponse('Sessions', { items, next_cursor: null })
    },
  )

  app.delete(
    '/sessions/:session_id',
    {
      config: signedInConfig,
      schema: { params: Type.Object({ session_id: Type.String({ pattern: '^CS_[A-Z0-9]{10,40}$' }) }) },
    },
    async (request, reply) => {
      const { session } = request
      const { session_id } = request.params
      await db.transaction(async (tx) => {
        if (!(await endOwnSession(tx, session.email, session_id)))
          throw problem('NOT_FOUND', `Session ${session_id} not found.`)
        await recordRequestAudit(tx, context, request, 'session.end', session_id)
      })
      if (session_id === session.sessionId) clearSessionCookie(context, request, reply)
      return successResponse('Session ended', {})
    },
  )

  app.get(
    '/session',
    { config: signedInConfig, schema: { response: { 200: success(SessionRecord) } } },
    async ({ session }) => sessionResponse(session),
  )

  app.post('/sign-out', { config: signedInConfig }, async (request, reply) => {
    await db.transaction(async (tx) => {
      await endSession(tx, request.session.tokenHash)
      await recordRequestAudit(tx, context, request, 'session.end', request.session.sessionId)
    })
    clearSessionCookie(context, request, reply)
    return successResponse('Signed out', {})
  })

  app.post('/sign-out/everywhere', { config: signedInConfig }, async (request, reply) => {
    const { session } = request
    await db.transaction(async (tx) => {
      await endAllSessions(tx, session.email)
      await recordRequestAudit(tx, context, request, 'session.end_all')
    })
    clearSessionCookie(context, request, reply)
    return successResponse('Signed out of all sessions', {})
  })

  app.get(
    '/scopes',
    { config: signedInConfig, schema: { response: { 200: success(listOf(ScopeSchema)) } } },
    async () => successResponse('Scopes', { items: [...allScopes], next_cursor: null }),
  )

  app.get(
    '/event-types',
    { config: signedInConfig, schema: { response: { 200: success(listOf(EventTypeSchema)) } } },
    async () => successResponse('Event types', { items: [...eventTypes], next_cursor: null }),
  )

  async function limitEmailsTo(email: string, rule: Rule) {
    const addressHash = hashToken(email.toLowerCase()).toString('base64url')
    const { rejectedBy, retryAfter } = await limits.limiter.take(addressHash, [rule], clock.now())
    if (rejectedBy !== undefined) throw tooManySignInsProblem(retryAfter)
  }

  function recordFailedSignIn(request: FastifyRequest, reason: string, email?: string) {
    const source = sourceOf(request)
    return context.audit.recordFailure({ action: 'session.fail', reason, email, source, requestId: request.id })
  }

  /** Always creates a new session, which prevents session fixation. */
  async function signIn(tx: Tx, request: FastifyRequest, reply: FastifyReply, email: string) {
    const previousToken = readSessionCookie(context, request)
    if (previousToken) await endSession(tx, hashToken(previousToken))
    const source = sourceOf(request)
    const token = await createSession(tx, context, email, source)
    await recordSignIn(tx, clock, email)
    await recordOperatorSignIn(tx, clock, email)
    const session = (await findSession(tx, context, token))!
    await recordAuditEntry(tx, clock, {
      who: email,
      actor: session.isOperator ? 'operator' : 'member',
      action: 'session.begin',
      subject: session.sessionId,
      details: { how: 'link' },
      requestId: request.id,
      source,
    })
    setSessionCookie(context, request, reply, token)
    return sessionResponse(session, tx)
  }

  async function sessionResponse(
    { email, isOperator, csrf, expiresAt }: SignedInSession,
    queries: Queries = db.queries,
  ) {
    const memberships = (await listMemberships(queries, email)).map(({ email: _, ...organisation }) => organisation)
    const organisations = isOperator ? await operatorOrganisations(queries, memberships) : memberships
    return successResponse('Session', {
      kind: isOperator ? ('operator' as const) : ('person' as const),
      email,
      csrf,
      expires_at: new Date(expiresAt).toISOString(),
      organisations: organisations.map((organisation) => ({
        ...organisation,
        service_off: keyring.isServiceDisabled(organisation.org_id),
        service_paused: keyring.isServicePaused(organisation.org_id),
      })),
    })
  }
}

/** The number of organisations in the session of an operator. */
const MAX_LISTED_ORGANISATIONS = 100

/** Returns the newest organisations, and those that the operator is a member of. */
async function operatorOrganisations(queries: Queries, memberships: Omit<Membership, 'email'>[]) {
  const newest = await searchOrganisations(queries, { limit: MAX_LISTED_ORGANISATIONS })
  const listedIds = new Set(newest.map(({ org_id }) => org_id))
  const others = memberships.filter(({ org_id }) => !listedIds.has(org_id))
  return [...newest, ...others].map(({ org_id, name }) => ({ org_id, name, role: 'operator' as const }))
}
