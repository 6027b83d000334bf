import { formatSeconds, formatWait, SECOND } from '../../platform/clock.ts'
import type { ExceededMeter, Rule } from './limiter.ts'
import { REJECTIONS_BEFORE_COOLDOWN } from './limiter.ts'
import type { BucketName, KeyLimits } from './table.ts'

/** Returns the error message for an exceeded limit: the limit, its bucket, and when to retry. */
export function rateLimitMessage(
  { bucket, meter, startsCooldown }: ExceededMeter,
  limits: KeyLimits,
  retryAfter: number,
): string {
  const { rate, burst, minute, day } = limits.buckets[bucket]
  const allowance = {
    second: `${describeRate(rate, formatCalls)} (burst ${formatNumber(burst)})`,
    minute: `${formatCalls(minute)} per minute`,
    day: `${formatCalls(day)} per day`,
  }[meter]
  const cooldownNotice = startsCooldown
    ? ` This was the ${REJECTIONS_BEFORE_COOLDOWN}th rejected call within a minute, so the whole key is now in cooldown.`
    : ''
  const midnightNotice = meter === 'day' && !startsCooldown ? ', at midnight IST' : ''
  return `Rate limit exceeded: ${bucket} allows ${allowance} ${bucketScope(bucket)}.${cooldownNotice} Try again in ${formatWait(retryAfter)}${midnightNotice}.`
}

export function cooldownMessage(retryAfter: number, now: number): string {
  const endTime = new Date(Math.ceil(now / SECOND + retryAfter) * SECOND).toISOString().slice(11, 19)
  return `This key is in cooldown until ${endTime} UTC (after ${REJECTIONS_BEFORE_COOLDOWN} rejected calls within a minute, or too many browse pages within an hour). Try again in ${formatWait(retryAfter)}; calling earlier does not extend it.`
}

/** Describes the limit of a rule: `15 per minute`, `100 per 15 minutes`, `50 per second (burst 50)`. */
export function describeLimit({ kind, limit, seconds }: Rule): string {
  if (kind === 'tokens') return `${describeRate(limit / seconds, formatNumber)} (burst ${formatNumber(limit)})`
  if (seconds === 60) return `${formatNumber(limit)} per minute`
  return `${formatNumber(limit)} per ${seconds % 60 === 0 ? `${seconds / 60} minutes` : formatSeconds(seconds)}`
}

function bucketScope(bucket: BucketName): string {
  if (bucket === 'key') return 'for all calls of this key together'
  return bucket === 'recruiter' ? 'for each recruiter (x-on-behalf-of) of this key' : 'for this key'
}

/** Describes a rate per second; a rate below one as the time between two calls: `1 every 5 seconds`. */
function describeRate(rate: number, describe: (count: number) => string): string {
  return rate >= 1 ? `${describe(rate)} per second` : `${describe(1)} every ${formatNumber(1 / rate)} seconds`
}

function formatCalls(count: number): string {
  return `${formatNumber(count)} ${count === 1 ? 'call' : 'calls'}`
}

function formatNumber(number: number): string {
  return number.toLocaleString('en-US', { maximumFractionDigits: 2 })
}
