import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { scopes } from '../../access/scopes.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { eventTypes } from '../../events/types.ts'
import { seconds } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import type { App } from '../../platform/http/server.ts'
import { recordChange } from '../audit.ts'
import { newestOrganisations } from '../operator/organisations.ts'
import { answer, closed, Mail } from '../schema.ts'
import { clearCookie, readCookie, setCookie } from './cookies.ts'
import { noteChange } from './guards.ts'
import { membershipsOf, noteSignIn } from './members.ts'
import { endSession, endSessionsOf, findSession, hashToken, isSame, openSession, type Session } from './sessions.ts'
import { mailSignInLink } from './sign-in-emails.ts'
import { takeLink } from './sign-in-links.ts'

/** Attempts to sign in, right or wrong; the second and third bound the mails that one address, or one visitor, can cause. */
const ATTEMPTS: Rule = { name: 'console-sign-in', kind: 'fixed', limit: 20, seconds: 300, listed: true }
const MAILS_FROM: Rule = { name: 'console-mails-from', kind: 'fixed', limit: 10, seconds: 900, listed: true }
const MAILS_TO: Rule = { name: 'console-mails-to', kind: 'fixed', limit: 3, seconds: 900 }

export function sessionRoutes(app: App, context: Context): void {
  const { db, config, adminKey } = context
  const anybody = { role: 'anybody' } as const
  const signedIn = { role: 'signed_in' } as const

  app.get('/sign-in', { config: anybody }, async () =>
    answer('How to sign in', {
      mails: context.postOffice ? 'sent' : 'kept',
      first_start: config.databaseUrl === undefined,
    }),
  )

  app.post(
    '/sign-in/operator',
    { config: anybody, schema: { body: Type.Object({ admin_key: Type.String({ maxLength: 1000 }) }, closed) } },
    async (request, reply) => {
      await allow(callerAddress(request.ip), ATTEMPTS)
      if (!isSame(request.body.admin_key, adminKey)) throw problem('UNAUTHORIZED', 'This is not the admin key.')
      return db.transaction((tx) => signIn(tx, request, reply, null, 'admin key'))
    },
  )

  app.post(
    '/sign-in/mail',
    { config: anybody, schema: { body: Type.Object({ email: Mail }, closed) } },
    async (request, reply) => {
      const { email } = request.body
      await allow(callerAddress(request.ip), MAILS_FROM)
      await allow(hashToken(email.toLowerCase()).toString('base64url'), MAILS_TO)
      await db.transaction((tx) => context.queue.enqueue(tx, mailSignInLink, { email }))
      reply.status(202)
      return answer('If this address is known here, a link is on its way to it.', {})
    },
  )

  app.post(
    '/sign-in/link',
    { config: anybody, schema: { body: Type.Object({ token: Type.String({ maxLength: 200 }) }, closed) } },
    async (request, reply) => {
      await allow(callerAddress(request.ip), ATTEMPTS)
      return db.transaction(async (tx) => {
        const found = await takeLink(tx, context.clock, request.body.token)
        if (!found)
          throw problem(
            'UNAUTHORIZED',
            'This link was used already, or its time is over. Ask for a new one; the operator signs in with the admin key.',
          )
        if (found.email !== null && (await membershipsOf(tx, found.email)).length === 0) {
          throw problem('UNAUTHORIZED', 'You do not belong to an organisation here any more.')
        }
        return signIn(tx, request, reply, found.email, 'link')
      })
    },
  )

  app.get('/session', { config: signedIn }, async ({ session }) => sessionAnswer(session))

  app.post('/sign-out', { config: signedIn }, async (request, reply) => {
    await db.transaction((tx) => endSession(tx, request.session.tokenHash))
    clearCookie(context, request, reply)
    return answer('Signed out', {})
  })

  app.post('/sign-out/everywhere', { config: signedIn }, async (request, reply) => {
    const { session } = request
    await db.transaction(async (tx) => {
      await endSessionsOf(tx, session.email)
      await noteChange(tx, context, request, 'session.end_all')
    })
    clearCookie(context, request, reply)
    return answer('Signed out everywhere', {})
  })

  app.get('/scopes', { config: signedIn }, async () => answer('Scopes', { items: [...scopes], next_cursor: null }))

  app.get('/event-types', { config: signedIn }, async () =>
    answer('Types of events', { items: [...eventTypes], next_cursor: null }),
  )

  /** Always a new session: one that somebody slipped to the browser beforehand never becomes theirs. */
  async function signIn(tx: Tx, request: FastifyRequest, reply: FastifyReply, email: string | null, how: string) {
    const before = readCookie(context, request)
    if (before) await endSession(tx, hashToken(before))
    const token = await openSession(tx, context, email)
    if (email !== null) await noteSignIn(tx, context.clock, email)
    const change = { who: email ?? 'operator', action: 'session.begin', details: { how }, requestId: request.id }
    await recordChange(tx, context.clock, change)
    setCookie(context, request, reply, token)
    return sessionAnswer((await findSession(tx, context, token))!, tx)
  }

  async function sessionAnswer(
    { email, csrf, expiresAt }: Session,
    queries: Tx | Context['db']['queries'] = db.queries,
  ) {
    const organisations =
      email === null
        ? (await newestOrganisations(queries, { limit: 100 })).map(({ org_id, name, service_off }) => {
            return { org_id, name, role: 'operator' as const, service_off }
          })
        : (await membershipsOf(queries, email)).map(({ email: _own, ...organisation }) => organisation)
    return answer('Session', {
      kind: email === null ? 'operator' : 'person',
      email,
      csrf,
      expires_at: new Date(expiresAt).toISOString(),
      organisations,
    })
  }

  async function allow(who: string, rule: Rule) {
    const { refused, retryAfter } = await context.limits.limiter.take(who, [rule], context.clock.now())
    if (refused === undefined) return
    throw problem('RATE_LIMITED', `Too many attempts; try again in ${seconds(retryAfter)}.`, { retryAfter })
  }
}
