import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { allScopes } from '../../access/scopes.ts'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { EventTypeSchema } from '../../events/schema.ts'
import { eventTypes } from '../../events/types.ts'
import { pageLanguageOf } from '../../mail/unsubscribe-texts.ts'
import type { Tx } from '../../platform/database/database.ts'
import { listOf, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { findProvider, findProviderOf } from '../identity-providers/identity-providers.ts'
import { signOutUrl } from '../identity-providers/sign-out.ts'
import { closed, EmailAddress, successResponse } from '../schema.ts'
import { findAuthenticatorApp, useSecondFactorCode } from '../second-factors/authenticator-apps.ts'
import { relyingParty } from '../second-factors/passkeys.ts'
import { saveLanguage } from './account-language.ts'
import { beginSession } from './begin-session.ts'
import { confirmWithCode, sendConfirmationCode } from './confirmation-codes.ts'
import { hasConsoleAccess } from './console-access.ts'
import { clearSessionCookie } from './cookies.ts'
import { recordRequestAudit, sourceOf, tooManySignInsProblem } from './guards.ts'
import { MemberName, parseMemberName, renamePerson } from './member-names.ts'
import {
  AccountLanguageSchema,
  OwnSession,
  ScopeSchema,
  SessionParam,
  SessionRecord,
  SignedOut,
  SignInOptions,
} from './schema.ts'
import { sessionResponse } from './session-response.ts'
import {
  confirmSession,
  endAllSessions,
  endOwnSession,
  endSession,
  listSessions,
  ownSessionFilter,
  type SignedInSession,
  sessionRecord,
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
/** Codes of authenticator apps have six digits: without a limit, they could be guessed. */
const SECOND_FACTOR_ATTEMPTS: Rule = { name: 'console-second-factor', kind: 'fixed', limit: 10, seconds: 900 }

/** Rolls back a sign-in by link with a wrong code of the authenticator app. */
class WrongCodeError extends Error {
  readonly email: string
  constructor(email: string) {
    super('wrong second factor code')
    this.email = email
  }
}

export function sessionRoutes(app: App, context: Context): void {
  const { db, config, limits, clock } = context
  const publicConfig = { role: 'public' } as const
  const signedInConfig = { role: 'signed_in' } as const

  app.get(
    '/sign-in',
    {
      config: publicConfig,
      schema: {
        querystring: Type.Object({ org: Type.Optional(Type.String({ maxLength: 60 })) }),
        response: { 200: success(SignInOptions) },
      },
    },
    async ({ query }) => {
      const providers = [
        query.org === undefined ? undefined : await findProviderOf(db.queries, query.org),
        await findProviderOf(db.queries, null),
      ].filter((provider) => provider !== undefined)
      return successResponse('Sign-in options', {
        mails: context.smtp ? ('sent' as const) : ('kept' as const),
        first_start: config.databaseUrl === undefined,
        passkeys: relyingParty(config) !== undefined,
        providers: providers.map(({ provider_id, name, org_id }) => ({
          provider_id,
          name,
          for_operators: org_id === null,
        })),
      })
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
      await limitByAddress(email, EMAILS_PER_ADDRESS)
      const job = { email, language: pageLanguageOf(request), source: sourceOf(request), requestId: request.id }
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
        body: Type.Object(
          { token: Type.String({ maxLength: 200 }), code: Type.Optional(Type.String({ maxLength: 40 })) },
          closed,
        ),
        response: { 200: success(SessionRecord) },
      },
    },
    async (request, reply) => {
      const { email, response } = await db
        .transaction(async (tx) => {
          const linkEmail = await consumeSignInLink(tx, clock, request.body.token)
          if (linkEmail === undefined || !(await hasConsoleAccess(tx, linkEmail))) return { email: linkEmail }
          const isCodeValid = await checkSecondFactor(tx, linkEmail, request.body.code)
          if (!isCodeValid) throw new WrongCodeError(linkEmail) // keeps the link valid
          const session = await beginSession(tx, context, request, reply, { email: linkEmail, how: 'link' })
          return { email: linkEmail, response: await sessionResponse(context, session, tx) }
        })
        .catch(async (error) => {
          if (!(error instanceof WrongCodeError)) throw error
          await recordFailedSignIn(request, 'wrong second factor code', error.email)
          throw invalid([{ path: 'code', message: 'is wrong or was already used' }])
        })
      if (response) return response
      await recordFailedSignIn(request, email === undefined ? 'invalid link' : 'no access', email)
      throw problem(
        'UNAUTHORIZED',
        email === undefined
          ? 'This sign-in link is invalid, has expired or was already used. Request a new link.'
          : 'You are not a member of any organisation. Ask an owner of your organisation to add you again. If you are an operator, sign in with the identity provider.',
      )
    },
  )

  app.post('/confirmation/mail', { config: signedInConfig }, async (request, reply) => {
    // Checked first: a session with a provider must not learn whether the owner of the address has an app.
    if (request.session.provider)
      throw problem('CONFLICT', 'You signed in with an identity provider. To confirm a change, sign in with it again.')
    if (await findAuthenticatorApp(db.queries, request.session.email))
      throw problem('CONFLICT', 'You have an authenticator app. To confirm a change, enter its code.')
    await limitByAddress(request.session.email, CODES_PER_ADDRESS)
    await db.transaction((tx) => sendConfirmationCode(tx, context, request.session, pageLanguageOf(request)))
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
      if (!(await confirmWithAnyCode(session, body.code))) {
        await context.audit.recordFailure({
          action: 'session.confirm_fail',
          reason: 'wrong or expired code',
          email: session.email,
          source: sourceOf(request),
          requestId: request.id,
        })
        throw invalid([{ path: 'code', message: 'is wrong or has expired' }])
      }
      await db.transaction((tx) => recordRequestAudit(tx, context, request, 'session.confirm'))
      return sessionResponse(context, session)
    },
  )

  app.get(
    '/sessions',
    { config: signedInConfig, schema: { response: { 200: success(listOf(OwnSession)) } } },
    async ({ session }) => {
      const sessions = await listSessions(db.queries, clock, session.email, ownSessionFilter(session))
      const items = sessions.map((listed) => ({
        ...sessionRecord(listed),
        current: listed.session_id === session.sessionId,
      }))
      return successResponse('Sessions', { items, next_cursor: null })
    },
  )

  app.delete(
    '/sessions/:session_id',
    {
      config: signedInConfig,
      schema: { params: Type.Object({ session_id: SessionParam }) },
    },
    async (request, reply) => {
      const { session } = request
      const { session_id } = request.params
      await db.transaction(async (tx) => {
        if (!(await endOwnSession(tx, session.email, session_id, ownSessionFilter(session))))
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
    async ({ session }) => sessionResponse(context, session),
  )

  app.put(
    '/account/name',
    {
      config: signedInConfig,
      schema: {
        body: Type.Object({ name: Type.Union([MemberName, Type.Null()]) }, closed),
        response: { 200: success(SessionRecord) },
      },
    },
    async (request) => {
      const { session, body } = request
      const { provider } = session
      if (provider?.orgId === null) throw problem('CONFLICT', 'Operators have no names.')
      const name = body.name === null ? null : parseMemberName(body.name)
      await db.transaction(async (tx) => {
        const renamedCount = await renamePerson(tx, session.email, name, provider?.orgId ?? undefined)
        if (renamedCount === 0) throw problem('CONFLICT', 'You are not a member of any organisation.')
        await recordRequestAudit(tx, context, request, 'member.name')
      })
      return sessionResponse(context, session)
    },
  )

  app.put(
    '/account/language',
    {
      config: signedInConfig,
      schema: {
        body: Type.Object({ language: AccountLanguageSchema }, closed),
        response: { 200: success(SessionRecord) },
      },
    },
    async ({ session, body }) => {
      await db.transaction((tx) => saveLanguage(tx, session, body.language))
      return sessionResponse(context, session)
    },
  )

  app.post(
    '/sign-out',
    { config: signedInConfig, schema: { response: { 200: success(SignedOut) } } },
    async (request, reply) => {
      const { session } = request
      const provider = session.provider && (await findProvider(db.queries, session.provider.providerId))
      await db.transaction(async (tx) => {
        await endSession(tx, session.tokenHash)
        await recordRequestAudit(tx, context, request, 'session.end', session.sessionId)
      })
      clearSessionCookie(context, request, reply)
      return successResponse('Signed out', { provider_sign_out_url: provider ? signOutUrl(provider, config) : null })
    },
  )

  app.post('/sign-out/everywhere', { config: signedInConfig }, async (request, reply) => {
    const { session } = request
    await db.transaction(async (tx) => {
      await endAllSessions(tx, session.email, ownSessionFilter(session))
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

  /** Returns whether the code is one of the authenticator app or a recovery code, or the person has no app. */
  async function checkSecondFactor(tx: Tx, email: string, code: string | undefined): Promise<boolean> {
    if (!(await findAuthenticatorApp(tx, email))) return true
    if (code === undefined)
      throw problem('SECOND_FACTOR_REQUIRED', 'Enter the code of your authenticator app, or a recovery code.')
    await limitByAddress(email, SECOND_FACTOR_ATTEMPTS)
    return useSecondFactorCode(tx, context, email, code)
  }

  /** A person with an authenticator app confirms with it, others with an emailed code. */
  async function confirmWithAnyCode(session: SignedInSession, code: string): Promise<boolean> {
    if (session.provider) return false
    if (!(await findAuthenticatorApp(db.queries, session.email))) return confirmWithCode(context, session, code)
    await limitByAddress(session.email, SECOND_FACTOR_ATTEMPTS)
    return db.transaction(async (tx) => {
      if (!(await useSecondFactorCode(tx, context, session.email, code))) return false
      await confirmSession(tx, clock, session.tokenHash)
      return true
    })
  }

  async function limitByAddress(email: string, rule: Rule) {
    const addressHash = hashToken(email.toLowerCase()).toString('base64url')
    const { rejectedBy, retryAfter } = await limits.limiter.take(addressHash, [rule], clock.now())
    if (rejectedBy !== undefined) throw tooManySignInsProblem(retryAfter)
  }

  function recordFailedSignIn(request: FastifyRequest, reason: string, email?: string) {
    const source = sourceOf(request)
    return context.audit.recordFailure({ action: 'session.fail', reason, email, source, requestId: request.id })
  }
}
