import { type Code, catalogueCodes, type Detail, Problem, partnerCodes, verificationCodes } from './problem.ts'

/** The three public APIs, the console's API, and the other paths (pages and probes). */
export type Api = 'partner' | 'verification' | 'catalogue' | 'console' | 'site'

export const PARTNER_BASE = '/api/v1/partner'
export const VERIFICATION_BASE = '/api/v1'
export const CATALOGUE_BASE = '/api'
export const CONSOLE_BASE = '/console/api'

/** Returns the API that a path belongs to, even if no route matches it. */
export function apiOfPath(url: string): Api {
  const path = pathOf(url)
  if (within(path, PARTNER_BASE)) return 'partner'
  if (within(path, VERIFICATION_BASE)) return 'verification'
  if (within(path, CATALOGUE_BASE)) return 'catalogue'
  if (within(path, CONSOLE_BASE)) return 'console'
  return 'site'
}

/** Returns the path that routes are matched against: decoded, without scheme, host and query. */
export function pathOf(target: string): string {
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0]!
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function within(path: string, base: string) {
  return path === base || path.startsWith(`${base}/`)
}

const unexpectedCodes = {
  partner: 'SERVER_ERROR',
  verification: 'INTERNAL_ERROR',
  catalogue: 'SERVER_ERROR',
  console: 'SERVER_ERROR',
  site: 'SERVER_ERROR',
} as const satisfies Record<Api, Code>

const statuses: Record<Api, Partial<Record<Code, number>>> = {
  partner: partnerCodes,
  verification: verificationCodes,
  catalogue: catalogueCodes,
  console: partnerCodes, // the console reuses the partner API's routes
  site: catalogueCodes,
}

export interface ErrorResponse {
  status: number
  code: Code
  body: object
}

/** Renders a problem for an API. A code that the API does not document is a bug and becomes an unexpected error. */
export function errorEnvelope(api: Api, error: Problem): ErrorResponse {
  const status = statuses[api][error.code]
  if (status === undefined) return errorEnvelope(api, unexpectedProblem(api))
  return { status: error.status ?? status, code: error.code, body: errorBody(api, error) }
}

export function unexpectedProblem(api: Api): Problem {
  return new Problem(
    unexpectedCodes[api],
    'Unexpected server error. When you report it, include the x-request-id header of this response.',
  )
}

function errorBody(api: Api, { code, message, details }: Problem): object {
  if (api === 'partner' || api === 'console') return { success: false, error: { code, message, details } }
  if (api === 'verification') return { success: false, error: { code, message: withFields(message, details) } }
  const text = withFields(message, details)
  return { success: false, message: text, error: text }
}

/** Lists the invalid fields in the message, for envelopes without `details`. */
function withFields(message: string, details: Detail[]): string {
  if (details.length === 0) return message
  return details.map((detail) => `${detail.path}: ${detail.message}`).join('; ')
}
