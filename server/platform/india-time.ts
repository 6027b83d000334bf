import { DAY, HOUR, MINUTE } from './clock.ts'

/** India has one time zone, 5 h 30 min ahead of UTC, without daylight saving time. */
export const INDIA_OFFSET_MS = 5 * HOUR + 30 * MINUTE

/** Returns the day in India as days since 1970. */
export function indianDayNumber(time: number): number {
  return Math.floor((time + INDIA_OFFSET_MS) / DAY)
}

/** Returns the time at which a day, given as days since 1970, begins in India. */
export function indianDayStart(day: number): number {
  return day * DAY - INDIA_OFFSET_MS
}

/** Returns the day in India as `2026-03-11`. */
export function indianDate(time: number): string {
  return new Date(time + INDIA_OFFSET_MS).toISOString().slice(0, 10)
}

/** Returns the milliseconds since midnight in India. */
export function indianTimeOfDay(time: number): number {
  return (time + INDIA_OFFSET_MS) % DAY
}
