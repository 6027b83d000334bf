import { formatSeconds, SECOND } from '../../platform/clock.ts'
import type { ExceededMeter, Rule } from './limiter.ts'
import { REJECTIONS_BEFORE_COOLDOWN } from './limiter.ts'
import type { BucketName, KeyLimits } from './table.ts'

/** Names the exceeded limit, its bucket, and when to retry. */
export function rateLimitMessage(
  { bucket, meter, startsCooldown }: ExceededMeter,
  limits: KeyLimits,
  retryAfter: number,
): string {
  const { rate, burst, minute, day } = limits.buckets[bucket]
  const allowed = {
    second: `${perSecond(rate, calls)} (burst ${amount(burst)})`,
    minute: `${calls(minute)} per minute`,
    day: `${calls(day)} per day`,
  }[meter]
  const cooldown = startsCooldown
    ? ` This was the ${REJECTIONS_BEFORE_COOLDOWN}th rejected call within a minute, so the whole key is now in cooldown.`
    : ''
  const midnight = meter === 'day' && !startsCooldown ? ', at midnight IST' : ''
  return `Rate limit exceeded: ${bucket} allows ${allowed} ${bucketScope(bucket)}.${cooldown} Try again in ${formatSeconds(retryAfter)}${midnight}.`
}

export function cooldownMessage(retryAfter: number, now: number): string {
  const end = new Date(Math.ceil(now / SECOND + retryAfter) * SECOND).toISOString().slice(11, 19)
  return `This key is in cooldown until ${end} UTC (after ${REJECTIONS_BEFORE_COOLDOWN} rejected calls within a minute, or too many browse pages within an hour). Try again in ${formatSeconds(retryAfter)}; calling earlier does not extend it.`
}

/** Describes the limit of a rule: `15 per minute`, `100 per 15 minutes`, `50 per second (burst 50)`. */
export function describeLimit({ kind, limit, seconds }: Rule): string {
  if (kind === 'tokens') return `${perSecond(limit / seconds, amount)} (burst ${amount(limit)})`
  if (seconds === 60) return `${amount(limit)} per minute`
  return `${amount(limit)} per ${seconds % 60 === 0 ? `${seconds / 60} minutes` : formatSeconds(seconds)}`
}

function bucketScope(bucket: BucketName): string {
  if (bucket === 'key') return 'for all calls of this key together'
  return bucket === 'recruiter' ? 'for each recruiter (x-on-behalf-of) of this key' : 'for this key'
}

/** Describes rates below one by the time between two calls: `1 every 5 seconds`. */
function perSecond(rate: number, describe: (count: number) => string): string {
  return rate >= 1 ? `${describe(rate)} per second` : `${describe(1)} every ${amount(1 / rate)} seconds`
}

function calls(count: number): string {
  return `${amount(count)} ${count === 1 ? 'call' : 'calls'}`
}

function amount(number: number): string {
  return number.toLocaleString('en-US', { maximumFractionDigits: 2 })
}
