import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { allScopes } from '../../access/scopes.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { EventTypeSchema } from '../../events/schema.ts'
import { eventTypes } from '../../events/types.ts'
import type { Tx } from '../../platform/database/database.ts'
import { listOf, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { secretsEqual } from '../../platform/secret-comparison.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { recordAuditEntry } from '../audit.ts'
import { searchOrganisations } from '../operator/organisations.ts'
import { closed, EmailAddress, successResponse } from '../schema.ts'
import { clearSessionCookie, readSessionCookie, setSessionCookie } from './cookies.ts'
import { recordRequestAudit, tooManySignInsProblem } from './guards.ts'
import { listMemberships, recordSignIn } from './members.ts'
import { ScopeSchema, SessionRecord, SignInOptions } from './schema.ts'
import { createSession, endAllSessions, endSession, findSession, type SignedInSession } from './sessions.ts'
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

export function sessionRoutes(app: App, context: Context): void {
  const { db, config, adminKey, limits, clock } = context
  const publicConfig = { role: 'public' } as const
  const signedInConfig = { role: 'signed_in' } as const

  app.get('/sign-in', { config: publicConfig, schema: { response: { 200: success(SignInOptions) } } }, async () =>
    successResponse('Sign-in options', {
      mails: context.smtp ? ('sent' as const) : ('kept' as const),
      first_start: config.databaseUrl === undefined,
    }),
  )

  app.post(
    '/sign-in/operator',
    {
      config: { ...publicConfig, visitorLimit: SIGN_IN_ATTEMPTS_PER_VISITOR },
      schema: {
        body: Type.Object({ admin_key: Type.String({ maxLength: 1000 }) }, closed),
        response: { 200: success(SessionRecord) },
      },
    },
    async (request, reply) => {
      if (!secretsEqual(request.body.admin_key, adminKey)) throw problem('UNAUTHORIZED', 'The admin key is wrong.')
      return db.transaction((tx) => signIn(tx, request, reply, null, 'admin key'))
    },
  )

  app.post(
    '/sign-in/mail',
    {
      config: { ...publicConfig, visitorLimit: EMAILS_PER_VISITOR },
      schema: { body: Type.Object({ email: EmailAddress }, closed) },
    },
    async (request, reply) => {
      const { email } = request.body
      const addressHash = hashToken(email.toLowerCase()).toString('base64url')
      const { rejectedBy, retryAfter } = await limits.limiter.take(addressHash, [EMAILS_PER_ADDRESS], clock.now())
      if (rejectedBy !== undefined) throw tooManySignInsProblem(retryAfter)
      await db.transaction((tx) => context.queue.enqueue(tx, emailSignInLink, { email }))
      reply.status(202)
      return successResponse('If a member has this email address, a sign-in link was sent to it.', {})
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
      return db.transaction(async (tx) => {
        const link = await consumeSignInLink(tx, context.clock, request.body.token)
        if (!link)
          throw problem(
            'UNAUTHORIZED',
            'This sign-in link is invalid, has expired or was already used. Request a new link; the operator signs in with the admin key.',
          )
        if (link.email !== null && (await listMemberships(tx, link.email)).length === 0) {
          throw problem(
            'UNAUTHORIZED',
            'You are no longer a member of any organisation. Ask an owner of your organisation to add you again.',
          )
        }
        return signIn(tx, request, reply, link.email, 'link')
      })
    },
  )

  app.get(
    '/session',
    { config: signedInConfig, schema: { response: { 200: success(SessionRecord) } } },
    async ({ session }) => sessionResponse(session),
  )

  app.post('/sign-out', { config: signedInConfig }, async (request, reply) => {
    await db.transaction((tx) => endSession(tx, request.session.tokenHash))
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

  /** Always creates a new session, which prevents session fixation. */
  async function signIn(tx: Tx, request: FastifyRequest, reply: FastifyReply, email: string | null, method: string) {
    const previousToken = readSessionCookie(context, request)
    if (previousToken) await endSession(tx, hashToken(previousToken))
    const token = await createSession(tx, context, email)
    if (email !== null) await recordSignIn(tx, context.clock, email)
    const entry = { who: email ?? 'operator', action: 'session.begin', details: { how: method }, requestId: request.id }
    await recordAuditEntry(tx, context.clock, entry)
    setSessionCookie(context, request, reply, token)
    return sessionResponse((await findSession(tx, context, token))!, tx)
  }

  async function sessionResponse(
    { email, csrf, expiresAt }: SignedInSession,
    queries: Tx | Context['db']['queries'] = db.queries,
  ) {
    const organisations =
      email === null
        ? (await searchOrganisations(queries, { limit: 100 })).map(({ org_id, name, service_off }) => {
            return { org_id, name, role: 'operator' as const, service_off }
          })
        : (await listMemberships(queries, email)).map(({ email: _, ...organisation }) => organisation)
    return successResponse('Session', {
      kind: email === null ? ('operator' as const) : ('person' as const),
      email,
      csrf,
      expires_at: new Date(expiresAt).toISOString(),
      organisations,
    })
  }
}
