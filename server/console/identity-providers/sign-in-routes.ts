import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { beginSession } from '../auth/begin-session.ts'
import { readSessionCookie } from '../auth/cookies.ts'
import { sourceOf } from '../auth/guards.ts'
import { successResponse } from '../schema.ts'
import { findProvider } from './identity-providers.ts'
import { callbackName } from './paths.ts'
import { acceptProviderAccount, type SignInFailure, SignInRejectedError } from './provider-accounts.ts'
import { ProviderRedirect, ProviderSignIn } from './schema.ts'
import { describeProviderError, finishSignIn, startSignIn } from './sign-in.ts'
import { type SignInAttempt, storeAttempt, takeAttempt } from './sign-in-attempts.ts'

const STARTS_PER_VISITOR: Rule = {
  name: 'console-provider-starts',
  kind: 'fixed',
  limit: 30,
  seconds: 300,
  listed: true,
}
const CALLBACKS_PER_VISITOR: Rule = { ...STARTS_PER_VISITOR, name: 'console-provider-callbacks' }

/** Routes for the sign-in with an identity provider. */
export function providerSignInRoutes(app: App, context: Context): void {
  const { db, config, log } = context
  const publicConfig = { role: 'public' } as const

  app.post(
    '/sign-in/provider',
    {
      config: { ...publicConfig, visitorLimit: STARTS_PER_VISITOR },
      schema: { body: ProviderSignIn, response: { 200: success(ProviderRedirect) } },
    },
    async (request, reply) => {
      const { provider_id, return_to, fresh = false } = request.body
      const provider = await findProvider(db.queries, provider_id)
      if (!provider) throw problem('NOT_FOUND', `Identity provider ${provider_id} not found.`)
      const token = readSessionCookie(context, request)
      const { url, attempt } = await startSignIn(context, provider, {
        returnTo: consolePath(return_to),
        fresh,
        previousSession: token && hashToken(token).toString('base64url'),
      }).catch((error) => {
        log.warn({ providerId: provider_id, reason: describeProviderError(error) }, 'identity provider failed')
        throw problem(
          'IDENTITY_PROVIDER_FAILED',
          `${provider.name} cannot be used at the moment. Try again later, or sign in by email.`,
        )
      })
      storeAttempt(context, request, reply, attempt)
      return successResponse('Open the page of the identity provider', { url })
    },
  )

  app.get(
    '/sign-in/callback/:name',
    {
      config: { ...publicConfig, visitorLimit: CALLBACKS_PER_VISITOR },
      schema: { params: Type.Object({ name: Type.String({ maxLength: 60 }) }) },
    },
    async (request, reply) => {
      const query = request.raw.url!.split('?')[1] ?? ''
      const state = new URLSearchParams(query).get('state') ?? undefined
      const attempt = takeAttempt(context, request, reply, state)
      // The URL of this request contains the authorization code, which must not be sent in a Referer header or cached.
      reply.header('referrer-policy', 'no-referrer').header('cache-control', 'no-store')
      if (!attempt) return redirectToSignIn(reply, 'expired')
      try {
        await finish(request, reply, attempt, { name: request.params.name, query })
      } catch (error) {
        if (!(error instanceof SignInRejectedError)) throw error
        const { failure, email, cause } = error
        const reason = cause === undefined ? failure : `${failure}: ${describeProviderError(cause)}`
        log.warn({ providerId: attempt.providerId, reason }, 'sign-in with an identity provider failed')
        const provider = await findProvider(db.queries, attempt.providerId)
        await context.audit.recordFailure({
          action: 'session.fail',
          reason,
          email,
          orgId: provider?.org_id ?? undefined,
          source: sourceOf(request),
          requestId: request.id,
        })
        return redirectToSignIn(reply, failure, provider?.org_id)
      }
      return reply.redirect(config.publicUrl + attempt.returnTo, 303)
    },
  )

  async function finish(
    request: FastifyRequest,
    reply: FastifyReply,
    attempt: SignInAttempt,
    { name, query }: { name: string; query: string },
  ) {
    const provider = await findProvider(db.queries, attempt.providerId)
    if (!provider) throw new SignInRejectedError('expired')
    // The code may be for another provider, and must not be sent to this one.
    if (name !== callbackName(provider.org_id)) {
      const rejection = new SignInRejectedError('other_provider')
      rejection.cause = new Error(`the response came to the redirect URI of ${name}`)
      throw rejection
    }
    const { claims, authenticatedAt } = await finishSignIn(context, provider, attempt, query)
    await db.transaction(async (tx) => {
      const email = await acceptProviderAccount(tx, context, provider, claims, { requestId: request.id })
      await beginSession(tx, context, request, reply, {
        email,
        how: 'identity_provider',
        provider: { providerId: provider.provider_id, name: provider.name, orgId: provider.org_id },
        confirmedAt: authenticatedAt,
        previousSession: attempt.previousSession ? Buffer.from(attempt.previousSession, 'base64url') : undefined,
      })
    })
  }

  /** The fragment has only the name of the failure, so that a link cannot show other texts on the sign-in page. */
  function redirectToSignIn(reply: FastifyReply, failure: SignInFailure, orgId?: string | null) {
    const query = orgId ? `?org=${orgId}` : ''
    return reply.redirect(`${config.publicUrl}/console/sign-in${query}#failure=${failure}`, 303)
  }
}

/** Returns the path if it is one of the console's pages, or the start page. */
function consolePath(path: string | undefined): string {
  const base = 'http://console.invalid'
  const url = path === undefined ? null : URL.parse(path, base)
  const isPage =
    url?.origin === base && /^\/console(\/|$)/.test(url.pathname) && !/^\/console\/(api|sign-in)/.test(url.pathname)
  return isPage ? url.pathname + url.search : '/console'
}
