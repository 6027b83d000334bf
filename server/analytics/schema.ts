import { Type } from 'typebox'
import { reasons, resultStatuses } from '../campaigns/candidacy.ts'
import { CAMPAIGN_ID, PageQuery } from '../campaigns/schema.ts'
import { channelNames } from '../channels/channel.ts'
import { MANDATE_ID } from '../mandates/schema.ts'
import { inWords } from '../platform/http/validation.ts'
import { ResultOutput } from '../results/schema.ts'
import { WORKFLOW_ID } from '../workflows/schema.ts'
import { languages } from '../workflows/workflows.ts'
import {
  callOutcomes,
  channelCounts,
  dailyCounts,
  dropOffPoints,
  followUpCounts,
  funnelSteps,
  languageCounts,
} from './numbers.ts'

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
  daily: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), ...countsOf(dailyCounts) }), {
    description: 'Every day of the period: who was enrolled on it, and whose result came on it.',
  }),
})

const DATE = inWords('^[12]\\d{3}-\\d{2}-\\d{2}$', 'must be a day such as 2026-03-11')
const date = (description: string) =>
  Type.Optional(Type.String({ pattern: DATE, description, examples: ['2026-03-11'] }))

export const PeriodQuery = Type.Object({
  from: date('A day in India. Without it, the 30 days that end with `to`.'),
  to: date('A day in India, included. Today without it.'),
})

export const OverviewQuery = Type.Object({
  ...PeriodQuery.properties,
  mandate_id: Type.Optional(Type.String({ pattern: MANDATE_ID })),
  campaign_id: Type.Optional(Type.String({ pattern: CAMPAIGN_ID })),
})

export const CountedQuery = Type.Object({
  counted: Type.String({
    maxLength: 100,
    description:
      'A number of the overview by its path: `funnel.responded`, `channels.whatsapp.replied`, `follow_ups.1.sent`, `calls.no_answer`, `drop_offs.skills`, `languages.hi.completed`, `daily.2026-03-11.enrolled`. Averages are no counts, and have no list.',
    examples: ['funnel.responded'],
  }),
  ...PeriodQuery.properties,
  workflow_id: Type.Optional(Type.String({ pattern: WORKFLOW_ID })),
  mandate_id: Type.Optional(Type.String({ pattern: MANDATE_ID })),
  campaign_id: Type.Optional(Type.String({ pattern: CAMPAIGN_ID })),
  ...PageQuery.properties,
})

export const CountedCandidate = Type.Object({
  candidate_id: Type.String(),
  campaign_id: Type.String(),
  campaign_name: Type.Optional(Type.String()),
  mandate_id: Type.String(),
  result_id: Type.String(),
  name: Type.String(),
  external_candidate_id: Type.String(),
  status: Type.Enum([...resultStatuses], { description: 'Of the result, now.' }),
  reason: Type.Union([Type.Enum([...reasons]), Type.Null()], {
    description: 'Why the result was declined or failed; null where it was not.',
  }),
  qualified: ResultOutput.properties.qualified,
  knocked_out_by: Type.Union([Type.Object({ key: Type.String(), question: Type.String() }), Type.Null()], {
    description: 'The question whose answer was a knockout: its key and its words, in English where it has them.',
  }),
  skills: Type.Optional(
    Type.Array(Type.Pick(ResultOutput.properties.skills.items, ['skill_id', 'name', 'verdict']), {
      description: 'The verdict on each skill; absent where no skill is verified.',
    }),
  ),
  interest: ResultOutput.properties.interest,
  times: Type.Integer({
    minimum: 1,
    description:
      'How often the candidate counts in the number: messages and calls are counted one by one, `calls.total_seconds` by the second. The sum over the list is the number.',
  }),
})
