import { formatSeconds, formatWait, SECOND } from '../../platform/clock.ts'
import type { ExceededMeter, Rule } from './limiter.ts'
import { type BucketName, type KeyLimits, REJECTIONS_BEFORE_COOLDOWN } from './table.ts'

/** Tells callers with a TEST key how an automated test suite gets the limits of LIVE keys. */
const TEST_KEY_NOTICE =
  'TEST keys have one tenth of the limits of LIVE keys; for automated tests, ask the operator to run `attestry key limits KEY --preset ci`.'

/** Returns the error message for an exceeded limit: the limit, its bucket, and when to retry. */
export function rateLimitMessage(
  { bucket, meter, startsCooldown, shared, startsSharedCooldown }: ExceededMeter,
  limits: KeyLimits,
  retryAfter: number,
): string {
  const exceededLimits = shared ? limits.shared!.limits : limits
  const { rate, burst, minute, day } = exceededLimits.buckets[bucket]
  const allowance = {
    second: `${describeRate(rate, formatCalls)} (burst ${formatNumber(burst)})`,
    minute: `${formatCalls(minute)} per minute`,
    day: `${formatCalls(day)} per day`,
  }[meter]
  const midnightNotice = meter === 'day' && !startsCooldown && !startsSharedCooldown ? ', at midnight IST' : ''
  const scope = shared ? 'for all keys of your organisation together' : bucketScope(bucket)
  const testKeyNotice = limits.scale === 'test' ? ` ${TEST_KEY_NOTICE}` : ''
  const bucketName = shared && bucket === 'key' ? 'organisation' : bucket
  return `Rate limit exceeded: ${bucketName} allows ${allowance} ${scope}.${cooldownNotice()} Try again in ${formatWait(retryAfter)}${midnightNotice}.${testKeyNotice}`

  function cooldownNotice() {
    if (startsSharedCooldown)
      return ` This was the ${limits.shared!.limits.rejectionsBeforeCooldown}th rejected call of your organisation within a minute, so all its keys are now in cooldown.`
    if (!startsCooldown) return ''
    return ` This was the ${REJECTIONS_BEFORE_COOLDOWN}th rejected call within a minute, so the whole key is now in cooldown.`
  }
}

/** Returns the error message for a call during a cooldown of the key, or of all keys of the organisation. */
export function cooldownMessage(limits: KeyLimits, isShared: boolean, retryAfter: number, now: number): string {
  const endTime = new Date(Math.ceil(now / SECOND + retryAfter) * SECOND).toISOString().slice(11, 19)
  const subject = isShared ? 'All keys of your organisation are' : 'This key is'
  const { rejectionsBeforeCooldown } = isShared ? limits.shared!.limits : limits
  return `${subject} in cooldown until ${endTime} UTC (after ${rejectionsBeforeCooldown} rejected calls within a minute, or too many browse pages within an hour). Try again in ${formatWait(retryAfter)}; calling earlier does not extend it.`
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
