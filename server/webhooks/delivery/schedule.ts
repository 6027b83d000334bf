import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'

/** Delays after the first failure, the second, and so on. */
const RETRY_DELAYS_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
]
const LATER_RETRY_DELAY_MS = 12 * HOUR
/** Random fraction added to or subtracted from a delay, so that deliveries that failed together are not retried together. */
const JITTER_FRACTION = 0.1
/** Limit on the delay that an endpoint can request with Retry-After. */
const MAX_REQUESTED_DELAY_MS = DAY

/** Returns the time of the next attempt after this many failures. */
export function nextAttempt(now: number, failures: number, requestedDelayMs = 0, random = Math.random): number {
  const delayMs = RETRY_DELAYS_MS[failures - 1] ?? LATER_RETRY_DELAY_MS
  const jitteredMs = delayMs * (1 - JITTER_FRACTION + 2 * JITTER_FRACTION * random())
  return Math.ceil(now + Math.max(jitteredMs, Math.min(requestedDelayMs, MAX_REQUESTED_DELAY_MS)))
}
