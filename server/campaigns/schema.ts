import { type Static, Type } from 'typebox'
import { inWords, NOT_BLANK } from '../platform/http/validation.ts'
import { createdVia, languages } from '../workflows/workflows.ts'
import { campaignStatuses } from './campaigns.ts'
import { resultStatuses } from './candidacy.ts'
import { creditReasons } from './credits.ts'
import { PHONE, PHONE_WORDS } from './phone-number.ts'

const closed = { additionalProperties: false }
const time = Type.String({ format: 'date-time' })
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const CAMPAIGN_ID = '^CP_[A-Z0-9]{10,40}$'
const MANDATE_ID = '^JM_[A-Z0-9]{10,40}$'

// What no letter is made of, such as control characters and marks of direction, is in no address either.
const MAIL = '^[^\\s\\p{C}@<>"(),:;]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$'

export const CandidateBody = Type.Object(
  {
    external_candidate_id: Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$', description: 'Your own id.' }),
    name: Type.String({ minLength: 1, maxLength: 200, pattern: NOT_BLANK }),
    phone: Type.Optional(
      Type.String({
        pattern: inWords(PHONE, PHONE_WORDS),
        description: "E.164. Required unless mail is the workflow's only channel.",
        examples: ['+919990000001'],
      }),
    ),
    email: Type.Optional(
      Type.String({
        maxLength: 254,
        pattern: inWords(MAIL, 'must be a mail address, such as asha@example.com'),
        description: "Required where mail is the workflow's only channel.",
      }),
    ),
    language: Type.Optional(Type.Enum([...languages], { description: "One of the workflow's." })),
    metadata: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        maxProperties: 20,
        propertyNames: { type: 'string', maxLength: 40 },
        additionalProperties: { type: 'string', maxLength: 500 },
        description: 'Comes back with the result.',
      }),
    ),
  },
  closed,
)

const candidates = Type.Array(CandidateBody, { minItems: 1, maxItems: 1000 })

export const CampaignBody = Type.Object(
  {
    mandate_id: Type.String({ pattern: MANDATE_ID }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 120, pattern: NOT_BLANK })),
    starts_at: Type.Optional(
      Type.String({ maxLength: 40, description: 'ISO 8601 with a time zone, up to 30 days ahead.' }),
    ),
    candidates: Type.Optional(candidates),
  },
  closed,
)
export type CampaignBody = Static<typeof CampaignBody>

export const EnrolmentBody = Type.Object({ candidates }, closed)

export const CampaignParams = Type.Object({ campaign_id: Type.String({ pattern: CAMPAIGN_ID }) })

const count = Type.Integer({ minimum: 0 })

export const CampaignRecord = Type.Object({
  campaign_id: Type.String(),
  created_via: Type.Enum([...createdVia]),
  mandate_id: Type.String(),
  job_id: orNull(Type.String()),
  name: Type.Optional(Type.String()),
  status: Type.Enum([...campaignStatuses]),
  counts: Type.Object({ candidates: count, pending: count, completed: count, declined: count, failed: count }),
  flow_version: Type.Integer({ description: 'Of those who were enrolled last.' }),
  version: Type.Integer({ description: 'Grows with every change.' }),
  starts_at: time,
  created_at: time,
  updated_at: time,
  completed_at: orNull(time),
})

export const EnrolmentAnswer = Type.Object({
  campaign: CampaignRecord,
  enrolment: Type.Optional(
    Type.Object({
      accepted: count,
      duplicates: count,
      credits_spent: count,
      credits_left: count,
    }),
  ),
})

export const CandidateRecord = Type.Object({
  candidate_id: Type.String(),
  external_candidate_id: Type.String(),
  name: Type.String(),
  status: Type.Enum([...resultStatuses]),
  result_id: Type.String(),
})

export const CreditBalance = Type.Object({ balance: count })

export const CreditEntryRecord = Type.Object({
  entry_id: Type.String(),
  amount: Type.Integer({ description: 'Negative when spent.' }),
  reason: Type.Enum([...creditReasons]),
  campaign_id: orNull(Type.String()),
  balance_after: count,
  created_at: time,
})

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  cursor: Type.Optional(Type.String({ maxLength: 2000, description: 'The `next_cursor` of the page before.' })),
})
