import type { CandidateChange } from '../campaigns/progress.ts'
import { dailyNumbers, numbers } from './numbers.ts'

/** What is shown by day. */
export const dailyCounters = [...dailyNumbers.values()]

/** Everything that is counted; the totals have a column for each. */
export const counters: readonly string[] = [...new Set([...numbers.values(), ...dailyCounters])]

/** So much more of something on a day in India. */
export interface Count {
  day: string
  counter: string
  amount: number
}

/**
 * What a change of a candidate adds. Everything counts on the day of the enrolment, so that all figures of a period are about
 * the same people; only `ended` counts on the day on which it happened.
 */
export function countsOf(change: CandidateChange): Count[] {
  const { enrolledDay, day, enrolled, reached, channels, followUps, calls, language, languageBefore } = change
  const { ended, dropOff } = change
  const list: Count[] = []
  const add = (counter: string, amount = 1, on = enrolledDay) => list.push({ day: on, counter, amount })
  if (enrolled) {
    add('funnel_enrolled')
    add(`language_${language}_candidates`)
  } else if (language !== languageBefore) {
    add(`language_${languageBefore}_candidates`, -1)
    add(`language_${language}_candidates`)
  }
  for (const stage of reached) add(`funnel_${stage}`)
  for (const { channel, what } of channels) add(`channel_${channel}_${what}`)
  for (const { step, what } of followUps) add(`follow_up_${step}_${what}`)
  for (const { outcome, seconds } of calls) {
    add(`call_${outcome}`)
    if (seconds > 0) add('call_seconds', seconds)
  }
  if (dropOff) add(`drop_off_${dropOff}`)
  if (ended) add(`ended_${ended}`, 1, day)
  if (ended === 'completed') add(`language_${language}_completed`)
  return list
}
