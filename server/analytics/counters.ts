import type { CandidateChange } from '../campaigns/progress.ts'
import { counterByDailyName, counterByPath } from './figures.ts'

/** Counters that the overview shows per day. */
export const dailyCounters = [...counterByDailyName.values()]

/** All counters; the totals table has a column for each. */
export const counters: readonly string[] = [...new Set([...counterByPath.values(), ...dailyCounters])]

/** An increment of a counter on a day in India. */
export interface Count {
  day: string
  counter: string
  amount: number
}

/**
 * Returns the counts that a change of a candidate adds. They count on the day of enrolment, so that all figures of a period describe
 * the same candidates; only `ended` counts on the day it happened.
 */
export function countsOf(change: CandidateChange): Count[] {
  const { enrolledDay, day, enrolled, reached, channels, followUps, calls, language, languageBefore } = change
  const { ended, dropOff } = change
  const counts: Count[] = []
  const add = (counter: string, amount = 1, on = enrolledDay) => counts.push({ day: on, counter, amount })
  if (enrolled) {
    add('funnel_enrolled')
    add(`language_${language}_candidates`)
  } else if (language !== languageBefore) {
    add(`language_${languageBefore}_candidates`, -1)
    add(`language_${language}_candidates`)
  }
  for (const stage of reached) add(`funnel_${stage}`)
  for (const { channel, event } of channels) add(`channel_${channel}_${event}`)
  for (const { followUpNumber, event } of followUps) add(`follow_up_${followUpNumber}_${event}`)
  for (const { outcome, seconds } of calls) {
    add(`call_${outcome}`)
    if (seconds > 0) add('call_seconds', seconds)
  }
  if (dropOff) add(`drop_off_${dropOff}`)
  if (ended) add(`ended_${ended}`, 1, day)
  if (ended === 'completed') add(`language_${language}_completed`)
  return counts
}
