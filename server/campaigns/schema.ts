import { type Static, type TSchema, Type } from 'typebox'
import { CreatedViaSchema } from '../access/schema.ts'
import { postponements, scriptedAnswers } from '../channels/simulator/test-script.ts'
import { contactBases } from '../notices/contact-basis.ts'
import { named, withNotes } from '../platform/http/named-schemas.ts'
import { describePattern, NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { attachedTestClock, TestClockId } from '../test-clocks/schema.ts'
import { Language } from '../workflows/schema.ts'
import { campaignStatuses } from './campaigns.ts'
import { resultReasons, resultStatuses } from './candidacy.ts'
import { sentMessageKinds } from './contact/message-kind.ts'
import { creditReasons } from './credits.ts'
import { duplicateReasons, MAX_CANDIDATES_PER_REQUEST } from './enrolment.ts'
import { PHONE_FORMAT_MESSAGE, PHONE_PATTERN } from './phone-number.ts'
import { spendCapField } from './spending/schema.ts'

const closed = { additionalProperties: false }
const timestamp = Type.String({ format: 'date-time' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const CAMPAIGN_ID_PATTERN = '^CP_[A-Z0-9]{10,40}$'
const MANDATE_ID_PATTERN = '^JM_[A-Z0-9]{10,40}$'

// Rejects control characters and directional marks (\p{C}) as well as white space.
const EMAIL_PATTERN = '^[^\\s\\p{C}@<>"(),:;]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$'

/** Returns whether a text is an email address that can be enrolled. */
export function isEmailAddress(text: string): boolean {
  return text.length <= 254 && new RegExp(EMAIL_PATTERN, 'u').test(text)
}

export const ResultStatusSchema = named('ResultStatus', Type.Enum([...resultStatuses]))
export const ResultReasonSchema = named(
  'ResultReason',
  Type.Enum([...resultReasons], { description: 'Reason for which the candidate declined or the conversation failed.' }),
)

const MAX_SCRIPTED_ANSWERS = 8
const MAX_SCRIPTED_REPLIES = 200
const scriptedAnswerList = (description: string) =>
  Type.Array(Type.Enum([...scriptedAnswers]), { minItems: 1, maxItems: MAX_SCRIPTED_ANSWERS, description })

const TestScriptSchema = named(
  'CandidateTestScript',
  Type.Object(
    {
      unreachable: Type.Optional(
        Type.Boolean({ description: 'True if messages to the candidate fail. Default: false.' }),
      ),
      ignored_messages: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 10,
          description:
            'Number of messages that the candidate does not reply to, before the first reply: the first message, then the follow-ups. Default: 0.',
          examples: [1],
        }),
      ),
      reply_delay_seconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 604_800,
          description:
            'Time before each reply: with a test clock, in the time of that clock; otherwise in real time, at most 60 seconds. Default: 0, the candidate replies at once.',
          examples: [3600],
        }),
      ),
      consent: Type.Optional(
        Type.Enum(['yes', 'no'], {
          description:
            'Reply to the first message. `no`: the result is `declined` with the reason `refused`. Default: `yes`.',
        }),
      ),
      postpone: Type.Optional(
        Type.Enum([...postponements], {
          description:
            'If set, the first reply is "not now", and the candidate asks to be contacted at this time. After that contact, the rest of the script applies. `never`: the result is `declined`.',
        }),
      ),
      enrichment: Type.Optional(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          maxProperties: 50,
          propertyNames: { type: 'string', maxLength: 64 },
          additionalProperties: { type: 'string', minLength: 1, maxLength: 1000 },
          description:
            'Answers by the key of the enrichment question: `yes` or `no`, or any text for a question of the type `voice`. Default: an answer that is not the knockout answer.',
          examples: [{ licence: 'no' }],
        }),
      ),
      skill_answers: Type.Optional(
        scriptedAnswerList(
          'Answers to the questions about each skill, in order; the last one is repeated. `undecided` is the answer that leaves the verdict less certain: with only these, the verdict is `inconclusive`. Default: `correct`.',
        ),
      ),
      skills: Type.Optional(
        Type.Array(
          named(
            'ScriptedSkill',
            Type.Object(
              {
                skill_id: Type.String({ maxLength: 40, description: 'A verified skill of the mandate.' }),
                answers: scriptedAnswerList(
                  'Answers to the questions about this skill, in order; the last one is repeated.',
                ),
              },
              closed,
            ),
          ),
          { maxItems: 20, description: 'Answers about single skills, in place of `skill_answers`.' },
        ),
      ),
      interest: Type.Optional(
        Type.Enum(['yes', 'no'], {
          description: 'Answer to the question whether the job is of interest. Default: `yes`.',
          examples: ['no'],
        }),
      ),
      silent_after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MAX_SCRIPTED_REPLIES,
          description:
            'Number of replies after which the candidate does not reply any more. 0: the candidate never replies. Not allowed with `stop_after`.',
          examples: [2],
        }),
      ),
      stop_after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MAX_SCRIPTED_REPLIES,
          description:
            'Number of replies after which the candidate replies STOP. This opts the phone number and the email address out of all campaigns of the organisation in TEST mode (with a test clock, of that clock).',
          examples: [3],
        }),
      ),
    },
    {
      ...closed,
      description:
        'In TEST mode only: the candidate replies automatically, as described by these fields. Without any field, the candidate replies at once, answers everything correctly and is interested. Without a test clock, all waiting times of the workflow are one second.',
    },
  ),
)

const ConsentBody = named(
  'CandidateConsentInput',
  Type.Object(
    {
      basis: Type.Enum([...contactBases], {
        description:
          'Basis of the contact. `consent`: the person agreed to be contacted about jobs. `application`: the person applied for a job with you. `legitimate_use`: another use that the law allows without consent.',
        examples: ['consent'],
      }),
      obtained_at: Type.String({
        format: 'date-time',
        description: 'Time at which the person agreed or applied: ISO 8601 with a time zone.',
        examples: ['2026-03-01T10:15:00.000Z'],
      }),
      source: Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: NOT_BLANK_PATTERN,
        description: 'Place where the person agreed or applied, such as the name of a form.',
        examples: ['application form on example.com'],
      }),
      text_version: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          pattern: NOT_BLANK_PATTERN,
          description: 'Version of the text that the person agreed to.',
          examples: ['2026-02'],
        }),
      ),
    },
    {
      ...closed,
      description:
        'Basis on which the candidate may be contacted. Required in LIVE mode, unless the organisation has declared a basis for all candidates in its privacy settings.',
    },
  ),
)

const CandidateBody = named(
  'CandidateInput',
  Type.Object(
    {
      external_candidate_id: Type.String({
        pattern: '^[A-Za-z0-9._:-]{1,128}$',
        description: 'Your own ID for the candidate.',
      }),
      name: Type.String({ minLength: 1, maxLength: 200, pattern: NOT_BLANK_PATTERN }),
      phone: Type.Optional(
        Type.String({
          pattern: describePattern(PHONE_PATTERN, PHONE_FORMAT_MESSAGE),
          description:
            "A dialable number in E.164 format. Required unless email is the workflow's only channel. In TEST mode, the numbers +919990000001 to +919990000011 reply automatically, each in a different way.",
          examples: ['+919990000001'],
        }),
      ),
      email: Type.Optional(
        Type.String({
          maxLength: 254,
          pattern: describePattern(EMAIL_PATTERN, 'must be an email address, such as asha@example.com'),
          description: "Required if email is the workflow's only channel.",
        }),
      ),
      language: Type.Optional(
        withNotes(Language, { description: "The candidate's language: one of the workflow's languages." }),
      ),
      metadata: Type.Optional(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          maxProperties: 20,
          propertyNames: { type: 'string', maxLength: 40 },
          additionalProperties: { type: 'string', maxLength: 500 },
          description: 'Your own data about the candidate, which is returned with the result.',
        }),
      ),
      consent: Type.Optional(ConsentBody),
      test_script: Type.Optional(TestScriptSchema),
    },
    closed,
  ),
)

const candidates = Type.Array(CandidateBody, { minItems: 1, maxItems: 1000 })

export const CampaignBody = named(
  'CampaignInput',
  Type.Object(
    {
      mandate_id: Type.String({ pattern: MANDATE_ID_PATTERN }),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 120, pattern: NOT_BLANK_PATTERN })),
      starts_at: Type.Optional(
        Type.String({
          maxLength: 40,
          description:
            'Time at which the campaign starts to contact candidates: ISO 8601 with a time zone, up to 30 days in the future. Default: now.',
        }),
      ),
      test_clock_id: Type.Optional(TestClockId),
      spend_cap: Type.Optional(spendCapField),
      candidates: Type.Optional(candidates),
    },
    closed,
  ),
)
export type CampaignBody = Static<typeof CampaignBody>

export const EnrolmentBody = named('EnrolmentInput', Type.Object({ candidates }, closed))

export const CampaignParams = Type.Object({ campaign_id: Type.String({ pattern: CAMPAIGN_ID_PATTERN }) })

const count = Type.Integer({ minimum: 0 })

export const CampaignRecord = named(
  'Campaign',
  Type.Object({
    campaign_id: Type.String(),
    created_via: CreatedViaSchema,
    mandate_id: Type.String(),
    job_id: orNull(Type.String()),
    name: Type.Optional(Type.String()),
    test_clock_id: attachedTestClock,
    status: named('CampaignStatus', Type.Enum([...campaignStatuses])),
    spend_cap: Type.Optional(spendCapField),
    paused_by: Type.Optional(
      Type.Enum(['campaign_cap', 'daily_cap'], {
        description: 'The cap that paused the campaign. Absent if the campaign is not paused, or a person paused it.',
        examples: ['daily_cap'],
      }),
    ),
    counts: Type.Object({ candidates: count, pending: count, completed: count, declined: count, failed: count }),
    flow_version: Type.Integer({
      description: 'Version of the questions that the most recently enrolled candidates are asked.',
    }),
    version: Type.Integer({ description: 'Increases with every change of the campaign.' }),
    starts_at: timestamp,
    created_at: timestamp,
    updated_at: timestamp,
    completed_at: orNull(timestamp),
  }),
)

const DuplicateRow = named(
  'DuplicateRow',
  Type.Object({
    index: count,
    external_candidate_id: Type.String(),
    reason: Type.Enum([...duplicateReasons]),
    kept_index: Type.Optional(count),
    kept_candidate_id: Type.Optional(Type.String()),
  }),
)

const EnrolmentSchema = named(
  'Enrolment',
  Type.Object({
    accepted: count,
    duplicates: Type.Integer({
      minimum: 0,
      description:
        'Number of candidates who were skipped and not charged, because they were already in the campaign or appear earlier in the request.',
    }),
    // Optional, because a stored response of an older server has no list, and is sent again for the same Idempotency-Key.
    duplicate_rows: Type.Optional(
      Type.Array(DuplicateRow, {
        maxItems: MAX_CANDIDATES_PER_REQUEST.live,
        description:
          'The skipped candidates, in the order of the request. Absent only if the stored response of an older server is returned.',
      }),
    ),
    credits_spent: count,
    credits_left: count,
  }),
)

export const EnrolmentResponse = named(
  'CampaignEnrolment',
  Type.Object({ campaign: CampaignRecord, enrolment: Type.Optional(EnrolmentSchema) }),
)

export const CandidateRecord = named(
  'Candidate',
  Type.Object({
    candidate_id: Type.String(),
    external_candidate_id: Type.String(),
    name: Type.String(),
    status: ResultStatusSchema,
    result_id: Type.String(),
  }),
)

export const CandidateParams = Type.Object({
  ...CampaignParams.properties,
  candidate_id: Type.String({ pattern: '^[A-Z]{2,4}_[A-Z0-9]{10,40}$' }),
})
const ContactConsentSchema = named(
  'CandidateConsent',
  Type.Object({
    basis: Type.Enum([...contactBases], { description: 'Basis of the contact.', examples: ['application'] }),
    obtained_at: Type.Union([timestamp, Type.Null()], {
      description: 'Time at which the person agreed or applied; null if the organisation declared the basis.',
      examples: ['2026-03-01T10:15:00.000Z'],
    }),
    source: Type.String({
      description: 'Place where the person agreed or applied.',
      examples: ['application form on example.com'],
    }),
    text_version: Type.Union([Type.String(), Type.Null()], {
      description: 'Version of the text that the person agreed to; null if it is not known.',
      examples: ['2026-02'],
    }),
    stated_by: Type.Enum(['enrolment', 'organisation'], {
      description:
        'Origin of the basis. `enrolment`: the request that enrolled the candidate. `organisation`: the privacy settings of the organisation at that time.',
      examples: ['enrolment'],
    }),
  }),
)

const SentMessageSchema = named(
  'SentMessage',
  Type.Object({
    message_id: Type.String({ description: 'ID of the message.', examples: ['MS_01KKDSD0J0P26SYTR42FVC31EN'] }),
    kind: Type.Enum([...sentMessageKinds], {
      description:
        'Kind of the message. `requested`: the candidate asked for the contact. `response`: it responds to a reply. `code`: it contains a confirmation code.',
      examples: ['first_message'],
    }),
    channel: Type.String({ description: 'Channel of the message.', examples: ['sms'] }),
    state: Type.String({ description: 'State of the message.', examples: ['delivered'] }),
    sent_at: Type.Union([timestamp, Type.Null()], {
      description:
        'Time at which the provider accepted the message; null if it was not accepted, or in rows of earlier versions.',
      examples: ['2026-03-11T06:30:02.000Z'],
    }),
    template_id: Type.Union([Type.String(), Type.Null()], {
      description: 'ID or name of the registered template that the message was sent with; null if it used none.',
      examples: ['1107160000000012345'],
    }),
    provider_id: Type.Union([Type.String(), Type.Null()], {
      description: 'ID of the message at the provider; null before it was accepted.',
      examples: ['SM0123456789abcdef0123456789abcdef'],
    }),
    text: Type.String({
      description: 'Text of the prompts, without options and links; empty after the erasure of the person.',
      examples: ['Hello Asha Rao. This is an automated message on behalf of Metro Ltd.'],
    }),
    error: Type.Union([Type.String(), Type.Null()], {
      description: 'Error of the provider; null if there was none.',
      examples: [null],
    }),
  }),
)

export const ContactRecordSchema = named(
  'ContactRecord',
  Type.Object({
    candidate_id: Type.String({ examples: ['CD_01KKDSD0J0P26SYTR42FVC31EN'] }),
    external_candidate_id: Type.String(),
    campaign_id: Type.String(),
    consent: Type.Union([ContactConsentSchema, Type.Null()], {
      description:
        'Basis of the contact; null in TEST mode, for candidates of earlier versions and after the erasure of the person.',
    }),
    opted_out: Type.Boolean({
      description: 'True if the phone number or the email address has opted out.',
      examples: [false],
    }),
    dnd_check: Type.Union(
      [
        Type.Object({
          checked_at: withNotes(timestamp, {
            description: 'Time of the check.',
            examples: ['2026-03-11T06:30:00.000Z'],
          }),
          blocked: Type.Boolean({ description: 'True if the number must not be contacted.', examples: [false] }),
        }),
        Type.Null(),
      ],
      { description: 'Result of the DND check before the first contact; null without one.' },
    ),
    messages: Type.Array(SentMessageSchema, { description: 'Messages to the candidate, oldest first.' }),
  }),
)

export const RevokedLink = named('RevokedLink', Type.Object({ candidate_id: Type.String() }))

export const CreditBalance = named('CreditBalance', Type.Object({ balance: count }))

export const CreditEntryRecord = named(
  'CreditEntry',
  Type.Object({
    entry_id: Type.String(),
    amount: Type.Integer({ description: 'Number of credits: negative if spent, positive if granted or refunded.' }),
    reason: Type.Enum([...creditReasons]),
    campaign_id: orNull(Type.String()),
    balance_after: count,
    created_at: timestamp,
  }),
)
