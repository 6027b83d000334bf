import type { FastifyContextConfig } from 'fastify'
import { errorEnvelope } from '../api/envelope.ts'
import {
  catalogueErrorCodes,
  type Detail,
  type ErrorCode,
  partnerErrorCodes,
  problem,
  verificationErrorCodes,
} from '../api/problem.ts'

export type PublishedApi = 'partner' | 'verification' | 'catalogue'

/** The properties of a route that determine its error codes. */
export interface ErrorSource {
  method: string
  config: FastifyContextConfig
  schema: { params?: unknown; security?: readonly object[] }
}

const statusByApi: Record<PublishedApi, Partial<Record<ErrorCode, number>>> = {
  partner: partnerErrorCodes,
  verification: verificationErrorCodes,
  catalogue: catalogueErrorCodes,
}

/** Codes of every request of an API: invalid headers, transport, rate limits, and failures of the server. */
const commonCodes: Record<PublishedApi, ErrorCode[]> = {
  partner: [
    ...(['VALIDATION_FAILED', 'UNAUTHORIZED', 'FORBIDDEN', 'HTTPS_REQUIRED', 'RATE_LIMITED', 'COOLDOWN'] as const),
    ...(['SERVER_ERROR', 'SERVICE_DISABLED', 'SERVICE_UNAVAILABLE'] as const),
  ],
  verification: [
    ...(['VALIDATION_FAILED', 'HTTPS_REQUIRED', 'RATE_LIMITED'] as const),
    ...(['INTERNAL_ERROR', 'SERVICE_DISABLED', 'SERVICE_UNAVAILABLE'] as const),
  ],
  catalogue: ['VALIDATION_FAILED', 'HTTPS_REQUIRED', 'RATE_LIMITED', 'SERVER_ERROR', 'SERVICE_UNAVAILABLE'],
}

/** Codes of any request with a body, even if the route ignores it. */
export const bodyCodes: ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']

/** Returns the codes that a route can return, in the order of the tables in problem.ts: those of its guards, and its own. */
export function errorCodesOf(api: PublishedApi, { method, config, schema }: ErrorSource): ErrorCode[] {
  const codes = new Set<ErrorCode>([...commonCodes[api], ...(config.errors ?? [])])
  const add = (...added: ErrorCode[]) => added.forEach((code) => void codes.add(code))
  if (method !== 'GET') add(...bodyCodes)
  if (api === 'partner') {
    if (schema.params) add('NOT_FOUND')
    if (config.scope) add('SCOPE_MISSING')
    if (config.limit === 'skillsSearch') add('DAILY_CAP')
    if (config.idempotent) add('IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED')
    if (config.idempotent === 'required') add('IDEMPOTENCY_KEY_REQUIRED')
    // The same signature twice.
    else if (config.idempotent && method === 'POST') add('CONFLICT')
  }
  if (api === 'verification') {
    const { auth } = config
    if (auth !== 'none') add('UNAUTHORIZED', 'FORBIDDEN')
    if (auth === 'header' || auth === 'body' || auth === 'path') add('MISSING_SESSION_TOKEN')
    if (auth !== 'none' && auth !== 'key' && auth !== 'link') add('SESSION_NOT_FOUND', 'DATA_ERASED')
  }
  if (api === 'catalogue') {
    if (schema.params) add('NOT_FOUND')
    if (schema.security?.some((requirement) => 'admin' in requirement)) add('ACCESS_DENIED')
  }
  return (Object.keys(statusByApi[api]) as ErrorCode[]).filter((code) => codes.has(code))
}

/**
 * One message of each code. Messages of an API have priority over those of all APIs. test/contract/error-examples/ compares them with the
 * responses of the server.
 */
const exampleMessages: Partial<Record<ErrorCode | `${PublishedApi}.${ErrorCode}`, string>> = {
  VALIDATION_FAILED: 'query.limit: must be at most 100; got 1000.',
  IDEMPOTENCY_KEY_REQUIRED:
    'This call spends credits and requires an Idempotency-Key, so that a retry does not spend them twice.',
  UNAUTHORIZED: 'The request could not be authenticated: check the key, the clock and the signature.',
  'verification.UNAUTHORIZED': 'Send a session key in the x-api-key header.',
  INSUFFICIENT_CREDITS: 'This request needs 3 credits, but the balance is 1.',
  FORBIDDEN: 'This mandate was created in the playground; it can be changed only in the console.',
  'verification.FORBIDDEN':
    "This key cannot be used from the address 203.0.113.7. Call from an allowed address, or change the key's allow-list in the console or with `attestry key allow`. If 203.0.113.7 is the address of your proxy, the operator must set TRUST_PROXY.",
  SCOPE_MISSING: 'This key does not have the scope mandates:write; use a key that has it.',
  HTTPS_REQUIRED:
    'This server requires HTTPS. Send the request to its https:// URL. Operators: behind a proxy that terminates TLS, set TRUST_PROXY; to allow HTTP, set REQUIRE_HTTPS=false.',
  ACCESS_DENIED: 'Access denied: send the admin key in the x-api-key header.',
  NOT_FOUND: 'Campaign CP_01KKDSD0J0P26SYTR42FVC31EM not found.',
  'catalogue.NOT_FOUND': 'Skill sk_999 not found.',
  'verification.NOT_FOUND': 'This verification has no reviewer.',
  CONFLICT: 'Only running campaigns can be paused; this campaign is paused.',
  'catalogue.CONFLICT': 'This user has already selected sk_2001.',
  WORKFLOW_IN_USE: '2 mandates use this workflow; archive them first.',
  IDEMPOTENCY_IN_PROGRESS: 'The first call with this Idempotency-Key is still running. Try again in 1 second.',
  PAYLOAD_TOO_LARGE: 'The body is larger than 262144 bytes (256 KB).',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be sent with Content-Type: application/json, encoded as UTF-8.',
  LIMIT_EXCEEDED: 'skills: must have at most 10 items.',
  IDEMPOTENCY_KEY_REUSED: 'This Idempotency-Key was already used for a different call. Send a new key with a new call.',
  RATE_LIMITED: 'Rate limit exceeded: reads allows 1200 calls per minute for this key. Try again in 12 seconds.',
  'verification.RATE_LIMITED':
    'Too many requests with this session token: the limit is 5 per second (burst 5). Try again in 1 second.',
  'catalogue.RATE_LIMITED':
    'Too many requests from this IP address: the limit is 15 per minute for searches. Try again in 12 seconds.',
  COOLDOWN:
    'This key is in cooldown until 14:05:12 UTC (after 100 rejected calls within a minute, or too many browse pages within an hour). Try again in 41 seconds; calling earlier does not extend it.',
  DAILY_CAP:
    'Daily limit exceeded: search and browse return at most 1500 different skills per day to this key. Skills that were already returned today stay readable. Try again in 3 hours, at midnight IST.',
  SERVER_ERROR: 'Unexpected server error. When you report it, include the x-request-id header of this response.',
  INTERNAL_ERROR: 'Unexpected server error. When you report it, include the x-request-id header of this response.',
  SERVICE_DISABLED: 'The operator has disabled the partner API for your organisation. Nothing was changed.',
  'verification.SERVICE_DISABLED':
    'The service is paused for this organisation. Nothing was changed, and nothing is lost: try again later.',
  SERVICE_UNAVAILABLE:
    'The database is not available at the moment. Nothing was changed. Retry after the time in the Retry-After header.',
  MISSING_VERIFICATION_ID: 'serviceVerificationId is required.',
  MISSING_VERIFICATION_METHOD: 'verificationMethod is required.',
  INVALID_VERIFICATION_METHOD: 'verificationMethod must be human or assessment.',
  MISSING_SESSION_TOKEN: 'Send a session token in the x-session-token header.',
  NO_ITEMS_SELECTED: 'Select at least one project, work experience or certificate.',
  UNKNOWN_ITEM: 'projectIds: "prj-9" is not one of the items sent to POST /verify.',
  VERIFICATION_METHOD_NOT_SET: 'Choose the verification method first (step 2).',
  MISSING_NAME: 'name is required.',
  MISSING_EMAIL: 'email is required.',
  MISSING_COMPANY: 'company is required.',
  INVALID_FILE: 'The file is not a JPEG, PNG, WebP or PDF file. Send one of these.',
  INVALID_EMAIL: 'email must be an email address, such as asha@example.com.',
  INVALID_WEBSITE: 'website must be an http or https URL, such as https://example.com.',
  INVALID_SKILL: 'skills[0].skillId: skill "sk_9" not found.',
  NOTHING_TO_WITHDRAW: 'This verification has no endorsement that can be withdrawn.',
  INVALID_VERIFICATION_TYPE: 'This verification uses an assessment and has no reviewer.',
  NO_DATA: 'Choose projects, work experience or certificates first (step 3).',
  NO_SKILLS: 'skills: at least one skill is required.',
  ASSESSMENT_LOCKED: 'This assessment has been passed and is closed.',
  ATTEMPTS_EXHAUSTED:
    'The skill "Bricklaying" has 3 failed attempts within 30 days. It can be assessed again from 2026-12-05T10:00:00.000Z.',
  INVALID_TOKEN: 'This review link is invalid or was replaced by a newer one. Use the link in the newest email.',
  SESSION_NOT_FOUND:
    'Session not found or expired. Check the session token and the organisation and mode of the key, or open a new session.',
  VERIFICATION_NOT_FOUND:
    'Verification not found. Check its ID, and that it belongs to the session, or to the organisation and mode of the key.',
  ALREADY_SUBMITTED: 'The review has already been submitted.',
  ASSESSMENT_ALREADY_PASSED: 'The student has already passed an assessment of sk_2001 (House wiring).',
  ASSESSMENT_EXPIRED: 'The time limit for these questions has passed; generate new questions.',
  DUPLICATE_REVIEWER_EMAIL:
    'This reviewer already reviews the same source under a different endorsement type. Choose another reviewer.',
  DUPLICATE_SKILLS_IN_BUNDLE: 'sk_2001 (House wiring) is already endorsed for this source (manager).',
  MAX_SKILLS_PER_SOURCE:
    'At most 10 skills can be verified in one session, because a source can have at most 10 skills.',
  NO_OPEN_ATTEMPT: 'There are no questions to answer; generate the assessment first.',
  REVIEWER_UNREACHABLE:
    'email: this address does not accept review requests. Use another reviewer, or another address of this reviewer.',
  SESSION_LOCKED:
    'The review was requested, or questions were generated or are being generated: skills, method and items cannot be changed.',
  TOO_MANY_FILES: 'A session can have at most 5 files. Delete one first.',
  TOO_MANY_REVIEWERS: 'A session can have at most 3 different reviewer addresses.',
  DATA_ERASED: 'The data of the student or the reviewer was erased.',
  LINK_EXPIRED: 'The review link has expired.',
  GENERATION_FAILED: 'The questions could not be generated. The session is unchanged. Try again.',
}

/** Error details, for the codes that have them. */
const exampleDetails: Partial<Record<ErrorCode, Detail[]>> = {
  VALIDATION_FAILED: [{ path: 'query.limit', message: 'must be at most 100; got 1000' }],
  LIMIT_EXCEEDED: [{ path: 'skills', message: 'must have at most 10 items' }],
  INSUFFICIENT_CREDITS: [{ path: 'candidates', message: 'needs 3 credits, but the balance is 1' }],
  IDEMPOTENCY_KEY_REQUIRED: [{ path: 'headers.Idempotency-Key', message: 'is required' }],
  IDEMPOTENCY_KEY_REUSED: [
    { path: 'headers.Idempotency-Key', message: 'was already used with another method, path or body' },
  ],
}

const exampleOrigin = { requestId: 'req_JWHYGSZ0W3000000l', baseUrl: 'https://verify.example.com' }

/** Returns one error body of each code of an API, for `components.examples`. */
export function errorExamples(api: PublishedApi): Record<string, { summary: string; value: object }> {
  const codes = Object.keys(statusByApi[api]) as ErrorCode[]
  return Object.fromEntries(
    codes.map((code) => {
      const message = exampleMessages[`${api}.${code}`] ?? exampleMessages[code]
      if (message === undefined) throw new Error(`Add an example of ${code} to exampleMessages.`)
      const { body } = errorEnvelope(
        api,
        problem(code, message, { details: exampleDetails[code] ?? [] }),
        exampleOrigin,
      )
      return [code, { summary: code, value: body }]
    }),
  )
}

/** Returns the cause of each error code of an API, from the tables in the reference. */
export function readCauses(errorReference: string, api: PublishedApi): Map<string, string> {
  const heading = { partner: 'Partner', verification: 'Verification session', catalogue: 'Skill catalogue' }[api]
  const section = errorReference.split(/^## /m).find((text) => text.startsWith(`${heading} API`)) ?? ''
  const rows = section.matchAll(/^\| `([A-Z_]+)` +\| \d{3} +\| (.*?) *\| /gm)
  return new Map([...rows].map(([, code, cause]) => [code!, cause!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')]))
}

const WAITING_CODES: ErrorCode[] = [
  'RATE_LIMITED',
  'COOLDOWN',
  'DAILY_CAP',
  'SERVICE_UNAVAILABLE',
  'IDEMPOTENCY_IN_PROGRESS',
]

/** Collects error responses by status. Responses with the same codes become one component. */
export class ErrorResponses {
  readonly components: Record<string, object> = {}
  readonly #api: PublishedApi
  readonly #error: object
  readonly #causes: Map<string, string>

  constructor(api: PublishedApi, error: object, causes: Map<string, string>) {
    this.#api = api
    this.#error = error
    this.#causes = causes
  }

  /** Returns the error responses of an operation. */
  describe(codes: ErrorCode[]): Record<string, object> {
    const codesByStatus = Map.groupBy(codes, (code) => statusByApi[this.#api][code]!)
    return Object.fromEntries(
      [...codesByStatus].map(([status, codesOfStatus]) => {
        const name = codesOfStatus.map(pascalCase).join('Or')
        this.components[name] ??= this.#response(codesOfStatus)
        return [status, { $ref: `#/components/responses/${name}` }]
      }),
    )
  }

  #response(codes: ErrorCode[]) {
    const waits = codes.some((code) => WAITING_CODES.includes(code))
    return {
      description: codes.map((code) => `- \`${code}\`: ${this.#causes.get(code)}.`).join('\n'),
      ...(waits ? { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } } : {}),
      content: {
        'application/json': {
          schema: this.#error,
          examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    }
  }
}

function pascalCase(code: ErrorCode): string {
  return code
    .split('_')
    .map((word) => word[0] + word.slice(1).toLowerCase())
    .join('')
}
