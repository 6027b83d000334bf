import type { FastifyRequest } from 'fastify'
import { PARTNER_BASE, pathOf } from '../../api/envelope.ts'
import { type Problem, problem } from '../../api/problem.ts'

/** What tells of the routes there are. */
interface Routes {
  hasRoute(route: { method: 'GET'; url: string }): boolean
}

/** The refusal of a path without a route, with the way out where the mistake is a common one. */
export function nothingHere(routes: Routes, { method, raw }: Pick<FastifyRequest, 'method' | 'raw'>): Problem {
  const path = pathOf(raw.url!)
  const hint = hintFor(routes, method, path)
  return problem(
    'NOT_FOUND',
    `There is no ${method} ${path.slice(0, 200)} here.${hint === undefined ? '' : ` ${hint}`}`,
  )
}

function hintFor(routes: Routes, method: string, path: string): string | undefined {
  const known = (url: string) => routes.hasRoute({ method: 'GET', url })
  if (/^\/.*[^/]\/+$/.test(path)) return 'Paths have no slash at the end.'
  if (!path.startsWith(`${PARTNER_BASE}/`)) {
    const [, before, collection] = /^(\/(?:api\/)?(?:v\d+\/)?(?:partner\/)?)([a-z-]{1,40})(?:\/|$)/.exec(path) ?? []
    if (collection && !known(before + collection) && known(`${PARTNER_BASE}/${collection}`))
      return `The partner API has ${PARTNER_BASE}/${collection}.`
  }
  return method === 'PATCH' ? 'PUT takes the whole record and replaces it.' : undefined
}
