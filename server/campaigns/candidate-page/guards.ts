import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { servicePausedProblem } from '../../access/service-switch.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { formatSeconds } from '../../platform/clock.ts'
import { checkBodyOfRejectedCaller, hasBody } from '../../platform/http/body.ts'
import { hashToken } from '../../platform/token-hash.ts'
import type { Candidacy } from '../candidacy.ts'

const ADDRESS_RULE: Rule = { name: 'candidate-address', kind: 'fixed', limit: 600, seconds: 60 }
const TOKEN_RULE: Rule = { name: 'candidate-token', kind: 'tokens', limit: 20, seconds: 10 }
const UNKNOWN_TOKEN_RULE: Rule = { name: 'unknown-candidate-tokens', kind: 'fixed', limit: 60, seconds: 60 }

/** Authentication and rate limits of the candidate's page and its API. */
export function candidateGuards({ db, limits, clock, keyring }: Pick<Context, 'db' | 'limits' | 'clock' | 'keyring'>) {
  return {
    limitAddress: (request: FastifyRequest, reply: FastifyReply) =>
      enforceRateLimit(callerAddress(request.ip), [ADDRESS_RULE], reply),

    /**
     * Rejects an unknown token before the body is read, so that its sender cannot occupy a connection. Does nothing without a body: then
     * `authenticate` follows at once.
     */
    async requireKnownToken(request: FastifyRequest, reply: FastifyReply, maxBodyBytes: number): Promise<void> {
      if (!hasBody(request.raw) || (await findLink(tokenHashOf(request)))) return
      await checkBodyOfRejectedCaller(request.raw, maxBodyBytes)
      return rejectUnknownToken(request, reply)
    },

    /**
     * Returns the ID of the candidate whose link contains the token. Unknown tokens get a 404 response and a stricter rate limit.
     * While the organisation is paused, only requests for which `allowWhilePaused` is true are accepted.
     */
    async authenticate(
      request: FastifyRequest,
      reply: FastifyReply,
      { allowWhilePaused = false }: { allowWhilePaused?: boolean } = {},
    ): Promise<Candidacy['candidate_id']> {
      const tokenHash = tokenHashOf(request)
      await enforceRateLimit(tokenHash.toString('base64url'), [TOKEN_RULE], reply)
      const link = await findLink(tokenHash)
      if (!link) return rejectUnknownToken(request, reply)
      await keyring.refreshIfStale()
      if (!allowWhilePaused && keyring.isServicePaused(link.org_id)) throw servicePausedProblem()
      return link.candidate_id
    },
  }

  async function findLink(tokenHash: Buffer) {
    const { rows } = await sql<{ candidate_id: string; org_id: string }>`
      select candidate_id, org_id from candidates where token_hash = ${tokenHash}`.execute(db.queries)
    return rows[0]
  }

  async function rejectUnknownToken(request: FastifyRequest, reply: FastifyReply): Promise<never> {
    await enforceRateLimit(callerAddress(request.ip), [UNKNOWN_TOKEN_RULE], reply)
    throw problem('NOT_FOUND', 'This link is not valid.')
  }

  async function enforceRateLimit(caller: string, rules: Rule[], reply: FastifyReply) {
    const { rejectedBy, retryAfter } = await limits.limiter.take(caller, rules, clock.now())
    if (rejectedBy === undefined) return
    reply.header('retry-after', retryAfter)
    throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
  }
}

function tokenHashOf({ params }: FastifyRequest): Buffer {
  return hashToken((params as { token: string }).token)
}
