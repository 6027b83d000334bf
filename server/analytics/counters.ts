import type { CandidateChange } from '../campaigns/progress.ts'
import { stages } from '../campaigns/stages.ts'
import { channelNames } from '../channels/channel.ts'
import { languages } from '../workflows/workflows.ts'

export const funnelSteps = ['enrolled', ...stages] as const
export const channelCounts = ['sent', 'delivered', 'read', 'replied', 'failed'] as const
export const followUpCounts = ['sent', 'replied'] as const
export const callOutcomes = ['placed', 'answered', 'no_answer', 'busy', 'failed'] as const
export const dropOffPoints = ['no_response', 'consent', 'language', 'enrichment', 'skills', 'interest'] as const
export const languageCounts = ['candidates', 'completed'] as const
export const ends = ['completed', 'declined', 'failed'] as const
/** A workflow has no more of them. */
export const MOST_FOLLOW_UPS = 5

/** What is shown by day. */
export const dailyCounters = ['funnel_enrolled', ...ends.map((end) => `ended_${end}`)]

/** Everything that is counted; the totals have a column for each. */
export const counters: readonly string[] = [
  ...funnelSteps.map((step) => `funnel_${step}`),
  ...channelNames.flatMap((channel) => channelCounts.map((what) => `channel_${channel}_${what}`)),
  ...Array.from({ length: MOST_FOLLOW_UPS }, (_, before) =>
    followUpCounts.map((what) => `follow_up_${before + 1}_${what}`),
  ).flat(),
  ...callOutcomes.map((outcome) => `call_${outcome}`),
  'call_seconds',
  ...dropOffPoints.map((at) => `drop_off_${at}`),
  ...languages.flatMap((language) => languageCounts.map((what) => `language_${language}_${what}`)),
  ...ends.map((end) => `ended_${end}`),
]

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
