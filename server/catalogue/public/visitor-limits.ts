import type { FastifyReply } from 'fastify'
import { callerAddress } from '../../access/client-address.ts'
import type { CallerDecision, Rule } from '../../access/limits/limiter.ts'
import { describeLimit } from '../../access/limits/messages.ts'
import { pathOf } from '../../api/envelope.ts'
import { type Problem, problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { formatWait } from '../../platform/clock.ts'
import { notFoundProblem } from '../../platform/http/not-found.ts'
import type { App } from '../../platform/http/server.ts'
import { requireAdmin } from './admin-key.ts'

/** Rate limits of each IP address. The public API has no other way to identify its callers. */
const GLOBAL_RULE: Rule = { name: 'global', kind: 'fixed', limit: 100, seconds: 15 * 60, listed: true }
const SEARCH_RULE: Rule = { name: 'search', kind: 'fixed', limit: 15, seconds: 60, listed: true }
const SCRAPING_RULE: Rule = { name: 'scraping', kind: 'rolling', limit: 30, seconds: 5 * 60, listed: true }

const rulesByClass = {
  search: [GLOBAL_RULE, SEARCH_RULE, SCRAPING_RULE],
  skills: [GLOBAL_RULE, SCRAPING_RULE],
  other: [GLOBAL_RULE],
} satisfies Record<string, Rule[]>

// Computed at the first use: creating the first number format takes 50 ms of a start.
const limitDescriptions: Record<string, () => string> = {
  [GLOBAL_RULE.name]: () => describeLimit(GLOBAL_RULE),
  [SEARCH_RULE.name]: () => `${describeLimit(SEARCH_RULE)} for searches`,
  [SCRAPING_RULE.name]: () => `${describeLimit(SCRAPING_RULE)} for /api/skills, to prevent scraping`,
}

type VisitorClass = keyof typeof rulesByClass

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The rate limits that calls of this public route count towards. */
    visitors?: VisitorClass
  }
}

/**
 * Counts every call before it is processed, including calls without a matching route. Calls that are rejected here do not count;
 * all other calls count, whatever their response.
 */
export function limitPublicRequests(app: App, context: Context): void {
  app.addHook('onRoute', ({ config, url, method }) => {
    if (config?.visitors === undefined) throw new Error(`${method} ${url} must declare visitors in its route config`)
  })
  app.addHook('onRequest', (request, reply, done) => {
    const visitorClass = request.is404 ? classOfPath(request.raw.url!) : request.routeOptions.config.visitors
    if (!visitorClass) return done()
    const { limits, clock } = context
    const decision = limits.limiter.take(callerAddress(request.ip), rulesByClass[visitorClass], clock.now())
    if (decision instanceof Promise) decision.then((resolved) => done(applyLimits(reply, resolved)), done)
    else done(applyLimits(reply, decision))
  })
  // A separate handler makes the hooks of this API run for paths without a route too.
  app.setNotFoundHandler(async (request) => {
    // Callers without the key cannot find out which admin routes exist.
    if (request.method === 'GET' && pathOf(request.raw.url!).startsWith('/api/admin/'))
      await requireAdmin(context, request)
    throw notFoundProblem(app.routeList, request)
  })
}

/** Returns the rate limit class of a call without a route. The other APIs share the prefix /api and have their own limits. */
function classOfPath(url: string): VisitorClass | undefined {
  const pathGroup = /^\/api\/(skills|selected-skills|admin)(?:\/|$)/.exec(pathOf(url))?.[1]
  if (pathGroup === undefined) return undefined
  return pathGroup === 'skills' ? 'skills' : 'other'
}

/** Sets the RateLimit headers, and returns the error if a limit is exceeded. */
function applyLimits(reply: FastifyReply, decision: CallerDecision): Problem | undefined {
  const { limit, remaining, reset } = findTightestState(decision)
  reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': reset })
  if (decision.rejectedBy === undefined) return undefined
  const message = `Too many requests from this IP address: the limit is ${limitDescriptions[decision.rejectedBy]!()}. Try again in ${formatWait(decision.retryAfter)}.`
  return problem('RATE_LIMITED', message, { retryAfter: decision.retryAfter })
}

/** Returns the state of the limit to report in the headers: the exceeded limit, otherwise the one with the fewest remaining calls. */
function findTightestState({ rejectedBy, states }: CallerDecision) {
  if (rejectedBy !== undefined) return states.find(({ rule }) => rule === rejectedBy)!
  return states.reduce((least, state) => (state.remaining < least.remaining ? state : least))
}

export interface LimitedAddress {
  ip: string
  limit: 'global' | 'search' | 'scraping'
  until: Date
}

/** Lists the addresses whose next call would be rejected, longest wait first. */
export async function listLimitedAddresses({
  limits,
  clock,
}: Pick<Context, 'limits' | 'clock'>): Promise<LimitedAddress[]> {
  // Searches count towards all rules of the public API.
  const publicRuleNames = new Set(rulesByClass.search.map(({ name }) => name))
  const limitedCallers = await limits.limiter.listLimited(clock.now())
  return limitedCallers
    .filter(({ rule }) => publicRuleNames.has(rule))
    .map(({ caller, rule, until }) => ({
      ip: caller,
      limit: rule as LimitedAddress['limit'],
      until: new Date(until),
    }))
    .sort((a, b) => b.until.getTime() - a.until.getTime() || (a.ip < b.ip ? -1 : 1))
}
