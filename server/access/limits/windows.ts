import { DAY, MINUTE } from '../../platform/clock.ts'

export function minuteOf(now: number): number {
  return Math.floor(now / MINUTE)
}

/**
 * Returns how far a meter tolerates a clock that runs backwards; both engines use the same rule. Within a twelfth of its window, a
 * meter keeps its time until the clock has caught up, so that it is not refilled twice for the same period and servers with slightly
 * different clocks share one window. Beyond that, the clock is assumed to be corrected: the meter moves to the new time and keeps its
 * counts, so that callers wait at most the window plus a twelfth.
 */
export function clockSlack(windowMs: number): number {
  return windowMs / 12
}

/** Also the slack of token buckets: five seconds. */
export const MINUTE_SLACK_MS = clockSlack(MINUTE)
export const DAY_SLACK_MS = clockSlack(DAY)

/** Rounds up to whole seconds for headers, so that a retry after that time succeeds. */
export function toWholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000)
}
