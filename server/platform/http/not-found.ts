import type { FastifyRequest } from 'fastify'
import { PARTNER_BASE, pathOf } from '../../api/envelope.ts'
import { type Problem, problem } from '../../api/problem.ts'

interface RouteTable {
  hasRoute(route: { method: 'GET'; url: string }): boolean
}

/** Returns the problem for a path without a route, with a hint for common mistakes. */
export function notFoundProblem(routes: RouteTable, { method, raw }: Pick<FastifyRequest, 'method' | 'raw'>): Problem {
  const path = pathOf(raw.url!)
  const hint = hintFor(routes, method, path) ?? 'See /docs for the list of endpoints.'
  return problem('NOT_FOUND', `Unknown endpoint: ${method} ${path.slice(0, 200)}. ${hint}`)
}

function hintFor(routes: RouteTable, method: string, path: string): string | undefined {
  const hasRoute = (url: string) => routes.hasRoute({ method: 'GET', url })
  if (/^\/.*[^/]\/+$/.test(path)) return 'Remove the trailing slash.'
  if (!path.startsWith(`${PARTNER_BASE}/`)) {
    const [, prefix, collection] = /^(\/(?:api\/)?(?:v\d+\/)?(?:partner\/)?)([a-z-]{1,40})(?:\/|$)/.exec(path) ?? []
    if (collection && !hasRoute(prefix + collection) && hasRoute(`${PARTNER_BASE}/${collection}`))
      return `Did you mean ${PARTNER_BASE}/${collection}?`
  }
  return method === 'PATCH' ? 'Use PUT, which replaces the whole resource.' : undefined
}
