import type { ChannelName } from '../../channels/channel.ts'
import { categoryOf, nextAllowedTime, rulesFor } from '../../channels/rules.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { indianDayNumber, indianDayStart, indianTimeOfDay } from '../../platform/india-time.ts'

/** Candidates are contacted from 09:00 to 20:00 IST; milliseconds since midnight. */
const CONTACT_START_MS = 9 * HOUR
const CONTACT_END_MS = 20 * HOUR

/** Time until the contact of a candidate who asked to be contacted later on the same day. */
const LATER_TODAY_MS = 4 * HOUR

/** Returns whether contact hours apply: in LIVE mode, and in TEST mode with a test clock. */
export function hasContactHours({
  mode,
  test_clock_id,
}: {
  mode: 'test' | 'live'
  test_clock_id: string | null
}): boolean {
  return mode === 'live' || test_clock_id !== null
}

/** Returns `time` if it is within contact hours, else their next start. */
export function nextContactTime(time: number): number {
  const sinceMidnight = indianTimeOfDay(time)
  if (sinceMidnight < CONTACT_START_MS) return time + CONTACT_START_MS - sinceMidnight
  return sinceMidnight < CONTACT_END_MS ? time : time + DAY + CONTACT_START_MS - sinceMidnight
}

/**
 * Returns when to contact a candidate who asked for it: later today, which is the next morning if the contact hours end before, or
 * tomorrow at the time of day of the first contact.
 */
export function requestedContactTime(when: 'today' | 'tomorrow', now: number, firstContactTime: number): number {
  if (when === 'today') return nextContactTime(now + LATER_TODAY_MS)
  const sinceMidnight = indianTimeOfDay(firstContactTime)
  const isWithinHours = sinceMidnight >= CONTACT_START_MS && sinceMidnight < CONTACT_END_MS
  return indianDayStart(indianDayNumber(now) + 1) + (isWithinHours ? sinceMidnight : CONTACT_START_MS)
}

export interface SendKind {
  channel: ChannelName
  /** Whether the message responds to a reply, so that contact hours do not apply. */
  isResponse: boolean
  /** Whether the message contains a confirmation code. */
  isCode: boolean
  /** Category in the channel settings. */
  category?: string | undefined
}

/** Rounds after which the contact hours and the hours of the rules have a common time, if their daily periods overlap. */
const MAX_ROUNDS = 4

/**
 * Returns `time` if the message may then be sent, else the next time at which it may. In LIVE mode, the rules of the recipient's country
 * apply in addition to contact hours. TEST messages reach no phone, so that only contact hours apply to them.
 */
export function nextSendTime(
  recipient: { mode: 'test' | 'live'; test_clock_id: string | null; phone: string | null },
  { channel, isResponse, isCode, category }: SendKind,
  time: number,
): number {
  const contactTime = (start: number) => (!isResponse && hasContactHours(recipient) ? nextContactTime(start) : start)
  if (recipient.mode === 'test') return contactTime(time)
  const rule = rulesFor(recipient.phone).channels[channel]
  if (isResponse && !rule.hours_apply_to_responses) return time
  const messageCategory = categoryOf(rule, isCode, category)
  let next = time
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const allowedTime = nextAllowedTime(recipient.phone, channel, messageCategory, contactTime(next))
    if (allowedTime === next) return next
    next = allowedTime
  }
  return next
}
