import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { servicePausedProblem } from '../../access/service-switch.ts'
import { Problem, problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { findOpenedPage, pageEnd } from '../../embeds/embed-sessions.ts'
import { getPrivacySettings } from '../../notices/settings.ts'
import { DAY, formatSeconds } from '../../platform/clock.ts'
import { checkBodyOfRejectedCaller, hasBody } from '../../platform/http/body.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { findClock } from '../../test-clocks/test-clocks.ts'
import type { Candidacy } from '../candidacy.ts'

const ADDRESS_RULE: Rule = { name: 'candidate-address', kind: 'fixed', limit: 600, seconds: 60 }
const TOKEN_RULE: Rule = { name: 'candidate-token', kind: 'tokens', limit: 20, seconds: 10 }
const UNKNOWN_TOKEN_RULE: Rule = { name: 'unknown-candidate-tokens', kind: 'fixed', limit: 60, seconds: 60 }

/** A link that was valid and shows nothing any more: the campaign or the embedded page has ended, or the data of the person was erased. */
export class EndedLinkProblem extends Problem {
  readonly reason: 'expired' | 'gone'

  constructor(reason: 'expired' | 'gone', expiryMessage = 'This link has expired, because the campaign has ended.') {
    super('LINK_EXPIRED', reason === 'gone' ? 'The data of this link was erased.' : expiryMessage)
    this.reason = reason
  }
}

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
      if (!hasBody(request.raw) || (await findLink(tokenOf(request)))) return
      await checkBodyOfRejectedCaller(request.raw, maxBodyBytes)
      return rejectUnknownToken(request, reply)
    },

    /**
     * Returns the ID of the candidate whose link or embedded page has the token. Unknown tokens get a 404 response and a stricter rate limit.
     * Links whose campaign has ended, or whose person was erased, get a 410 response. While the organisation is paused, only requests for which `allowWhilePaused` is true are accepted: opt-outs, which also work with an expired link. With `linkOnly`, tokens of embedded pages are unknown.
     */
    async authenticate(
      request: FastifyRequest,
      reply: FastifyReply,
      { allowWhilePaused = false, linkOnly = false }: { allowWhilePaused?: boolean; linkOnly?: boolean } = {},
    ): Promise<Candidacy['candidate_id']> {
      const token = tokenOf(request)
      await enforceRateLimit(hashToken(token).toString('base64url'), [TOKEN_RULE], reply)
      const link = await findLink(token)
      if (!link || (linkOnly && link.page)) return rejectUnknownToken(request, reply)
      if (link.is_erased) throw new EndedLinkProblem('gone')
      if (link.page && pageEnd(link.page, clock) !== undefined)
        throw new EndedLinkProblem('expired', 'This embedded page has ended. Reload the page that contains it.')
      if (!allowWhilePaused && (await hasExpired(link))) throw new EndedLinkProblem('expired')
      await keyring.refreshIfStale()
      if (!allowWhilePaused && keyring.isServicePaused(link.org_id)) throw servicePausedProblem()
      return link.candidate_id
    },
  }

  async function findLink(token: string) {
    const page = await findOpenedPage(db.queries, 'candidate', token)
    const condition = page ? sql`c.candidate_id = ${page.target_id}` : sql`c.token_hash = ${hashToken(token)}`
    const { rows } = await sql<Link>`
      select c.candidate_id, c.org_id, o.erased_at is not null as is_erased, g.hold, g.completed_at, g.test_clock_id
      from candidates c join campaigns g using (campaign_id) left join people o on o.person_id = c.person_id
      where ${condition}`.execute(db.queries)
    return rows[0] && { ...rows[0], page }
  }

  /** Returns whether the campaign of a link was archived, or was completed some time ago. */
  async function hasExpired({ org_id, hold, completed_at, test_clock_id }: Link): Promise<boolean> {
    if (hold === 'archived') return true
    if (completed_at === null) return false
    const { link_days: linkDays } = await getPrivacySettings(db.queries, org_id)
    return (await findClock(db.queries, clock, test_clock_id)).now() >= completed_at.getTime() + linkDays * DAY
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

interface Link {
  candidate_id: string
  org_id: string
  is_erased: boolean
  hold: 'paused' | 'archived' | null
  completed_at: Date | null
  test_clock_id: string | null
}

function tokenOf({ params }: FastifyRequest): string {
  return (params as { token: string }).token
}
