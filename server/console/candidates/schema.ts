import { type TSchema, Type } from 'typebox'
import { named } from '../../platform/http/named-schemas.ts'
import { linkValidityDays } from '../../reports/report-links.ts'
import { KnockoutAnswer, resultOf } from '../../results/schema.ts'
import { memberParams } from '../organisation/schema.ts'
import { closed } from '../schema.ts'
import { decisions } from './candidate-list.ts'

const text = Type.String()
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const Decision = named('CandidateDecision', Type.Enum([...decisions]))

const {
  flow_version: _,
  version: __,
  ...resultFields
} = resultOf(
  Type.Object({
    candidate_id: text,
    external_candidate_id: text,
    name: text,
    phone: orNull(text),
    email: orNull(text),
  }),
).properties

/** A candidate in a list: the result without answers, with names, contact details and the decision of a recruiter. */
export const ListedCandidateRecord = named(
  'RecruiterResult',
  Type.Object({
    ...resultFields,
    knocked_out_by: orNull(KnockoutAnswer),
    campaign_name: text,
    job_title: text,
    company_name: text,
    decision: orNull(Decision),
    note: orNull(text),
    decided_by: orNull(text),
    decided_by_name: orNull(text),
    decided_at: orNull(text),
    assigned_to: orNull(text),
    assigned_to_name: orNull(text),
  }),
)

/** Small enough for the URL of an export. */
const MAX_CANDIDATES_PER_CALL = 400
const MAX_NOTE_LENGTH = 2000

const CandidateId = Type.String({ pattern: '^CD_[A-Z0-9]{10,40}$' })
export const CandidateParams = Type.Object({ candidate_id: CandidateId })

const CandidateIds = Type.Array(CandidateId, {
  minItems: 1,
  maxItems: MAX_CANDIDATES_PER_CALL,
})

export const DecisionInput = Type.Object(
  {
    candidate_ids: CandidateIds,
    decision: Type.Optional(Type.Union([Decision, Type.Null()], { description: 'Null removes the decision.' })),
    note: Type.Optional(
      Type.Union([Type.String({ maxLength: MAX_NOTE_LENGTH }), Type.Null()], { description: 'Null removes the note.' }),
    ),
  },
  closed,
)

export const DecisionResult = named('DecisionResult', Type.Object({ candidate_ids: Type.Array(text) }))

export const AssignmentInput = Type.Object(
  {
    candidate_ids: CandidateIds,
    member_id: Type.Union([memberParams.member_id, Type.Null()], { description: 'Null removes the assignment.' }),
  },
  closed,
)

/** A valid link to the report of a candidate. */
export const ReportLink = named(
  'ReportLink',
  Type.Object({
    link_id: text,
    created_by: text,
    created_at: text,
    expires_at: text,
    times_opened: Type.Integer(),
    last_opened_at: orNull(text),
  }),
)

export const NewReportLink = named(
  'NewReportLink',
  Type.Object({ ...ReportLink.properties, url: Type.String({ description: 'Returned once.' }) }),
)

export const ReportLinkInput = Type.Object(
  { days: Type.Enum([...linkValidityDays], { description: 'How long the link is valid, in days.' }) },
  closed,
)
