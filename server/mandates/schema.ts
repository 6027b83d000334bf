import { type Static, Type } from 'typebox'
import { explain, inWords, NOT_BLANK } from '../platform/http/validation.ts'
import { MethodList, WORKFLOW_ID } from '../workflows/schema.ts'
import { createdVia, languages } from '../workflows/workflows.ts'

export const MANDATE_ID = '^JM_[A-Z0-9]{10,40}$'
const JOB_ID = inWords(
  '^[A-Za-z0-9._:-]{1,128}$',
  'must be 1 to 128 letters, digits, dots, underscores, colons or hyphens',
)

export const mandateStatuses = ['preparing', 'ready', 'failed', 'archived'] as const
export type MandateStatus = (typeof mandateStatuses)[number]

const closed = { additionalProperties: false }
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: NOT_BLANK })

const CatalogueSkill = Type.Object(
  {
    skill_id: Type.String({
      pattern: inWords('^sk_\\d{1,9}$', 'must be the id of a skill, such as sk_2001; GET /skills/search finds it'),
    }),
    verify: Type.Optional(
      Type.Boolean({ default: false, description: 'Ask questions about it: at most 3 skills, verifiable ones only.' }),
    ),
  },
  closed,
)
const PendingSkill = explain(
  Type.Object(
    {
      name: Type.String({ minLength: 2, maxLength: 120, pattern: NOT_BLANK }),
      pending: Type.Literal(true, { description: 'Requested with POST /skill-requests; cannot be verified.' }),
    },
    closed,
  ),
  {
    pending:
      'is required beside a name; a skill of the catalogue goes by its skill_id, which POST /skills/lookup finds',
    verify: 'does not go with a pending skill, which cannot be verified yet',
  },
)

const Question = Type.Object(
  {
    key: Type.String({
      pattern: inWords('^[A-Za-z0-9_.-]{1,64}$', 'must be 1 to 64 letters, digits, underscores, dots or hyphens'),
      description: 'Answers come back under it.',
    }),
    type: Type.Enum(['yes_no', 'voice']),
    text: Type.String({ minLength: 1, maxLength: 200, pattern: NOT_BLANK, description: 'In English.' }),
    knockout: Type.Optional(
      Type.Enum(['yes', 'no'], { description: '`yes_no` only: the answer that marks the candidate not qualified.' }),
    ),
    required: Type.Optional(Type.Boolean({ default: true })),
  },
  closed,
)

const fields = {
  workflow_id: Type.String({ pattern: WORKFLOW_ID }),
  title: text(200),
  company_name: text(200),
  location_type: Type.Optional(
    Type.Enum(['india', 'abroad'], {
      default: 'india',
      description: '`india` goes with `location`, `abroad` with `countries`.',
    }),
  ),
  location: Type.Optional(
    Type.Object(
      {
        city: text(100),
        state: Type.Optional(Type.String({ maxLength: 100 })),
        pincode: Type.Optional(Type.String({ pattern: inWords('^\\d{6}$', 'must be six digits, such as "411001"') })),
      },
      closed,
    ),
  ),
  countries: Type.Optional(
    Type.Array(
      Type.String({ pattern: inWords('^[A-Za-z]{2}$', 'must be a code of two letters; GET /countries lists them') }),
      {
        minItems: 1,
        maxItems: 20,
        description: 'ISO 3166-1 alpha-2; up to 10 are meant, more draw a warning.',
      },
    ),
  ),
  experience: Type.Optional(
    Type.Object(
      { min_years: Type.Integer({ minimum: 0, maximum: 50 }), max_years: Type.Integer({ minimum: 0, maximum: 50 }) },
      closed,
    ),
  ),
  openings: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  salary: Type.Optional(
    Type.Object(
      {
        min: Type.Number({ minimum: 0, maximum: 100_000_000 }),
        max: Type.Number({ minimum: 0, maximum: 100_000_000 }),
        currency: Type.Optional(Type.Literal('INR', { default: 'INR' })),
        period: Type.Optional(Type.Literal('month', { default: 'month' })),
      },
      closed,
    ),
  ),
  description: Type.Optional(Type.String({ maxLength: 1500 })),
  shift: Type.Optional(Type.String({ maxLength: 100 })),
  employment_type: Type.Optional(Type.String({ maxLength: 100 })),
  owner: Type.Optional(
    Type.Object(
      { external_user_id: text(128), name: Type.Optional(Type.String({ maxLength: 200 })) },
      {
        ...closed,
        description: 'The recruiter in your system; where it is left out, the one named by x-on-behalf-of.',
      },
    ),
  ),
  methods: Type.Optional(MethodList),
  skills: Type.Array(Type.Union([CatalogueSkill, PendingSkill]), {
    minItems: 1,
    maxItems: 50,
    description: 'At most 10, of which at most 3 with `verify`; 5 to 10 are recommended.',
  }),
  enrichment_questions: Type.Optional(
    Type.Array(Question, { maxItems: 50, description: 'At most 5; 10 where `data_enrichment` is the only method.' }),
  ),
  interest_collection: Type.Optional(
    Type.Object(
      { other_roles: Type.Optional(Type.Array(text(100), { maxItems: 10 })) },
      {
        ...closed,
        description: 'Kept and returned; what candidates are asked does not change.',
      },
    ),
  ),
}

/** Who sends back what was read meets these. */
const answered = Object.fromEntries(
  [
    ...['mandate_id', 'status', 'flow_version', 'changed', 'warnings', 'created_via', 'failure', 'version'],
    ...['created_at', 'updated_at', 'questions'],
  ].map((name) => [name, 'is part of the answer, not of the body: leave it out']),
)

export const MandateReplacement = explain(Type.Object(fields, closed), {
  ...answered,
  job_id: 'is set when the mandate is created and stays: leave it out of a replacement',
})
export type MandateReplacement = Static<typeof MandateReplacement>

const jobId = Type.String({ pattern: JOB_ID, description: 'Your own id of the job.' })
export const MandateInput = explain(Type.Object({ ...fields, job_id: Type.Optional(jobId) }, closed), answered)
export type MandateInput = Static<typeof MandateInput>

const result = {
  mandate_id: Type.String({ pattern: MANDATE_ID }),
  job_id: Type.Union([jobId, Type.Null()]),
  status: Type.Enum([...mandateStatuses]),
  flow_version: Type.Integer(),
  methods: MethodList,
  changed: Type.Boolean({ description: 'False when the same mandate was sent again.' }),
  warnings: Type.Array(Type.String()),
}

/** What every write answers. */
export const MandateResult = Type.Object(result)

const inLanguages = <T extends Parameters<typeof Type.Optional>[0]>(value: T) =>
  Type.Object(Object.fromEntries(languages.map((language) => [language, Type.Optional(value)])))

const Questions = Type.Object(
  {
    enrichment: Type.Array(
      Type.Object({
        key: Type.String(),
        type: Type.Enum(['yes_no', 'voice']),
        required: Type.Boolean(),
        text: inLanguages(Type.String()),
      }),
    ),
    skills: Type.Array(
      Type.Object({
        skill_id: Type.String(),
        name: Type.String(),
        items: Type.Array(
          Type.Object({
            difficulty: Type.Integer(),
            stem: inLanguages(Type.String()),
            options: inLanguages(Type.Array(Type.String())),
          }),
        ),
      }),
    ),
    interest: Type.Boolean(),
  },
  { description: 'What was prepared for this `flow_version`, by language, without the answers. Null until then.' },
)

const { workflow_id, methods: _methods, ...stored } = fields

export const MandateRecord = Type.Object({
  ...result,
  workflow_id,
  ...stored,
  created_via: Type.Enum([...createdVia]),
  failure: Type.Union([Type.String(), Type.Null()], { description: 'Why preparing failed.' }),
  questions: Type.Union([Questions, Type.Null()]),
  version: Type.Integer({ description: 'Grows with every change, preparing included.' }),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})

export const MandateParams = Type.Object({ mandate_id: Type.String({ pattern: MANDATE_ID }) })

export const MandatesQuery = Type.Object({
  status: Type.Optional(Type.Enum([...mandateStatuses])),
  workflow_id: Type.Optional(Type.String({ pattern: WORKFLOW_ID })),
  job_id: Type.Optional(Type.String({ pattern: JOB_ID })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  cursor: Type.Optional(Type.String({ maxLength: 2000, description: 'The `next_cursor` of the page before.' })),
})
