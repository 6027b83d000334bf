import { Type } from 'typebox'
import { sentMessageKinds } from '../campaigns/contact/message-kind.ts'
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

const messageCount = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] })

export const MessageFiguresQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'First day in India. Default: 30 days until `to`.',
      examples: ['2026-03-01'],
    }),
  ),
  to: Type.Optional(
    Type.String({ maxLength: 40, description: 'Last day in India. Default: today.', examples: ['2026-03-11'] }),
  ),
  campaign_id: Type.Optional(
    Type.String({ pattern: CAMPAIGN_ID_PATTERN, description: 'Count only the messages of this campaign.' }),
  ),
})

const channelField = Type.Enum([...channelNames], { description: 'Channel of the messages.', examples: ['sms'] })

const MessageFigures = named(
  'MessageFigures',
  Type.Object({
    channel: channelField,
    kind: Type.Enum([...sentMessageKinds], { description: 'Kind of the messages.', examples: ['first_message'] }),
    template_id: Type.Union([Type.String(), Type.Null()], {
      description: 'ID or name of the registered template; null without one.',
      examples: ['1107160000000012345'],
    }),
    sent: messageCount('Messages that the provider accepted.', 1200),
    delivered: messageCount('Messages that reached the phone or mailbox, and answered calls.', 1100),
    read: messageCount('Messages that the recipient has opened, as far as the channel reports it.', 640),
    failed: messageCount('Messages that the provider rejected or could not deliver.', 60),
    unknown: messageCount(
      'Messages whose outcome was unknown when they were sent. A later report counts in addition.',
      0,
    ),
    blocked_by_operator: messageCount(
      'Part of `failed` that a mobile operator or the provider blocked because of the sender, the text or the hour.',
      12,
    ),
  }),
)

const MessageFailure = named(
  'MessageFailure',
  Type.Object({
    channel: channelField,
    reason: Type.String({ description: 'Reason for the failures. New reasons can be added.', examples: ['template'] }),
    count: messageCount('Number of failed messages.', 12),
    title: Type.String({
      description: 'The reason in words.',
      examples: ['The template is missing, not approved, paused or different from the text'],
    }),
    remedy: Type.String({
      description: 'Recommended action.',
      examples: ['Compare the template in the channel settings with the one that is registered at the provider.'],
    }),
    blocked_by_operator: Type.Boolean({
      description: 'True if a mobile operator or the provider blocked the messages.',
      examples: [true],
    }),
  }),
)

export const MessageOverview = named(
  'MessageOverview',
  Type.Object({
    messages: Type.Array(MessageFigures, { description: 'Figures by channel, kind and template.' }),
    failures: Type.Array(MessageFailure, {
      description: 'Failed messages by channel and reason, most frequent first.',
    }),
  }),
)

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
