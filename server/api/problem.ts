/**
 * All error codes of the three APIs with their HTTP status; no other codes are returned. Domain code throws
 * `problem(code, message)`, and the transport renders it in the envelope of the API that was called.
 */
export const partnerErrorCodes = {
  VALIDATION_FAILED: 400,
  IDEMPOTENCY_KEY_REQUIRED: 400,
  UNAUTHORIZED: 401,
  INSUFFICIENT_CREDITS: 402,
  FORBIDDEN: 403,
  SCOPE_MISSING: 403,
  HTTPS_REQUIRED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  WORKFLOW_IN_USE: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  LIMIT_EXCEEDED: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  COOLDOWN: 429,
  DAILY_CAP: 429,
  SERVER_ERROR: 500,
  SERVICE_DISABLED: 503,
  SERVICE_UNAVAILABLE: 503,
} as const

export const verificationErrorCodes = {
  VALIDATION_FAILED: 400,
  MISSING_VERIFICATION_ID: 400,
  MISSING_VERIFICATION_METHOD: 400,
  INVALID_VERIFICATION_METHOD: 400,
  MISSING_SESSION_TOKEN: 400,
  NO_ITEMS_SELECTED: 400,
  UNKNOWN_ITEM: 400,
  VERIFICATION_METHOD_NOT_SET: 400,
  MISSING_NAME: 400,
  MISSING_EMAIL: 400,
  MISSING_COMPANY: 400,
  INVALID_EMAIL: 400,
  INVALID_FILE: 400,
  INVALID_WEBSITE: 400,
  INVALID_SKILL: 400,
  INVALID_VERIFICATION_TYPE: 400,
  NO_DATA: 400,
  NO_SKILLS: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  HTTPS_REQUIRED: 403,
  ASSESSMENT_LOCKED: 403,
  ATTEMPTS_EXHAUSTED: 403,
  INVALID_TOKEN: 403,
  NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  VERIFICATION_NOT_FOUND: 404,
  ALREADY_SUBMITTED: 409,
  ASSESSMENT_ALREADY_PASSED: 409,
  ASSESSMENT_EXPIRED: 409,
  DUPLICATE_REVIEWER_EMAIL: 409,
  DUPLICATE_SKILLS_IN_BUNDLE: 409,
  MAX_SKILLS_PER_SOURCE: 409,
  NOTHING_TO_WITHDRAW: 409,
  NO_OPEN_ATTEMPT: 409,
  REVIEWER_UNREACHABLE: 409,
  SESSION_LOCKED: 409,
  TOO_MANY_FILES: 409,
  TOO_MANY_REVIEWERS: 409,
  DATA_ERASED: 410,
  LINK_EXPIRED: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  GENERATION_FAILED: 500,
  INTERNAL_ERROR: 500,
  SERVICE_DISABLED: 503,
  SERVICE_UNAVAILABLE: 503,
} as const

/** Error responses of the catalogue API contain no code; these codes only determine the status. */
export const catalogueErrorCodes = {
  VALIDATION_FAILED: 400,
  ACCESS_DENIED: 403,
  HTTPS_REQUIRED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  SERVER_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const

/** Codes of the console's API, in addition to those of the partner API. */
export const consoleErrorCodes = {
  ...partnerErrorCodes,
  RECENT_SIGN_IN_REQUIRED: 403,
  SECOND_FACTOR_REQUIRED: 401,
  IDENTITY_PROVIDER_REQUIRED: 403,
  IDENTITY_PROVIDER_FAILED: 502,
  TRANSLATION_FAILED: 502,
} as const

type ConsoleErrorCode = keyof typeof consoleErrorCodes
export type VerificationErrorCode = keyof typeof verificationErrorCodes
type CatalogueErrorCode = keyof typeof catalogueErrorCodes
export type ErrorCode = ConsoleErrorCode | VerificationErrorCode | CatalogueErrorCode

/** One validation error: the path of the invalid field, such as `skills[2].skill_id`, and what is wrong with it. */
export interface Detail {
  path: string
  message: string
}

/** An expected error that the API returns to the caller. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly details: Detail[]
  /** Seconds after which the call can be retried; sent as the header Retry-After. */
  readonly retryAfter: number | undefined
  /** Set if HTTP has a more specific status than the code's own, such as 431 for headers that are too large. */
  readonly status: number | undefined

  constructor(code: ErrorCode, message: string, extra: ProblemOptions = {}) {
    // Expected error: skip the stack trace, which is slow to capture.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.details = extra.details ?? []
    this.retryAfter = extra.retryAfter
    this.status = extra.status
  }
}

export interface ProblemOptions {
  details?: Detail[]
  retryAfter?: number
  status?: number
}

export function problem(code: ErrorCode, message: string, extra?: ProblemOptions): Problem {
  return new Problem(code, message, extra)
}
