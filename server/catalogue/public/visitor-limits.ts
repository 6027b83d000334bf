import type { FastifyReply } from 'fastify'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule, Standings } from '../../access/limits/limiter.ts'
import { allowance } from '../../access/limits/messages.ts'
import { pathOf } from '../../api/envelope.ts'
import { type Problem, problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { seconds } from '../../platform/clock.ts'
import { nothingHere } from '../../platform/http/not-found.ts'
import type { App } from '../../platform/http/server.ts'
import { requireAdmin } from './admin-key.ts'

/** The public API knows its callers by their address alone: three limits for each, counted apart. */
const GLOBAL: Rule = { name: 'global', kind: 'fixed', limit: 100, seconds: 15 * 60, listed: true }
const SEARCH: Rule = { name: 'search', kind: 'fixed', limit: 15, seconds: 60, listed: true }
const SCRAPING: Rule = { name: 'scraping', kind: 'rolling', limit: 30, seconds: 5 * 60, listed: true }

const rules = {
  search: [GLOBAL, SEARCH, SCRAPING],
  skills: [GLOBAL, SCRAPING],
  other: [GLOBAL],
} satisfies Record<string, Rule[]>

const limitsInWords: Record<string, string> = {
  [GLOBAL.name]: `${allowance(GLOBAL)} are allowed.`,
  [SEARCH.name]: `${allowance(SEARCH)} to search are allowed.`,
  [SCRAPING.name]: `${allowance(SCRAPING)} to /api/skills are allowed; more looks like a scraper.`,
}

export type VisitorClass = keyof typeof rules

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which limits a visitor's call to this public route is charged to. */
    visitors?: VisitorClass
  }
}

/**
 * Charges every call before anything else looks at it, also those that no route answers: a call that is refused here counts
 * for no limit, and every other one counts, whatever its answer will be.
 */
export function limitVisitors(app: App, context: Context): void {
  app.addHook('onRoute', ({ config, url, method }) => {
    if (config?.visitors === undefined) throw new Error(`${method} ${url} must declare the class of its visitors`)
  })
  app.addHook('onRequest', (request, reply, done) => {
    const visitors = request.is404 ? classOfPath(request.raw.url!) : request.routeOptions.config.visitors
    if (!visitors) return done()
    const { limits, clock } = context
    const taken = limits.limiter.take(callerAddress(request.ip), rules[visitors], clock.now())
    if (taken instanceof Promise) taken.then((found) => done(tell(reply, found)), done)
    else done(tell(reply, taken))
  })
  // With a handler of its own, a path that no route answers passes the hooks of this API too.
  app.setNotFoundHandler(async (request) => {
    // Without the key nobody learns which of the operator's routes there are.
    if (request.method === 'GET' && pathOf(request.raw.url!).startsWith('/api/admin/')) requireAdmin(context, request)
    throw nothingHere(app, request)
  })
}

/** For calls without a route; the prefix of the API is shared with the other two, which limit their own callers. */
function classOfPath(url: string): VisitorClass | undefined {
  const group = /^\/api\/(skills|selected-skills|admin)(?:\/|$)/.exec(pathOf(url))?.[1]
  if (group === undefined) return undefined
  return group === 'skills' ? 'skills' : 'other'
}

/** Tells the caller how much is left; answers the refusal where that is nothing. */
function tell(reply: FastifyReply, found: Standings): Problem | undefined {
  const { limit, remaining, reset } = tightest(found)
  reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': reset })
  if (found.refused === undefined) return undefined
  const message = `Too many requests from this address: ${limitsInWords[found.refused]} Try again in ${seconds(found.retryAfter)}.`
  return problem('RATE_LIMITED', message, { retryAfter: found.retryAfter })
}

/** The limit that the headers tell of: the one that refused, else the one with the fewest calls left. */
function tightest({ refused, standings }: Standings) {
  if (refused !== undefined) return standings.find(({ rule }) => rule === refused)!
  return standings.reduce((least, standing) => (standing.remaining < least.remaining ? standing : least))
}

export interface LimitedVisitor {
  ip: string
  limit: 'global' | 'search' | 'scraping'
  until: Date
}

/** Addresses whose next call would be refused, those that wait longest first. */
export async function limitedVisitors({ limits, clock }: Pick<Context, 'limits' | 'clock'>): Promise<LimitedVisitor[]> {
  const ours = new Set(rules.search.map(({ name }) => name))
  const limited = await limits.limiter.limited(clock.now())
  return limited
    .filter(({ rule }) => ours.has(rule))
    .map(({ caller, rule, until }) => ({
      ip: caller,
      limit: rule as LimitedVisitor['limit'],
      until: new Date(until),
    }))
    .sort((a, b) => b.until.getTime() - a.until.getTime() || (a.ip < b.ip ? -1 : 1))
}
