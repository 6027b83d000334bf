import { Type } from 'typebox'
import { CAMPAIGN_ID_PATTERN, ResultReasonSchema, ResultStatusSchema } from '../campaigns/schema.ts'
import { channelNames } from '../channels/channel.ts'
import { MANDATE_ID_PATTERN } from '../mandates/schema.ts'
import { named, withNotes } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { describePattern } from '../platform/http/validation.ts'
import { KnockoutAnswer, ResultOutput } from '../results/schema.ts'
import { Language, WORKFLOW_ID_PATTERN } from '../workflows/schema.ts'
import {
  callOutcomes,
  channelCounts,
  dailyCounts,
  dropOffPoints,
  followUpCounts,
  funnelStages,
  languageCounts,
} from './figures.ts'

const countSchema = Type.Integer({ minimum: 0 })

function countSchemas<Name extends string>(names: readonly Name[]): Record<Name, typeof countSchema> {
  return Object.fromEntries(names.map((name) => [name, countSchema])) as Record<Name, typeof countSchema>
}

export const Overview = named(
  'AnalyticsOverview',
  Type.Object({
    funnel: Type.Object(countSchemas(funnelStages), {
      description:
        'Candidates enrolled in the period, and how many of them have reached each stage by now. From `enrolled` to `completed`, no count is higher than the one before it: a stage that does not apply, or was skipped after a knockout, counts as done.',
    }),
    channels: Type.Array(Type.Object({ channel: Type.Enum([...channelNames]), ...countSchemas(channelCounts) }), {
      description:
        'First messages and follow-ups per channel, by delivery status. `replied` is the number of candidates who replied.',
    }),
    follow_ups: Type.Array(Type.Object({ step: Type.Integer({ minimum: 1 }), ...countSchemas(followUpCounts) }), {
      description:
        'For each follow-up of the workflow, numbered from 1 (`step`): messages sent, and candidates who first replied after it.',
    }),
    calls: Type.Object({
      ...countSchemas(callOutcomes),
      total_seconds: countSchema,
      average_seconds: Type.Number({
        description: 'Average duration of answered calls, in seconds. 0 if no call was answered.',
      }),
    }),
    drop_offs: Type.Array(Type.Object({ at: Type.Enum([...dropOffPoints]), candidates: countSchema }), {
      description: 'Number of candidates who declined or failed, by the stage at which this happened.',
    }),
    languages: Type.Array(Type.Object({ language: Language, ...countSchemas(languageCounts) })),
    daily: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), ...countSchemas(dailyCounts) }), {
      description:
        'For each day of the period: candidates enrolled on that day, and results completed, declined or failed on that day.',
    }),
  }),
)

const DATE_PATTERN = describePattern(
  '^[12]\\d{3}-\\d{2}-\\d{2}$',
  'must be a date in YYYY-MM-DD format, such as 2026-03-11',
)
const optionalDate = (description: string) =>
  Type.Optional(Type.String({ pattern: DATE_PATTERN, description, examples: ['2026-03-11'] }))

const periodQuery = {
  from: optionalDate(
    'First day of the period, a calendar day in India. By default, the period is the 30 days that end with `to`.',
  ),
  to: optionalDate('Last day of the period, a calendar day in India. Default: today.'),
}

export const OverviewQuery = Type.Object({
  ...periodQuery,
  mandate_id: Type.Optional(Type.String({ pattern: MANDATE_ID_PATTERN })),
  campaign_id: Type.Optional(Type.String({ pattern: CAMPAIGN_ID_PATTERN })),
})

export const CountedCandidatesQuery = Type.Object({
  counted: Type.String({
    maxLength: 100,
    description:
      'The path of a figure in the overview, for example `funnel.responded`, `channels.whatsapp.replied`, `follow_ups.1.sent`, `calls.no_answer`, `drop_offs.skills`, `languages.hi.completed`, `daily.2026-03-11.enrolled`. Averages have no candidate list.',
    examples: ['funnel.responded'],
  }),
  ...periodQuery,
  workflow_id: Type.Optional(Type.String({ pattern: WORKFLOW_ID_PATTERN })),
  mandate_id: Type.Optional(Type.String({ pattern: MANDATE_ID_PATTERN })),
  campaign_id: Type.Optional(Type.String({ pattern: CAMPAIGN_ID_PATTERN })),
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
    status: withNotes(ResultStatusSchema, { description: "The current status of the candidate's result." }),
    reason: Type.Union([ResultReasonSchema, Type.Null()], {
      description: 'Reason for which the candidate declined or the conversation failed. Null otherwise.',
    }),
    qualified: ResultOutput.properties.qualified,
    reasons: ResultOutput.properties.reasons,
    knocked_out_by: Type.Union([KnockoutAnswer, Type.Null()], {
      description:
        'The question to which the candidate gave a knockout answer, and the answer. Null if there was none.',
    }),
    skills: Type.Optional(
      Type.Array(
        Type.Pick(ResultOutput.properties.skills.items, [
          'skill_id',
          'name',
          'verdict',
          'correct',
          'asked',
          'confidence',
        ]),
        {
          description: 'The verdict on each skill of the mandate. Absent if the mandate does not verify skills.',
        },
      ),
    ),
    interest: ResultOutput.properties.interest,
    times: Type.Integer({
      minimum: 1,
      description:
        'Number of times the candidate is counted. Each message or call counts once; for `calls.total_seconds`, each second counts once. The sum over the whole list equals the figure in the overview.',
    }),
  }),
)
