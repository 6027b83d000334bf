import { Type } from 'typebox'
import { CAMPAIGN_ID } from '../campaigns/schema.ts'
import { channelNames } from '../channels/channel.ts'
import { MANDATE_ID } from '../mandates/schema.ts'
import { languages } from '../workflows/workflows.ts'
import {
  callOutcomes,
  channelCounts,
  dropOffPoints,
  ends,
  followUpCounts,
  funnelSteps,
  languageCounts,
} from './counters.ts'

const count = Type.Integer({ minimum: 0 })

function countsOf<Name extends string>(names: readonly Name[]): Record<Name, typeof count> {
  return Object.fromEntries(names.map((name) => [name, count])) as Record<Name, typeof count>
}

export const Overview = Type.Object({
  funnel: Type.Object(countsOf(funnelSteps), {
    description:
      'Candidates enrolled in the period, and how many of them came how far by now. From `enrolled` to `completed` it never grows: a stage that does not apply, or was skipped after a knockout, counts as done.',
  }),
  channels: Type.Array(Type.Object({ channel: Type.Enum([...channelNames]), ...countsOf(channelCounts) }), {
    description: 'First messages and follow-ups; `replied` counts each candidate once.',
  }),
  follow_ups: Type.Array(Type.Object({ step: Type.Integer({ minimum: 1 }), ...countsOf(followUpCounts) })),
  calls: Type.Object({
    ...countsOf(callOutcomes),
    total_seconds: count,
    average_seconds: Type.Number({ description: 'Of the calls that were answered; 0 where none was.' }),
  }),
  drop_offs: Type.Array(Type.Object({ at: Type.Enum([...dropOffPoints]), candidates: count }), {
    description: 'Where those who declined or failed were lost.',
  }),
  languages: Type.Array(Type.Object({ language: Type.Enum([...languages]), ...countsOf(languageCounts) })),
  daily: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), enrolled: count, ...countsOf(ends) }), {
    description: 'Every day of the period: who was enrolled on it, and whose result came on it.',
  }),
})

const date = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[12]\\d{3}-\\d{2}-\\d{2}$', description, examples: ['2026-03-11'] }))

export const PeriodQuery = Type.Object({
  from: date('A day in India. Without it, the 30 days that end with `to`.'),
  to: date('A day in India, included. Today without it.'),
})

export const OverviewQuery = Type.Object({
  ...PeriodQuery.properties,
  mandate_id: Type.Optional(Type.String({ pattern: MANDATE_ID })),
  campaign_id: Type.Optional(Type.String({ pattern: CAMPAIGN_ID })),
})
