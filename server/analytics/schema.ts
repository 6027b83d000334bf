import { Type } from 'typebox'
import { CAMPAIGN_ID, ResultReasonSchema, ResultStatusSchema } from '../campaigns/schema.ts'
import { channelNames } from '../channels/channel.ts'
import { MANDATE_ID } from '../mandates/schema.ts'
import { named, withNotes } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { describePattern } from '../platform/http/validation.ts'
import { ResultOutput } from '../results/schema.ts'
import { Language, WORKFLOW_ID } from '../workflows/schema.ts'
import {
  callOutcomes,
  channelCounts,
  dailyCounts,
  dropOffPoints,
  followUpCounts,
  funnelStages,
  languageCounts,
} from './numbers.ts'

const count = Type.Integer({ minimum: 0 })

function countsOf<Name extends string>(names: readonly Name[]): Record<Name, typeof count> {
  return Object.fromEntries(names.map((name) => [name, count])) as Record<Name, typeof count>
}

export const Overview = named(
  'AnalyticsOverview',
  Type.Object({
    funnel: Type.Object(countsOf(funnelStages), {
      description:
        'Candidates enrolled in the period, and how many of them have reached each stage by now. From `enrolled` to `completed`, no count is higher than the one before it: a stage that does not apply, or was skipped after a knockout, counts as done.',
    }),
    channels: Type.Array(Type.Object({ channel: Type.Enum([...channelNames]), ...countsOf(channelCounts) }), {
      description: 'First messages and follow-ups. `replied` counts each candidate once.',
    }),
    follow_ups: Type.Array(Type.Object({ step: Type.Integer({ minimum: 1 }), ...countsOf(followUpCounts) })),
    calls: Type.Object({
      ...countsOf(callOutcomes),
      total_seconds: count,
      average_seconds: Type.Number({
        description: 'Average duration of answered calls, in seconds. 0 if there are none.',
      }),
    }),
    drop_offs: Type.Array(Type.Object({ at: Type.Enum([...dropOffPoints]), candidates: count }), {
      description: 'The stage at which candidates declined or failed.',
    }),
    languages: Type.Array(Type.Object({ language: Language, ...countsOf(languageCounts) })),
    daily: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), ...countsOf(dailyCounts) }), {
      description: 'For each day of the period: candidates enrolled on that day, and results decided on that day.',
    }),
  }),
)

const DATE = describePattern('^[12]\\d{3}-\\d{2}-\\d{2}$', 'must be a date in YYYY-MM-DD format, such as 2026-03-11')
const date = (description: string) =>
  Type.Optional(Type.String({ pattern: DATE, description, examples: ['2026-03-11'] }))

const period = {
  from: date(
    'First day of the period, a calendar day in India. By default, the period is the 30 days that end with `to`.',
  ),
  to: date('Last day of the period, a calendar day in India. Default: today.'),
}

export const OverviewQuery = Type.Object({
  ...period,
  mandate_id: Type.Optional(Type.String({ pattern: MANDATE_ID })),
  campaign_id: Type.Optional(Type.String({ pattern: CAMPAIGN_ID })),
})

export const CountedQuery = Type.Object({
  counted: Type.String({
    maxLength: 100,
    description:
      'The path of a number in the overview, for example `funnel.responded`, `channels.whatsapp.replied`, `follow_ups.1.sent`, `calls.no_answer`, `drop_offs.skills`, `languages.hi.completed`, `daily.2026-03-11.enrolled`. Averages have no candidate list.',
    examples: ['funnel.responded'],
  }),
  ...period,
  workflow_id: Type.Optional(Type.String({ pattern: WORKFLOW_ID })),
  mandate_id: Type.Optional(Type.String({ pattern: MANDATE_ID })),
  campaign_id: Type.Optional(Type.String({ pattern: CAMPAIGN_ID })),
  ...pageQuery,
})

export const CountedCandidate = named(
  'CountedCandidate',
  Type.Object({
    candidate_id: Type.String(),
    campaign_id: Type.String(),
    campaign_name: Type.Optional(Type.String()),
    mandate_id: Type.String(),
    result_id: Type.String(),
    name: Type.String(),
    external_candidate_id: Type.String(),
    status: withNotes(ResultStatusSchema, { description: 'The current status of the result.' }),
    reason: Type.Union([ResultReasonSchema, Type.Null()], {
      description: 'Why the result was declined or failed. Null otherwise.',
    }),
    qualified: ResultOutput.properties.qualified,
    knocked_out_by: Type.Union([Type.Object({ key: Type.String(), question: Type.String() }), Type.Null()], {
      description: 'The question with the knockout answer: its key and its text, in English if available.',
    }),
    skills: Type.Optional(
      Type.Array(Type.Pick(ResultOutput.properties.skills.items, ['skill_id', 'name', 'verdict']), {
        description: 'The verdict on each skill. Absent if no skill is verified.',
      }),
    ),
    interest: ResultOutput.properties.interest,
    times: Type.Integer({
      minimum: 1,
      description:
        'Number of times the candidate is counted. Each message or call counts once; for `calls.total_seconds`, each second counts once. The sum over the whole list equals the number.',
    }),
  }),
)
