import { DAY, MINUTE } from '../../platform/clock.ts'

/** Daily limits start afresh at midnight in India, five and a half hours ahead of UTC. */
const INDIA = 330 * MINUTE

/** The day in India that a moment belongs to, counted since 1970. */
export function dayOf(now: number): number {
  return Math.floor((now + INDIA) / DAY)
}

/** The midnight at which a day begins. */
export function dayStart(day: number): number {
  return day * DAY - INDIA
}

export function minuteOf(now: number): number {
  return Math.floor(now / MINUTE)
}

/**
 * The one rule for a clock that runs backwards, the same in both engines. A meter does not follow the clock back by up
 * to a twelfth of its window: it stands still until the clock has caught up, so that no stretch of time refills it twice
 * and servers whose clocks differ a little share one window. Further back, the clock counts as corrected: the meter moves to
 * the new time and keeps what it has used, so that nobody waits longer than the window and that twelfth.
 */
export function slackOf(window: number): number {
  return window / 12
}

/** Token buckets stand beside the minute windows and share their slack: five seconds. */
export const SLACK = slackOf(MINUTE)
export const DAY_SLACK = slackOf(DAY)

/** Whole seconds as headers carry them: rounded up, so that who waits that long does pass. */
export function seconds(ms: number): number {
  return Math.ceil(ms / 1000)
}
