import { DAY, MINUTE } from '../../platform/clock.ts'
import type { LimitError } from './limiter.ts'

export function minuteNumber(now: number): number {
  return Math.floor(now / MINUTE)
}

/**
 * Returns by how many milliseconds a clock may be set back before a meter follows it; both engines use the same rule. Within a
 * twelfth of its window, a meter keeps its time until the clock has caught up, so that it is not refilled twice for the same period
 * and servers with slightly different clocks share one window. Beyond that, the clock is assumed to be corrected: the meter moves to
 * the new time and keeps its counts, so that callers wait at most the window plus a twelfth.
 */
export function clockSlackMs(windowMs: number): number {
  return windowMs / 12
}

/** Five seconds; used for token buckets, too. */
export const MINUTE_SLACK_MS = clockSlackMs(MINUTE)
export const DAY_SLACK_MS = clockSlackMs(DAY)

/** Rounds up to whole seconds for headers, so that a retry after that time succeeds. */
export function toWholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000)
}

/** Returns the error for the longer one of two waits: that of the key, or that of all keys of its organisation. */
export function toLimitError(code: LimitError['code'], keyMs: number, sharedMs: number): LimitError {
  return sharedMs > keyMs
    ? { code, retryAfter: toWholeSeconds(sharedMs), shared: true }
    : { code, retryAfter: toWholeSeconds(keyMs) }
}
