import type { FastifyRequest } from 'fastify'
import { apiOfPath, PARTNER_BASE, pathOf } from '../../api/envelope.ts'
import { type Problem, problem } from '../../api/problem.ts'
import { closestName } from './did-you-mean.ts'

/** Longer paths are not compared with those of the routes. */
const MAX_COMPARED_PATH_LENGTH = 200

/** The routes of the published APIs, for the messages about unknown paths. */
export class RouteList {
  /** Methods by path. The path is split into segments; a parameter matches every segment. */
  readonly #routes = new Map<string, { segments: string[]; methods: Set<string> }>()

  add(methods: string[], url: string): void {
    const api = apiOfPath(url)
    // Callers without the admin key cannot find out which admin routes exist.
    if (api === 'site' || api === 'console' || url.startsWith('/api/admin/')) return
    const route = this.#routes.get(url) ?? { segments: url.split('/'), methods: new Set() }
    for (const method of methods) if (method !== 'HEAD') route.methods.add(method)
    this.#routes.set(url, route)
  }

  /** Returns the methods of a path, sorted. */
  methodsOf(path: string): string[] {
    const segments = path.split('/')
    const methods = new Set<string>()
    for (const route of this.#routes.values())
      if (differences(route.segments, segments).length === 0) for (const method of route.methods) methods.add(method)
    return [...methods].sort()
  }

  /** Returns the known path that differs from a path in one misspelt segment, or undefined. */
  closestTo(path: string): string | undefined {
    const segments = path.split('/')
    /** Correct spellings of a segment, by its position. */
    const spellings = new Map<number, Set<string>>()
    for (const route of this.#routes.values()) {
      const [position, ...others] = differences(route.segments, segments)
      if (position === undefined || others.length > 0) continue
      spellings.set(position, (spellings.get(position) ?? new Set()).add(route.segments[position]!))
    }
    for (const [position, names] of spellings) {
      const name = closestName(segments[position]!, [...names])
      if (name !== undefined) return segments.with(position, name).join('/')
    }
    return undefined
  }
}

/** Returns the positions of the segments in which a path differs from a route. A path with another number of segments differs in several. */
function differences(routeSegments: string[], segments: string[]): number[] {
  if (routeSegments.length !== segments.length) return [-1, -1]
  const positions: number[] = []
  for (const [position, segment] of routeSegments.entries()) {
    const matches = segment.startsWith(':') ? segments[position] !== '' : segment === segments[position]
    if (!matches) positions.push(position)
  }
  return positions
}

/** Returns the problem for a path without a route, with a hint for common mistakes. */
export function notFoundProblem(routes: RouteList, { method, raw }: Pick<FastifyRequest, 'method' | 'raw'>): Problem {
  const path = pathOf(raw.url!)
  const hint = hintFor(routes, method, path) ?? 'See /docs for the list of endpoints.'
  return problem('NOT_FOUND', `Unknown endpoint: ${method} ${path.slice(0, 200)}. ${hint}`)
}

function hintFor(routes: RouteList, method: string, path: string): string | undefined {
  if (/^\/.*[^/]\/+$/.test(path)) return 'Remove the trailing slash.'
  if (path.length > MAX_COMPARED_PATH_LENGTH) return undefined
  const methods = routes.methodsOf(path)
  if (methods.length > 0) {
    const hint = method === 'PATCH' && methods.includes('PUT') ? ' Use PUT, which replaces the whole resource.' : ''
    return `This path has ${methods.join(', ')}.${hint}`
  }
  if (!path.startsWith(`${PARTNER_BASE}/`)) {
    const [, prefix, collection] = /^(\/(?:api\/)?(?:v\d+\/)?(?:partner\/)?)([a-z-]{1,40})(?:\/|$)/.exec(path) ?? []
    const isElsewhere = collection && routes.methodsOf(prefix + collection).length === 0
    if (isElsewhere && routes.methodsOf(`${PARTNER_BASE}/${collection}`).length > 0)
      return `Did you mean ${PARTNER_BASE}/${collection}?`
  }
  const closestPath = routes.closestTo(path)
  return closestPath === undefined ? undefined : `Did you mean ${closestPath}?`
}
