import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { formatSeconds } from '../../platform/clock.ts'
import { hashToken } from '../../platform/token-hash.ts'
import type { Candidacy } from '../candidacy.ts'

const PER_ADDRESS: Rule = { name: 'candidate-address', kind: 'fixed', limit: 600, seconds: 60 }
const PER_TOKEN: Rule = { name: 'candidate-token', kind: 'tokens', limit: 20, seconds: 10 }
const UNKNOWN_TOKENS: Rule = { name: 'unknown-candidate-tokens', kind: 'fixed', limit: 60, seconds: 60 }

/** Authentication and rate limits of the candidate's page and its API. */
export function candidateGuards({ db, limits, clock }: Pick<Context, 'db' | 'limits' | 'clock'>) {
  return {
    limitAddress: (request: FastifyRequest, reply: FastifyReply) =>
      enforce(callerAddress(request.ip), [PER_ADDRESS], reply),

    /** Returns the candidate of the token. Unknown tokens get a 404 response and a stricter rate limit. */
    async authenticate(request: FastifyRequest, reply: FastifyReply): Promise<Candidacy['candidate_id']> {
      const { token } = request.params as { token: string }
      const hash = hashToken(token)
      await enforce(hash.toString('base64url'), [PER_TOKEN], reply)
      const { rows } = await sql<{ candidate_id: string }>`
        select candidate_id from candidates where token_hash = ${hash}`.execute(db.queries)
      if (rows[0]) return rows[0].candidate_id
      await enforce(callerAddress(request.ip), [UNKNOWN_TOKENS], reply)
      throw problem('NOT_FOUND', 'This link is not valid.')
    },
  }

  async function enforce(caller: string, rules: Rule[], reply: FastifyReply) {
    const { rejectedBy, retryAfter } = await limits.limiter.take(caller, rules, clock.now())
    if (rejectedBy === undefined) return
    reply.header('retry-after', retryAfter)
    throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
  }
}
