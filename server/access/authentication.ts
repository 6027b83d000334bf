import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type Detail, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { seconds } from '../platform/clock.ts'
import { HmacKey } from './hmac.ts'
import type { PartnerKey } from './keyring.ts'
import { CLOCK_WINDOW, clockDifference, isSigned, isWellFormed, linesToSign } from './signature.ts'

/** Stands in for the secret of an unknown key, so that finding out costs as much as a wrong signature. */
const NOBODYS_SECRET = new HmacKey(randomBytes(50))

/** Sets `request.caller`, or refuses: one answer for every cause. Answers at once but where keys must be fetched first. */
export function authenticate(context: Context, request: FastifyRequest): undefined | Promise<void> {
  const stale = context.keyring.stale()
  return stale ? stale.then(() => identify(context, request)) : identify(context, request)
}

function identify(context: Context, request: FastifyRequest): undefined | Promise<never> {
  const now = context.clock.now()
  const keyId = header(request, 'x-api-key')
  const timestamp = header(request, 'x-timestamp')
  const onBehalfOf = header(request, 'x-on-behalf-of')
  const idempotencyKey = header(request, 'idempotency-key')
  const lines = linesToSign({
    timestamp,
    method: request.raw.method!,
    target: request.originalUrl,
    onBehalfOf,
    idempotencyKey,
    body: request.rawBody,
  })

  const key = context.keyring.partnerKey(keyId)
  const signed = isSigned(lines, header(request, 'x-signature'), key ? key.secrets(now) : [NOBODYS_SECRET])
  const difference = clockDifference(timestamp, now)
  const inTime = difference !== undefined && Math.abs(difference) <= CLOCK_WINDOW
  if (!key || !signed || !inTime || key.revoked || now >= key.expiresAt) {
    return refuse(context, request, key, difference, lines)
  }
  request.caller = {
    orgId: key.orgId,
    mode: key.mode,
    keyId,
    key,
    onBehalfOf: onBehalfOf || undefined,
    idempotencyKey: idempotencyKey || undefined,
    via: 'api',
  }
  return undefined
}

/** Node reads headers as Latin-1; people write them in UTF-8. */
export function textOfHeader(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8')
}

function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

const MESSAGE = 'The request could not be authenticated: check the key, the clock and the signature.'

async function refuse(
  context: Context,
  request: FastifyRequest,
  key: PartnerKey | undefined,
  difference: number | undefined,
  lines: string,
): Promise<never> {
  request.claimed = key
  const wait = await context.limits.failedAuthentication(request.ip)
  if (wait > 0) {
    throw problem(
      'RATE_LIMITED',
      `Too many calls from this address failed to authenticate: 60 a minute may. Calls that are signed right still pass; try again in ${seconds(wait)}.`,
      { retryAfter: wait },
    )
  }
  throw problem('UNAUTHORIZED', MESSAGE, { details: key?.mode === 'test' ? hints(request, difference, lines) : [] })
}

/** For TEST keys alone: what the server read, never what it expected. */
function hints(request: FastifyRequest, difference: number | undefined, lines: string): Detail[] {
  const form = isWellFormed(header(request, 'x-signature')) ? '' : 'It must be v1= and 64 lower-case hex digits. '
  const digest = request.rawBody.length > 0 ? "; the last is the SHA-256 of the body's bytes as they came" : ''
  return [
    { path: 'headers.x-timestamp', message: clockHint(difference, header(request, 'x-timestamp')) },
    {
      path: 'headers.x-signature',
      message: `${form}The server read these seven lines to sign${digest}:\n${textOfHeader(lines)}`,
    },
  ]
}

function clockHint(difference: number | undefined, given: string) {
  if (/^\d{13}$/.test(given)) return 'must be Unix time in whole seconds; these are milliseconds: divide by 1,000'
  if (difference === undefined) return 'must be Unix time in whole seconds'
  if (difference === 0) return 'The clocks agree.'
  const direction = difference > 0 ? 'behind' : 'ahead of'
  return `The clocks differ by ${seconds(Math.abs(difference))}: yours is ${direction} the server's; ${CLOCK_WINDOW} are allowed.`
}
