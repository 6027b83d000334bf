import { errorDocPath } from './error-docs.ts'
import {
  catalogueErrorCodes,
  consoleErrorCodes,
  type Detail,
  type ErrorCode,
  Problem,
  partnerErrorCodes,
  verificationErrorCodes,
} from './problem.ts'

/** The three public APIs, the console's API, and the other paths (pages and probes). */
export type Api = 'partner' | 'verification' | 'catalogue' | 'console' | 'site'

export const PARTNER_BASE = '/api/v1/partner'
export const VERIFICATION_BASE = '/api/v1'
export const CATALOGUE_BASE = '/api'
export const CONSOLE_BASE = '/console/api'

/** Returns the API that a path belongs to, even if no route matches it. */
export function apiOfPath(url: string): Api {
  const path = pathOf(url)
  if (isWithin(path, PARTNER_BASE)) return 'partner'
  if (isWithin(path, VERIFICATION_BASE)) return 'verification'
  if (isWithin(path, CATALOGUE_BASE)) return 'catalogue'
  if (isWithin(path, CONSOLE_BASE)) return 'console'
  return 'site'
}

/** Returns path and query of a request target, which HTTP allows to contain the scheme and the host too. */
export function pathAndQueryOf(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
}

/** Returns the path that routes are matched against: decoded, without scheme, host and query. */
export function pathOf(target: string): string {
  const path = pathAndQueryOf(target).split(/[?#]/, 1)[0]!
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function isWithin(path: string, base: string) {
  return path === base || path.startsWith(`${base}/`)
}

const unexpectedErrorCodes = {
  partner: 'SERVER_ERROR',
  verification: 'INTERNAL_ERROR',
  catalogue: 'SERVER_ERROR',
  console: 'SERVER_ERROR',
  site: 'SERVER_ERROR',
} as const satisfies Record<Api, ErrorCode>

const statusByCode: Record<Api, Partial<Record<ErrorCode, number>>> = {
  partner: partnerErrorCodes,
  verification: verificationErrorCodes,
  catalogue: catalogueErrorCodes,
  console: consoleErrorCodes,
  site: catalogueErrorCodes,
}

export interface ErrorResponse {
  status: number
  code: ErrorCode
  body: object
}

/** The values of a request that its error body contains. */
export interface ErrorOrigin {
  requestId: string
  /** Address of the server, for the link to the documentation. */
  baseUrl: string
}

/** Returns the error response for a problem in the envelope of an API. A code that the API does not document is a bug and becomes an unexpected error. */
export function errorEnvelope(api: Api, error: Problem, origin: ErrorOrigin): ErrorResponse {
  const defaultStatus = statusByCode[api][error.code]
  if (defaultStatus === undefined) return errorEnvelope(api, unexpectedProblem(api), origin)
  const status = error.status ?? defaultStatus
  const docUrl = origin.baseUrl + errorDocPath(api, error.code, status)
  return { status, code: error.code, body: errorBody(api, error, origin.requestId, docUrl) }
}

export function unexpectedProblem(api: Api): Problem {
  return new Problem(
    unexpectedErrorCodes[api],
    'Unexpected server error. When you report it, include the x-request-id header of this response.',
  )
}

function errorBody(api: Api, { code, message, details }: Problem, requestId: string, docUrl: string): object {
  if (api === 'partner' || api === 'console')
    return { success: false, error: { code, message, details, request_id: requestId, doc_url: docUrl } }
  const messageWithFields = listFields(message, details)
  if (api === 'verification') return { success: false, error: { code, message: messageWithFields, requestId, docUrl } }
  return { success: false, message: messageWithFields, error: messageWithFields, requestId, docUrl }
}

/** Lists the invalid fields in the message, for envelopes without `details`. */
function listFields(message: string, details: Detail[]): string {
  if (details.length === 0) return message
  return details.map((detail) => `${detail.path}: ${detail.message}`).join('; ')
}
