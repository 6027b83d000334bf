import { type Static, type TOptional, type TSchema, type TString, Type } from 'typebox'
import { CreatedViaSchema } from '../access/schema.ts'
import { named } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { describePattern, NOT_BLANK_PATTERN, setPropertyMessages } from '../platform/http/validation.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { ITEM_SOURCES } from '../questions/skill-items.ts'
import { MethodList, WORKFLOW_ID_PATTERN } from '../workflows/schema.ts'

export const MANDATE_ID_PATTERN = '^JM_[A-Z0-9]{10,40}$'
const JOB_ID_PATTERN = describePattern(
  '^[A-Za-z0-9._:-]{1,128}$',
  'must be 1 to 128 letters, digits, dots, underscores, colons or hyphens',
)

const mandateStatuses = ['preparing', 'ready', 'failed', 'archived'] as const
export type MandateStatus = (typeof mandateStatuses)[number]

const closed = { additionalProperties: false }
const nonBlankText = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: NOT_BLANK_PATTERN })

const CatalogueSkill = named(
  'CatalogueSkill',
  Type.Object(
    {
      skill_id: Type.String({
        pattern: describePattern(
          '^sk_\\d{1,9}$',
          'must be a skill ID such as sk_2001; find it with GET /skills/search',
        ),
      }),
      verify: Type.Optional(
        Type.Boolean({
          default: false,
          description:
            'True if candidates are asked questions about this skill. Possible for up to 3 skills, which must be `verifiable`.',
        }),
      ),
    },
    closed,
  ),
)
const PendingSkill = named(
  'PendingSkill',
  setPropertyMessages(
    Type.Object(
      {
        name: Type.String({ minLength: 2, maxLength: 120, pattern: NOT_BLANK_PATTERN }),
        pending: Type.Literal(true, {
          description: 'The skill was requested with `POST /skill-requests`. It cannot be verified yet.',
        }),
      },
      closed,
    ),
    {
      pending:
        'is required with a name; to use a skill of the catalogue, send its skill_id, which POST /skills/lookup returns',
      verify: 'is not allowed for a pending skill, which cannot be verified yet',
    },
  ),
)
const MandateSkill = named('MandateSkill', Type.Union([CatalogueSkill, PendingSkill]))

const EnrichmentType = named(
  'EnrichmentType',
  Type.Enum(['yes_no', 'voice'], { description: '`voice`: the candidate answers in their own words.' }),
)
const translatedLanguages = LANGUAGES.filter((language) => language !== 'en')
const QuestionTranslations = named(
  'QuestionTranslations',
  Type.Object(
    Object.fromEntries(
      translatedLanguages.map((language) => [
        language,
        Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: NOT_BLANK_PATTERN })),
      ]),
    ) as Record<(typeof translatedLanguages)[number], TOptional<TString>>,
    {
      ...closed,
      description:
        'The question in other languages, such as `{"hi": "…"}`. Candidates who chose a language without a translation get the question from the AI writer if one is configured, and otherwise in English.',
    },
  ),
)
const EnrichmentQuestion = named(
  'EnrichmentQuestion',
  Type.Object(
    {
      key: Type.String({
        pattern: describePattern(
          '^[A-Za-z0-9_.-]{1,64}$',
          'must be 1 to 64 letters, digits, underscores, dots or hyphens',
        ),
        description: 'Your own key for the question. It identifies the answer in the result.',
      }),
      type: EnrichmentType,
      text: Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: NOT_BLANK_PATTERN,
        description: 'The question, in English.',
      }),
      translations: Type.Optional(QuestionTranslations),
      knockout: Type.Optional(
        Type.Enum(['yes', 'no'], {
          description: 'For `yes_no` only: the answer that makes the candidate not qualified.',
        }),
      ),
      required: Type.Optional(
        Type.Boolean({
          default: true,
          description:
            'True if the candidate must answer. If a candidate skips an optional question with `knockout`, `qualified` is not true.',
        }),
      ),
    },
    closed,
  ),
)

const MandateLocation = named(
  'MandateLocation',
  Type.Object(
    {
      city: nonBlankText(100),
      state: Type.Optional(Type.String({ maxLength: 100 })),
      pincode: Type.Optional(
        Type.String({ pattern: describePattern('^\\d{6}$', 'must be six digits, such as "411001"') }),
      ),
    },
    closed,
  ),
)
const ExperienceRange = named(
  'ExperienceRange',
  Type.Object(
    { min_years: Type.Integer({ minimum: 0, maximum: 50 }), max_years: Type.Integer({ minimum: 0, maximum: 50 }) },
    closed,
  ),
)
const Salary = named(
  'Salary',
  Type.Object(
    {
      min: Type.Number({ minimum: 0, maximum: 100_000_000 }),
      max: Type.Number({ minimum: 0, maximum: 100_000_000 }),
      currency: Type.Optional(Type.Literal('INR', { default: 'INR' })),
      period: Type.Optional(Type.Literal('month', { default: 'month' })),
    },
    closed,
  ),
)
const Recruiter = named(
  'Recruiter',
  Type.Object(
    { external_user_id: nonBlankText(128), name: Type.Optional(Type.String({ maxLength: 200 })) },
    {
      ...closed,
      description: 'The recruiter, as identified in your system. Default: the recruiter in `x-on-behalf-of`.',
    },
  ),
)
const InterestCollection = named(
  'InterestCollection',
  Type.Object(
    { other_roles: Type.Optional(Type.Array(nonBlankText(100), { maxItems: 10 })) },
    {
      ...closed,
      description:
        'Other roles for the candidates of this job. They are stored and returned, but do not change the questions for candidates.',
    },
  ),
)
const mandateFields = {
  workflow_id: Type.String({ pattern: WORKFLOW_ID_PATTERN }),
  title: nonBlankText(200),
  company_name: nonBlankText(200),
  location_type: Type.Optional(
    Type.Enum(['india', 'abroad'], {
      default: 'india',
      description: 'Use `india` with `location`, and `abroad` with `countries`.',
    }),
  ),
  location: Type.Optional(MandateLocation),
  countries: Type.Optional(
    Type.Array(
      Type.String({
        pattern: describePattern('^[A-Za-z]{2}$', 'must be a two-letter country code; GET /countries lists the codes'),
      }),
      {
        minItems: 1,
        maxItems: 20,
        description: 'ISO 3166-1 alpha-2 country codes. More than 10 countries cause a warning.',
      },
    ),
  ),
  experience: Type.Optional(ExperienceRange),
  openings: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  salary: Type.Optional(Salary),
  description: Type.Optional(Type.String({ maxLength: 1500 })),
  shift: Type.Optional(
    Type.String({ maxLength: 100, description: 'A value from `GET /shifts`. Other values cause a warning.' }),
  ),
  employment_type: Type.Optional(
    Type.String({ maxLength: 100, description: 'A value from `GET /employment-types`. Other values cause a warning.' }),
  ),
  owner: Type.Optional(Recruiter),
  methods: Type.Optional(MethodList),
  skills: Type.Array(MandateSkill, {
    minItems: 1,
    maxItems: 50,
    description: 'Up to 10 skills, of which up to 3 can have `verify: true`. 5 to 10 skills are recommended.',
  }),
  enrichment_questions: Type.Optional(
    Type.Array(EnrichmentQuestion, {
      maxItems: 50,
      description: 'Up to 5 questions, or up to 10 if `data_enrichment` is the only method.',
    }),
  ),
  interest_collection: Type.Optional(InterestCollection),
}

/** Error messages for response fields in a request, for callers who send back a mandate that they have read. */
const responseFieldMessages = Object.fromEntries(
  [
    ...['mandate_id', 'status', 'flow_version', 'changed', 'warnings', 'created_via', 'failure', 'version'],
    ...['created_at', 'updated_at', 'questions'],
  ].map((name) => [name, 'is a response field and cannot be set; leave it out']),
)

export const MandateReplacement = named(
  'MandateReplacement',
  setPropertyMessages(Type.Object(mandateFields, closed), {
    ...responseFieldMessages,
    job_id: 'is set when the mandate is created and cannot be changed; leave it out of a replacement',
  }),
)
export type MandateReplacement = Static<typeof MandateReplacement>

const jobId = Type.String({ pattern: JOB_ID_PATTERN, description: 'Your own ID for the job.' })
export const MandateInput = named(
  'MandateInput',
  setPropertyMessages(Type.Object({ ...mandateFields, job_id: Type.Optional(jobId) }, closed), responseFieldMessages),
)
export type MandateInput = Static<typeof MandateInput>

const StatusSchema = named('MandateStatus', Type.Enum([...mandateStatuses]))

const mandateResultFields = {
  mandate_id: Type.String({ pattern: MANDATE_ID_PATTERN }),
  job_id: Type.Union([jobId, Type.Null()]),
  status: StatusSchema,
  flow_version: Type.Integer({
    description: 'Version of the questions: 1 on creation, and increased by one with every accepted change.',
  }),
  methods: MethodList,
  changed: Type.Boolean({ description: 'False if the request changed nothing.' }),
  warnings: Type.Array(Type.String()),
}

/** The response to every request that creates or changes a mandate. */
export const MandateResult = named('MandateWriteResult', Type.Object(mandateResultFields))

/** Returns the schema of an object with one optional property per language. */
const byLanguage = <T extends TSchema>(value: T) =>
  Type.Object(Object.fromEntries(LANGUAGES.map((language) => [language, Type.Optional(value)])))

const TextByLanguage = named('TextByLanguage', byLanguage(Type.String()))
const TextsByLanguage = named('TextsByLanguage', byLanguage(Type.Array(Type.String())))

const PreparedQuestions = named(
  'PreparedQuestions',
  Type.Object(
    {
      enrichment: Type.Array(
        Type.Object({
          key: Type.String(),
          type: EnrichmentType,
          required: Type.Boolean(),
          text: TextByLanguage,
        }),
      ),
      skills: Type.Array(
        Type.Object({
          skill_id: Type.String(),
          name: Type.String(),
          item_source: Type.Optional(
            Type.Enum([...ITEM_SOURCES], {
              description:
                'Source of the items: the public `bank`, the `private` bank of your organisation, or the `ai` writer.',
            }),
          ),
          item_count: Type.Optional(
            Type.Integer({ description: "Number of items from which each candidate's items are drawn." }),
          ),
          items_per_candidate: Type.Optional(Type.Object({ min: Type.Integer(), max: Type.Integer() })),
          items: Type.Array(
            Type.Object({
              difficulty: Type.Integer(),
              stem: TextByLanguage,
              options: TextsByLanguage,
            }),
            {
              description:
                'Examples of the items. Each candidate is asked other items, with the options in another order. Empty for a private bank.',
            },
          ),
        }),
      ),
      interest: Type.Boolean({ description: 'True if candidates are asked about their interest in the job.' }),
    },
    { description: 'The questions prepared for this `flow_version`, by language, without the correct answers.' },
  ),
)

const { workflow_id, methods: _methods, ...storedFields } = mandateFields

export const MandateRecord = named(
  'Mandate',
  Type.Object({
    ...mandateResultFields,
    workflow_id,
    ...storedFields,
    created_via: CreatedViaSchema,
    failure: Type.Union([Type.String(), Type.Null()], {
      description: 'Reason for which the questions could not be prepared. Null otherwise.',
    }),
    questions: Type.Union([PreparedQuestions, Type.Null()], {
      description: 'The prepared questions. Null until they are prepared.',
    }),
    version: Type.Integer({
      description: 'Version of the mandate. Increases with every change, including when its questions are prepared.',
    }),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  }),
)

export const MandateParams = Type.Object({ mandate_id: Type.String({ pattern: MANDATE_ID_PATTERN }) })

export const MandatesQuery = Type.Object({
  status: Type.Optional(StatusSchema),
  workflow_id: Type.Optional(Type.String({ pattern: WORKFLOW_ID_PATTERN })),
  job_id: Type.Optional(Type.String({ pattern: JOB_ID_PATTERN })),
  ...pageQuery,
})
