import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import type { Tx } from '../../platform/database/database.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { recordAuditEntry } from '../audit.ts'
import { findLanguage } from './account-language.ts'
import { readSessionCookie, setSessionCookie } from './cookies.ts'
import { sourceOf } from './guards.ts'
import { recordSignIn } from './members.ts'
import { recordOperatorSignIn } from './operators.ts'
import { createSession, endSession, findSession, type SessionProvider, type SignedInSession } from './sessions.ts'

export interface SignInOptions {
  email: string
  /** How the person was authenticated, for the audit log. */
  how: 'link' | 'passkey' | 'identity_provider'
  provider?: SessionProvider
  /** Time of the authentication in epoch milliseconds, null if it is unknown. Default: now. */
  confirmedAt?: number | null
  /** Hash of the token of the previous session, if the request does not have its cookie. */
  previousSession?: Buffer | undefined
}

/** Signs a person in. Always creates a new session, which prevents session fixation. */
export async function beginSession(
  tx: Tx,
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { email, how, provider, confirmedAt, previousSession }: SignInOptions,
): Promise<SignedInSession> {
  const { clock } = context
  const previousToken = readSessionCookie(context, request)
  if (previousToken) await endSession(tx, hashToken(previousToken))
  if (previousSession) await endSession(tx, previousSession)
  const source = sourceOf(request)
  const token = await createSession(tx, context, { email, source, providerId: provider?.providerId, confirmedAt })
  const session = (await findSession(tx, context, token))!
  if (provider?.orgId !== null) {
    // A session with a provider has no access to the person's other organisations.
    const language = provider ? null : await findLanguage(tx, email)
    await recordSignIn(tx, clock, { email, orgId: provider?.orgId, language })
  }
  if (session.isOperator) await recordOperatorSignIn(tx, clock, email)
  await recordAuditEntry(tx, clock, {
    who: email,
    actor: session.isOperator ? 'operator' : 'member',
    orgId: provider?.orgId ?? undefined,
    action: 'session.begin',
    subject: session.sessionId,
    details: { how, ...(provider ? { provider_id: provider.providerId } : {}) },
    requestId: request.id,
    source,
  })
  setSessionCookie(context, request, reply, token)
  return session
}
