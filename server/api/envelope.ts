import { type Code, catalogueCodes, type Detail, Problem, partnerCodes, verificationCodes } from './problem.ts'

/** The three APIs, the console's own and, beside them, the pages and probes of the site. */
export type Api = 'partner' | 'verification' | 'catalogue' | 'console' | 'site'

export const PARTNER_BASE = '/api/v1/partner'
export const VERIFICATION_BASE = '/api/v1'
export const CATALOGUE_BASE = '/api'
export const CONSOLE_BASE = '/console/api'

/** Which API a path belongs to, also when no route answers it. */
export function apiOfPath(url: string): Api {
  const path = pathOf(url)
  if (within(path, PARTNER_BASE)) return 'partner'
  if (within(path, VERIFICATION_BASE)) return 'verification'
  if (within(path, CATALOGUE_BASE)) return 'catalogue'
  if (within(path, CONSOLE_BASE)) return 'console'
  return 'site'
}

/** The path of a request's target as routes are matched against it: without scheme, host and query, and decoded. */
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

const unexpected = {
  partner: 'SERVER_ERROR',
  verification: 'INTERNAL_ERROR',
  catalogue: 'SERVER_ERROR',
  console: 'SERVER_ERROR',
  site: 'SERVER_ERROR',
} as const satisfies Record<Api, Code>

const tables: Record<Api, Partial<Record<Code, number>>> = {
  partner: partnerCodes,
  verification: verificationCodes,
  catalogue: catalogueCodes,
  console: partnerCodes, // the partner API's routes answer there too
  site: catalogueCodes,
}

export interface ErrorAnswer {
  status: number
  code: Code
  body: object
}

/** Renders a problem for an API; a code that the API does not know is a mistake of ours and says nothing outside. */
export function errorAnswer(api: Api, error: Problem): ErrorAnswer {
  const status = tables[api][error.code]
  if (status === undefined) return errorAnswer(api, unexpectedProblem(api))
  return { status: error.status ?? status, code: error.code, body: errorBody(api, error) }
}

export function unexpectedProblem(api: Api): Problem {
  return new Problem(unexpected[api], 'Something went wrong on our side. The request id helps us to find out what.')
}

function errorBody(api: Api, { code, message, details }: Problem): object {
  if (api === 'partner' || api === 'console') return { success: false, error: { code, message, details } }
  if (api === 'verification') return { success: false, error: { code, message: withFields(message, details) } }
  const text = withFields(message, details)
  return { success: false, message: text, error: text }
}

/** Envelopes without a list of details name the failing fields in the message itself. */
function withFields(message: string, details: Detail[]): string {
  if (details.length === 0) return message
  return details.map((detail) => `${detail.path}: ${detail.message}`).join('; ')
}
