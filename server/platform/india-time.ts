import { DAY, HOUR, MINUTE } from './clock.ts'

/** India has one time zone, 5 h 30 min ahead of UTC, without daylight saving time. */
export const INDIA_OFFSET_MS = 5 * HOUR + 30 * MINUTE

/** Returns the date in India at a time (epoch milliseconds), as the number of days since 1970-01-01. */
export function indianDayNumber(time: number): number {
  return Math.floor((time + INDIA_OFFSET_MS) / DAY)
}

/** Returns the time (epoch milliseconds) at which a day, given as the number of days since 1970-01-01, begins in India. */
export function indianDayStart(day: number): number {
  return day * DAY - INDIA_OFFSET_MS
}

/** Returns the date in India at a time (epoch milliseconds), in the form `2026-03-11`. */
export function indianDate(time: number): string {
  return new Date(time + INDIA_OFFSET_MS).toISOString().slice(0, 10)
}

/** Returns the milliseconds since midnight in India at a time (epoch milliseconds). */
export function indianTimeOfDay(time: number): number {
  return (time + INDIA_OFFSET_MS) % DAY
}
