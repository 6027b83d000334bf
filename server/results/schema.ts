import { type TSchema, Type } from 'typebox'
import { CAMPAIGN_ID_PATTERN, ResultReasonSchema, ResultStatusSchema } from '../campaigns/schema.ts'
import { named } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { ITEM_SOURCES } from '../questions/skill-items.ts'
import { Language } from '../workflows/schema.ts'

const timestamp = Type.String({ format: 'date-time' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const EnrichmentAnswer = named(
  'EnrichmentAnswer',
  Type.Object({ type: Type.Enum(['yes_no', 'voice']), answer: Type.String(), knocked_out: Type.Boolean() }),
)
const SkillVerdictSchema = named(
  'SkillVerdict',
  Type.Enum(['verified', 'not_verified', 'inconclusive', 'not_asked'], {
    description:
      '`not_asked` until the candidate has answered all questions about the skill. Then `verified` or `not_verified` if the answers show it with a certainty of at least 95 %, and `inconclusive` if they allow neither.',
  }),
)
const VerdictEvidence = named(
  'VerdictEvidence',
  Type.Object({
    item_source: Type.Enum([...ITEM_SOURCES], {
      description:
        'Source of the questions: the public `bank`, the `private` bank of your organisation, or the `ai` writer.',
    }),
    language: Language,
    items: Type.Integer({ description: 'Number of scored questions.' }),
    unpiloted_items: Type.Integer({
      description:
        'Number of scored questions that are still being tried out: fewer than 30 people have answered them. Their answers weigh less.',
    }),
    median_seconds: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Median time between question and answer. Simulated for the test numbers, which reply at once.',
    }),
  }),
)
export const KnockoutAnswer = named(
  'KnockoutAnswer',
  Type.Object({
    key: Type.String(),
    question: Type.String({ description: 'The text of the question, in English if available.' }),
    answer: Type.String(),
  }),
)
const QualificationReason = named(
  'QualificationReason',
  Type.Object({
    kind: Type.Enum(['knockout', 'knockout_skipped', 'skill_not_verified', 'skill_inconclusive']),
    key: Type.Optional(
      Type.String({ description: 'For `knockout` and `knockout_skipped`: the `key` of the question.' }),
    ),
    skill_id: Type.Optional(Type.String({ description: 'For the other kinds: the skill.' })),
  }),
)
const VerifiedSkill = named(
  'VerifiedSkill',
  Type.Object({
    skill_id: Type.String(),
    name: Type.String(),
    verdict: SkillVerdictSchema,
    correct: Type.Integer({ description: 'Number of correct answers.' }),
    asked: Type.Integer({ description: 'Number of scored questions: 4 to 8, as many as the verdict needs.' }),
    confidence: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description:
        'Probability that the verdict is right under the measurement model. For `inconclusive`, that of the more likely verdict. Null without a verdict.',
    }),
    evidence: orNull(VerdictEvidence),
    summary: Type.String({ description: 'The evidence in English, for people who decide with the verdict.' }),
  }),
)

const ResultCredential = named(
  'ResultCredential',
  Type.Object({
    skill_id: Type.String(),
    credential_id: Type.String(),
    credential_url: Type.String({ description: 'The public page of the credential.' }),
  }),
)

export const ResultOutput = named(
  'ResultOutput',
  Type.Object({
    qualified: Type.Union([Type.Boolean(), Type.Null()], {
      description:
        'True if the candidate meets all requirements of the mandate. False only after a knockout answer or if a skill is `not_verified`. Null while the result is pending, if the candidate did not finish or skipped a knockout question, if a verdict is `inconclusive`, and if no skill was checked although skills are to be verified.',
    }),
    reasons: Type.Array(QualificationReason, {
      description: 'Reasons for which `qualified` is false, or null although the candidate finished.',
    }),
    enrichment: Type.Optional(
      Type.Record(Type.String(), EnrichmentAnswer, {
        description: 'Answers to the questions of the mandate, by the `key` of the question.',
      }),
    ),
    skills: Type.Optional(Type.Array(VerifiedSkill)),
    interest: Type.Optional(orNull(Type.Enum(['interested', 'not_interested']))),
    credentials: Type.Optional(
      Type.Array(ResultCredential, {
        description:
          'The credentials that were issued because the candidate wants them; absent if there are none. Issuing one does not change `updated_at` of the result; use the event `credential.issued`.',
      }),
    ),
    language: Language,
    channel: orNull(Type.String({ description: 'The channel on which the candidate was last reached or replied.' })),
  }),
)

const candidateFields = {
  candidate_id: Type.String(),
  external_candidate_id: Type.String(),
  name: Type.String(),
  metadata: Type.Record(Type.String(), Type.String()),
}

/** Returns the schema of a result with this schema of its candidate. */
export function resultOf<Candidate extends TSchema>(candidate: Candidate) {
  return Type.Object({
    result_id: Type.String(),
    campaign_id: Type.String(),
    mandate_id: Type.String(),
    job_id: orNull(Type.String()),
    candidate,
    status: ResultStatusSchema,
    reason: orNull(ResultReasonSchema),
    output: ResultOutput,
    flow_version: Type.Integer(),
    version: Type.Integer({ description: 'Increases with every change of the result.' }),
    created_at: timestamp,
    started_at: Type.Union([timestamp, Type.Null()], {
      description: 'Time at which the candidate was first contacted. Null before that.',
    }),
    completed_at: Type.Union([timestamp, Type.Null()], {
      description: 'Time at which the result became `completed`, `declined` or `failed`. Null while it is pending.',
    }),
    updated_at: timestamp,
  })
}

export const ResultRecord = named('Result', resultOf(Type.Object(candidateFields)))

export const ResultParams = Type.Object({ result_id: Type.String({ pattern: '^RS_[A-Z0-9]{10,40}$' }) })

export const ResultsQuery = Type.Object({
  campaign_id: Type.Optional(Type.String({ pattern: CAMPAIGN_ID_PATTERN })),
  mandate_id: Type.Optional(Type.String({ pattern: '^JM_[A-Z0-9]{10,40}$' })),
  job_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$' })),
  status: Type.Optional(ResultStatusSchema),
  updated_after: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Return only results updated after this time: ISO 8601 with a time zone.',
    }),
  ),
  ...pageQuery,
})
