import { seconds } from '../../platform/clock.ts'
import type { Over, Rule } from './limiter.ts'
import { REFUSALS_BEFORE_COOLDOWN } from './limiter.ts'
import type { BucketName, KeyLimits } from './table.ts'

/** Which limit a call was over and when it could pass, in words that somebody can act on. */
export function overLimit({ bucket, meter, rests }: Over, limits: KeyLimits, retryAfter: number): string {
  const { rate, burst, minute, day } = limits.buckets[bucket]
  const allowed = {
    second: `${perSecond(rate)} (burst ${amount(burst)})`,
    minute: `${amount(minute)} a minute`,
    day: `${amount(day)} a day`,
  }[meter]
  const rest = rests
    ? ` This was refused call ${REFUSALS_BEFORE_COOLDOWN} within a minute, so the whole key rests now (cooldown).`
    : ''
  const midnight = meter === 'day' && !rests ? ', at midnight IST' : ''
  return `Too many calls: ${bucket} allows ${allowed} ${holder(bucket)}.${rest} Try again in ${seconds(retryAfter)}${midnight}.`
}

export function resting(retryAfter: number): string {
  return `This key rests (cooldown) after ${REFUSALS_BEFORE_COOLDOWN} refused calls within a minute, or too many browse pages within an hour. Try again in ${seconds(retryAfter)}; calling sooner does not make it longer.`
}

/** What a rule allows: `15 a minute`, `100 in 15 minutes`, `50 a second (burst 50)`. */
export function allowance({ kind, limit, seconds: window }: Rule): string {
  if (kind === 'tokens') return `${perSecond(limit / window)} (burst ${amount(limit)})`
  if (window === 60) return `${amount(limit)} a minute`
  return `${amount(limit)} in ${window % 60 === 0 ? `${window / 60} minutes` : seconds(window)}`
}

function holder(bucket: BucketName): string {
  if (bucket === 'key') return 'for all calls of this key together'
  return bucket === 'recruiter' ? 'for each recruiter (x-on-behalf-of) of this key' : 'for this key'
}

/** Rates below one are told by the time between two calls. */
function perSecond(rate: number): string {
  return rate >= 1 ? `${amount(rate)} a second` : `1 in ${amount(1 / rate)} seconds`
}

function amount(number: number): string {
  return number.toLocaleString('en-US', { maximumFractionDigits: 2 })
}
