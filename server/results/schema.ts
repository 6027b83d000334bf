import { Type } from 'typebox'
import { reasons, resultStatuses } from '../campaigns/candidacy.ts'
import { languages } from '../workflows/workflows.ts'

const time = Type.String({ format: 'date-time' })
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const ResultOutput = Type.Object({
  qualified: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'Null while the result is pending; false where it was declined or failed.',
  }),
  enrichment: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({ type: Type.Enum(['yes_no', 'voice']), answer: Type.String(), knocked_out: Type.Boolean() }),
      { description: 'By the key of the question.' },
    ),
  ),
  skills: Type.Optional(
    Type.Array(
      Type.Object({
        skill_id: Type.String(),
        name: Type.String(),
        verdict: Type.Enum(['verified', 'not_verified', 'not_asked'], {
          description: 'Verified with at least two of three questions right.',
        }),
        correct: Type.Integer(),
        asked: Type.Integer(),
      }),
    ),
  ),
  interest: Type.Optional(orNull(Type.Enum(['interested', 'not_interested']))),
  language: Type.Enum([...languages]),
  channel: orNull(Type.String({ description: 'Where the candidate was reached or answered last.' })),
})

export const ResultRecord = Type.Object({
  result_id: Type.String(),
  campaign_id: Type.String(),
  mandate_id: Type.String(),
  job_id: orNull(Type.String()),
  candidate: Type.Object({
    candidate_id: Type.String(),
    external_candidate_id: Type.String(),
    name: Type.String(),
    metadata: Type.Record(Type.String(), Type.String()),
  }),
  status: Type.Enum([...resultStatuses]),
  reason: orNull(Type.Enum([...reasons])),
  output: ResultOutput,
  flow_version: Type.Integer(),
  version: Type.Integer({ description: 'Grows with every change.' }),
  created_at: time,
  started_at: Type.Union([time, Type.Null()], { description: 'When the candidate was first contacted.' }),
  completed_at: Type.Union([time, Type.Null()], { description: 'When the result left `pending`.' }),
  updated_at: time,
})

export const ResultParams = Type.Object({ result_id: Type.String({ pattern: '^RS_[A-Z0-9]{10,40}$' }) })

export const ResultsQuery = Type.Object({
  campaign_id: Type.Optional(Type.String({ pattern: '^CP_[A-Z0-9]{10,40}$' })),
  mandate_id: Type.Optional(Type.String({ pattern: '^JM_[A-Z0-9]{10,40}$' })),
  job_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$' })),
  status: Type.Optional(Type.Enum([...resultStatuses])),
  updated_after: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601 with a time zone.' })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  cursor: Type.Optional(Type.String({ maxLength: 2000, description: 'The `next_cursor` of the page before.' })),
})
