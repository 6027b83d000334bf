import { DAY, HOUR } from '../../platform/clock.ts'
import { indianTimeOfDay } from '../../platform/india-time.ts'

/** Candidates are contacted from 09:00 to 20:00 IST; milliseconds since midnight. */
const CONTACT_START_MS = 9 * HOUR
const CONTACT_END_MS = 20 * HOUR

/** Returns `time` if it is within contact hours, else their next start. */
export function nextContactTime(time: number): number {
  const sinceMidnight = indianTimeOfDay(time)
  if (sinceMidnight < CONTACT_START_MS) return time + CONTACT_START_MS - sinceMidnight
  return sinceMidnight < CONTACT_END_MS ? time : time + DAY + CONTACT_START_MS - sinceMidnight
}
