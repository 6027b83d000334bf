import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { servicePausedProblem } from '../../access/service-switch.ts'
import { Problem, problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { findOpenedPage, pageEnd } from '../../embeds/embed-sessions.ts'
import { formatSeconds } from '../../platform/clock.ts'
import { checkBodyOfRejectedCaller, hasBody } from '../../platform/http/body.ts'
import { hashToken } from '../../platform/token-hash.ts'
import type { Candidacy } from '../candidacy.ts'
import { type CampaignOfLink, hasLinkExpired } from './link-expiry.ts'

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
    /** Returns the link of the request, also if it has ended; undefined for unknown links and embedded pages. */
    async findEndedLink(request: FastifyRequest): Promise<Link | undefined> {
      const link = await findLink(tokenOf(request))
      return link?.page ? undefined : link
    },

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
     * Links whose campaign has ended, or whose person was erased, get a 410 response. While the organisation is paused, only requests for which `allowWhilePaused` is true are accepted: opt-outs, which also work with an expired link or embedded page. With `linkOnly`, tokens of embedded pages are unknown.
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
      const end = link.page && pageEnd(link.page, clock)
      if (link.page && (link.is_erased || end === 'erased'))
        throw problem('DATA_ERASED', 'The data of this person was erased.')
      if (link.is_erased) throw new EndedLinkProblem('gone')
      if (end === 'revoked' || (end === 'expired' && !allowWhilePaused))
        throw new EndedLinkProblem('expired', 'This embedded page has ended. Reload the page that contains it.')
      if (!allowWhilePaused && (await hasLinkExpired(db.queries, clock, link))) throw new EndedLinkProblem('expired')
      await keyring.refreshIfStale()
      if (!allowWhilePaused && keyring.isServicePaused(link.org_id)) throw servicePausedProblem()
      return link.candidate_id
    },
  }

  async function findLink(token: string): Promise<Link | undefined> {
    const page = await findOpenedPage(db.queries, 'candidate', token)
    const condition = page ? sql`c.candidate_id = ${page.target_id}` : sql`c.token_hash = ${hashToken(token)}`
    const { rows } = await sql<Omit<Link, 'page'>>`
      select c.candidate_id, c.org_id, o.erased_at is not null as is_erased, g.hold, g.completed_at, g.test_clock_id
      from candidates c join campaigns g using (campaign_id) left join people o on o.person_id = c.person_id
      where ${condition}`.execute(db.queries)
    return rows[0] && { ...rows[0], page }
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

/** The candidate of a link or of an embedded page. */
interface Link extends CampaignOfLink {
  page: Awaited<ReturnType<typeof findOpenedPage>>
  candidate_id: string
  is_erased: boolean
}

function tokenOf({ params }: FastifyRequest): string {
  return (params as { token: string }).token
}
