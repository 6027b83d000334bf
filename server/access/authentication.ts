import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { pathAndQueryOf } from '../api/envelope.ts'
import { type Detail, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import { HmacKey } from '../platform/hmac.ts'
import type { PartnerKey } from './keyring.ts'
import {
  CLOCK_WINDOW_SECONDS,
  clockDifference,
  isSignatureValid,
  isWellFormedSignature,
  stringToSign,
} from './signature.ts'

/**
 * Secret that is checked for unknown keys, so that response times do not reveal which keys exist. A caller who delays the body can find
 * out, because the server does not wait for the body of an unknown key. IDs are random, and a valid one is of no use without its secret.
 */
const DUMMY_SECRET = new HmacKey(randomBytes(50))

type AuthenticationDeps = Pick<Context, 'keyring' | 'keyUses' | 'clock' | 'limits'>

/**
 * Sets `request.caller`, or rejects the request with the same error for every cause. Returns a promise only if keys have to be
 * fetched or the request is rejected.
 */
export function authenticate(context: AuthenticationDeps, request: FastifyRequest): undefined | Promise<void> {
  const refreshing = context.keyring.refreshIfStale()
  return refreshing ? refreshing.then(() => identifyCaller(context, request)) : identifyCaller(context, request)
}

/**
 * Returns what the headers show before the body is read: whether the key is unknown, whether `authenticate` will reject the request
 * whatever its body contains, or whether it will accept the request if the signature matches the body.
 */
export function inspectCredentials(
  { keyring, clock }: Pick<Context, 'keyring' | 'clock'>,
  request: FastifyRequest,
): 'unknown' | 'invalid' | 'valid if signed' {
  const key = keyring.partnerKey(headerValue(request, 'x-api-key'))
  if (!key) return 'unknown'
  const now = clock.now()
  const isValidIfSigned =
    isUsable(key, now) &&
    isWithinClockWindow(clockDifference(headerValue(request, 'x-timestamp'), now)) &&
    isWellFormedSignature(headerValue(request, 'x-signature'))
  return isValidIfSigned ? 'valid if signed' : 'invalid'
}

function isUsable({ revoked, expiresAt }: PartnerKey, now: number): boolean {
  return !revoked && now < expiresAt
}

function isWithinClockWindow(differenceSeconds: number | undefined): boolean {
  return differenceSeconds !== undefined && Math.abs(differenceSeconds) <= CLOCK_WINDOW_SECONDS
}

function identifyCaller(context: AuthenticationDeps, request: FastifyRequest): undefined | Promise<never> {
  const now = context.clock.now()
  const keyId = headerValue(request, 'x-api-key')
  const timestamp = headerValue(request, 'x-timestamp')
  const onBehalfOf = headerValue(request, 'x-on-behalf-of')
  const idempotencyKey = headerValue(request, 'idempotency-key')
  const signedText = stringToSign({
    timestamp,
    method: request.raw.method!,
    target: pathAndQueryOf(request.originalUrl),
    onBehalfOf,
    idempotencyKey,
    body: request.rawBody,
  })

  const key = context.keyring.partnerKey(keyId)
  const hasValidSignature = isSignatureValid(
    signedText,
    headerValue(request, 'x-signature'),
    key ? key.secrets(now) : [DUMMY_SECRET],
  )
  const clockDifferenceSeconds = clockDifference(timestamp, now)
  if (!key || !hasValidSignature || !isWithinClockWindow(clockDifferenceSeconds) || !isUsable(key, now)) {
    return rejectUnauthorized(context, request, { key, hasValidSignature, clockDifferenceSeconds, signedText })
  }
  context.keyUses.record(keyId, now)
  request.caller = {
    orgId: key.orgId,
    mode: key.mode,
    keyId,
    key,
    onBehalfOf: onBehalfOf || undefined,
    idempotencyKey: idempotencyKey || undefined,
    via: 'api',
  }
  request.tenant.scope = request.caller
  return undefined
}

/** Decodes a header value as UTF-8. Node decodes headers as Latin-1. */
export function decodeHeader(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8')
}

function headerValue(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

const GUIDE_PATH = '/docs/guides/sign-your-first-request'
const UNAUTHORIZED_MESSAGE = 'The request could not be authenticated: check the key, the clock and the signature.'

interface SignatureAttempt {
  key: PartnerKey | undefined
  hasValidSignature: boolean
  clockDifferenceSeconds: number | undefined
  signedText: string
}

/** Values that are sent as the key ID by mistake. Messages never contain the value: it is secret. */
const WRONG_KINDS_OF_KEYS = [
  {
    prefix: 'VSK_',
    message: 'is a session key (VSK_…); the partner API requires a partner key (VFN_…) and a signature',
  },
  {
    prefix: 'VFN_SK_',
    message: 'is a secret (VFN_SK_…), which is never sent; send the key ID (VFN_TEST_… or VFN_LIVE_…)',
  },
]

async function rejectUnauthorized(
  context: AuthenticationDeps,
  request: FastifyRequest,
  attempt: SignatureAttempt,
): Promise<never> {
  const { key } = attempt
  request.claimedKey = key
  await countFailedAuthentication(context, request.ip)
  // Reveals nothing about keys: the caller knows which headers were sent.
  const mistakes = headerMistakes(request)
  const [firstMistake] = mistakes
  const message = firstMistake
    ? `The request could not be authenticated: ${mistakes.map(({ path, message }) => `${path.replace('headers.', '')} ${message}`).join('; ')}. Sign the request as described in ${GUIDE_PATH}.`
    : UNAUTHORIZED_MESSAGE
  throw problem('UNAUTHORIZED', message, {
    details:
      key?.mode === 'test'
        ? debugDetails(request, attempt)
        : [...mistakes, ...(key ? [] : unknownTestKeyDetails(request))],
  })
}

/** Returns a detail if the request has the ID of a TEST key that does not exist. Of LIVE keys, nothing is revealed. */
function unknownTestKeyDetails(request: FastifyRequest): Detail[] {
  if (!headerValue(request, 'x-api-key').startsWith('VFN_TEST_')) return []
  return [
    {
      path: 'headers.x-api-key',
      message: 'is not a TEST key of this server; check the key ID and the address of the server',
    },
  ]
}

/** Returns the headers of the signature that are missing, and a session key or a secret in the place of a partner key. */
function headerMistakes(request: FastifyRequest): Detail[] {
  const missing = ['x-api-key', 'x-timestamp', 'x-signature']
    .filter((name) => headerValue(request, name) === '')
    .map((name) => ({ path: `headers.${name}`, message: 'is missing' }))
  const wrongKind = WRONG_KINDS_OF_KEYS.find(({ prefix }) => headerValue(request, 'x-api-key').startsWith(prefix))
  return wrongKind ? [{ path: 'headers.x-api-key', message: wrongKind.message }] : missing
}

/** Counts a failure towards the limit of the IP address. Throws if the limit is exceeded. */
export async function countFailedAuthentication({ limits }: Pick<Context, 'limits'>, ip: string): Promise<void> {
  const waitSeconds = await limits.recordFailedAuthentication(ip)
  if (waitSeconds > 0) {
    throw problem(
      'RATE_LIMITED',
      `Too many failed authentications from this IP address: the limit is 60 per minute. Correctly signed calls still succeed. Try again in ${formatSeconds(waitSeconds)}.`,
      { retryAfter: waitSeconds },
    )
  }
}

/** Returns debugging details for TEST keys: the string to sign, never the signature. */
function debugDetails(
  request: FastifyRequest,
  { key, hasValidSignature, clockDifferenceSeconds, signedText }: SignatureAttempt,
): Detail[] {
  const formatHint = isWellFormedSignature(headerValue(request, 'x-signature'))
    ? ''
    : 'The signature must be v1= followed by 64 lower-case hex digits. '
  const digestHint = request.rawBody.length > 0 ? '; its last line is the SHA-256 of the request body as received' : ''
  return [
    { path: 'headers.x-timestamp', message: clockHint(clockDifferenceSeconds, headerValue(request, 'x-timestamp')) },
    {
      path: 'headers.x-signature',
      message: `${formatHint}The server expected this string to sign${digestHint}:\n${decodeHeader(signedText)}`,
    },
    ...(hasValidSignature && isWithinClockWindow(clockDifferenceSeconds)
      ? [{ path: 'headers.x-api-key', message: `${key?.revoked ? 'was revoked' : 'has expired'}; use another key` }]
      : []),
  ]
}

function clockHint(clockDifferenceSeconds: number | undefined, timestamp: string) {
  if (/^\d{13}$/.test(timestamp)) return 'must be Unix time in whole seconds; got milliseconds (divide by 1,000)'
  if (clockDifferenceSeconds === undefined) return 'must be Unix time in whole seconds'
  if (clockDifferenceSeconds === 0) return "Your clock matches the server's."
  const direction = clockDifferenceSeconds > 0 ? 'behind' : 'ahead of'
  return `Your clock is ${formatSeconds(Math.abs(clockDifferenceSeconds))} ${direction} the server's; at most ${formatSeconds(CLOCK_WINDOW_SECONDS)} are allowed.`
}
