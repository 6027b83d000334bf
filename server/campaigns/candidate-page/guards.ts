import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { seconds } from '../../platform/clock.ts'
import type { Candidacy } from '../candidacy.ts'
import { hashToken } from '../enrolment.ts'

const ADDRESS: Rule = { name: 'candidate-address', kind: 'fixed', limit: 600, seconds: 60 }
const TOKEN: Rule = { name: 'candidate-token', kind: 'tokens', limit: 20, seconds: 10 }
const UNKNOWN: Rule = { name: 'unknown-candidate-tokens', kind: 'fixed', limit: 60, seconds: 60 }

/** Lets in whoever has a candidate's link, for the page and for the calls that it makes. */
export function openDoor({ db, limits, clock }: Context) {
  return {
    chargeAddress: (request: FastifyRequest, reply: FastifyReply) =>
      charge(callerAddress(request.ip), [ADDRESS], reply),

    /** Whose link it is. A token that nobody has is answered like any other wrong path, and may not be tried at will. */
    async admit(request: FastifyRequest, reply: FastifyReply): Promise<Candidacy['candidate_id']> {
      const { token } = request.params as { token: string }
      const hash = hashToken(token)
      await charge(hash.toString('base64url'), [TOKEN], reply)
      const { rows } = await sql<{ candidate_id: string }>`
        select candidate_id from candidates where token_hash = ${hash}`.execute(db.queries)
      if (rows[0]) return rows[0].candidate_id
      await charge(callerAddress(request.ip), [UNKNOWN], reply)
      throw problem('NOT_FOUND', 'This link is not valid.')
    },
  }

  async function charge(caller: string, rules: Rule[], reply: FastifyReply) {
    const { refused, retryAfter } = await limits.limiter.take(caller, rules, clock.now())
    if (refused === undefined) return
    reply.header('retry-after', retryAfter)
    throw problem('RATE_LIMITED', `Too many requests; try again in ${seconds(retryAfter)}.`, { retryAfter })
  }
}
