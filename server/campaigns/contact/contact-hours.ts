import { DAY, HOUR } from '../../platform/clock.ts'

/** India has one time, 5 h 30 min ahead of UTC, all year. */
const AHEAD = 5.5 * HOUR

/** People are contacted from nine in the morning to eight in the evening, Indian time. */
const OPENS = 9 * HOUR
const CLOSES = 20 * HOUR

/** The time itself within contact hours, else when they next begin. */
export function nextContactTime(time: number): number {
  const sinceMidnight = (time + AHEAD) % DAY
  if (sinceMidnight < OPENS) return time + OPENS - sinceMidnight
  return sinceMidnight < CLOSES ? time : time + DAY + OPENS - sinceMidnight
}

/** The day in India, as `2026-03-11`. */
export function indianDay(time: number): string {
  return new Date(time + AHEAD).toISOString().slice(0, 10)
}
