import { type TSchema, Type } from 'typebox'
import { ModeSchema } from '../../access/schema.ts'
import { ConversationPrompt } from '../../campaigns/candidate-page/schema.ts'
import { ResultReasonSchema, ResultStatusSchema } from '../../campaigns/schema.ts'
import { channelNames } from '../../channels/channel.ts'
import { personas } from '../../channels/simulator/test-numbers.ts'
import { reviewPurposes } from '../../channels/templates/template.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { reviewChannels } from '../../review-messages/outgoing-message.ts'
import { reviewMessageStates } from '../../review-messages/review-messages.ts'
import { ProofFile } from '../../verification/proofs/schema.ts'
import { MethodSchema, StatusSchema, Student, Verification } from '../../verification/schema.ts'
import { Language } from '../../workflows/schema.ts'
import { MemberRoleSchema, RoleSchema } from '../auth/schema.ts'
import { EmailRecord, organisationFields } from '../schema.ts'

/** Schemas of the responses of the routes of an organisation. */

const text = Type.String()
const count = Type.Integer()
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const OrganisationWithRole = named(
  'OrganisationWithRole',
  Type.Object({ ...organisationFields, role: RoleSchema }),
)

export const memberParams = { member_id: Type.String({ pattern: '^MB_[A-Z0-9]{10,40}$' }) }

export const MemberRecord = named(
  'Member',
  Type.Object({
    member_id: text,
    email: text,
    name: Type.Union([text, Type.Null()], { description: 'The name of the person, which colleagues see.' }),
    role: MemberRoleSchema,
    created_at: text,
    last_sign_in_at: orNull(text),
  }),
)

export const OrganisationSummary = named(
  'OrganisationSummary',
  Type.Object({
    workflows: count,
    mandates: Type.Object({ preparing: count, ready: count, failed: count }),
    campaigns: Type.Object({ scheduled: count, running: count, paused: count, completed: count }),
    candidates: Type.Object({ total: count, pending: count, completed: count, declined: count, failed: count }),
    assigned_to_me: Type.Integer({
      description: 'Candidates without a decision who are assigned to the signed-in member.',
    }),
    credits: count,
    webhooks: Type.Object({ enabled: count, failing: count, disabled: count }),
    members: count,
    keys: count,
    expiring_keys: Type.Integer({ description: 'Active keys that expire within 30 days.' }),
  }),
)

const keyFields = {
  key_id: text,
  kind: Type.Enum(['partner', 'session']),
  mode: ModeSchema,
  name: Type.Union([text, Type.Null()], { description: 'The name that a person gave to the key.' }),
  scopes: Type.Array(text),
  status: Type.Enum(['active', 'revoked', 'expired']),
  expires_at: orNull(text),
  revoked_at: orNull(text),
  previous_secret_until: Type.Union([text, Type.Null()], {
    description: 'When the previous secret expires. Null unless both secrets are valid.',
  }),
  created_at: text,
  last_used_at: Type.Union([text, Type.Null()], { description: 'When the key was last used; at most a minute late.' }),
  allowed_addresses: Type.Union([Type.Array(text), Type.Null()], {
    description: 'CIDR ranges that the key may be used from. Null: any address.',
  }),
}

export const KeyRecord = named('ApiKey', Type.Object(keyFields))
export const CreatedKey = named(
  'CreatedApiKey',
  Type.Object({
    ...keyFields,
    secret: Type.Optional(Type.String({ description: 'The secret of a partner key. It is not returned again.' })),
    key: Type.Optional(Type.String({ description: 'The whole session key. It is not returned again.' })),
  }),
)
export const KeyList = named(
  'ApiKeyList',
  Type.Object({
    items: Type.Array(KeyRecord),
    next_cursor: Type.Null(),
    grace_hours: Type.Object({ usual: count, most: count }),
    max_days: Type.Union([count, Type.Null()], {
      description: 'Maximum lifetime of new keys in days. Null: keys need not expire.',
    }),
  }),
)

export const KeyLimits = named(
  'KeyLimitUsage',
  Type.Object({
    key_id: text,
    cooldown_until: orNull(text),
    buckets: Type.Array(
      Type.Object({
        name: text,
        per_second: Type.Number(),
        burst: count,
        per_minute: count,
        per_day: orNull(count),
        minute_used: Type.Union([count, Type.Null()], {
          description:
            'Requests used in the current minute. Null for the limits of the whole key and of one recruiter, which are not counted per minute.',
        }),
        minute_resets_in: orNull(count),
      }),
    ),
    people_per_day: count,
    people_today: count,
    skills_per_day: count,
    browse_pages_per_hour: count,
  }),
)

const ContactChannel = named(
  'ContactChannel',
  Type.Enum([...channelNames, 'page'], { description: "`page`: the candidate's web page." }),
)
const ChannelName = Type.Enum([...channelNames])
const TestBehaviour = named('TestBehaviour', Type.Enum(Object.values(personas)))

const ConversationMessage = named(
  'ConversationMessage',
  Type.Object({
    message_id: text,
    direction: Type.Enum(['in', 'out']),
    channel: ContactChannel,
    state: text,
    contact_step: orNull(count),
    step: count,
    parts: Type.Array(ConversationPrompt),
    text: Type.String({
      description: "The candidate's reply, or the exact text of an SMS or email. Empty for other messages.",
    }),
    error: orNull(text),
    at: text,
  }),
)

const conversationFields = {
  candidate_id: text,
  campaign_id: text,
  external_candidate_id: text,
  name: text,
  phone: orNull(text),
  email: orNull(text),
  part: Type.Union([TestBehaviour, Type.Null()], {
    description: 'The simulated behaviour of a candidate with a test number. Null for other candidates.',
  }),
  status: ResultStatusSchema,
  reason: orNull(ResultReasonSchema),
  result_id: text,
  language: Language,
  channel: orNull(ChannelName),
  updated_at: text,
}

export const CandidateConversation = named(
  'CandidateConversation',
  Type.Object({
    ...conversationFields,
    mandate_id: text,
    metadata: Type.Record(Type.String(), text),
    contact_step: orNull(count),
    flow_version: count,
    link: Type.Union([text, Type.Null()], {
      description:
        "The link to the candidate's page. Null in LIVE mode, for erased people, for viewers, and for members who may not see the organisation's own questions if the page asks them.",
    }),
    erased: Type.Boolean({ description: 'True if the data of the person was erased.' }),
    started_at: orNull(text),
    completed_at: orNull(text),
    asking: Type.Array(ConversationPrompt),
    next_contact_at: orNull(text),
    messages: Type.Array(ConversationMessage),
  }),
)

export const SimulatorPhone = named(
  'SimulatorPhone',
  Type.Object({
    ...conversationFields,
    campaign_name: orNull(text),
    last: orNull(Type.Object({ direction: Type.Enum(['in', 'out']), channel: ContactChannel, text, at: text })),
  }),
)

const verificationFields = {
  verification_id: text,
  external_student_id: text,
  student_name: text,
  status: StatusSchema,
  method: orNull(MethodSchema),
  skills: Type.Integer({ description: 'Number of skills to verify.' }),
  created_at: text,
  updated_at: text,
  completed_at: orNull(text),
  expires_at: text,
}

export const VerificationSummary = named('VerificationSummary', Type.Object(verificationFields))

const ReviewMessageRecord = named(
  'ReviewMessage',
  Type.Object(
    {
      message_id: text,
      kind: Type.Enum([...reviewPurposes]),
      channel: orNull(Type.Enum([...reviewChannels])),
      state: Type.Enum([...reviewMessageStates]),
      reason: Type.Union([text, Type.Null()], {
        description: 'Reason why the message was skipped, failed or is waiting.',
      }),
      text: Type.Union([text, Type.Null()], { description: 'The text of a TEST message, which reaches no phone.' }),
      created_at: text,
      sent_at: orNull(text),
    },
    { description: 'A message with the link of the review to the phone number of the reviewer.' },
  ),
)

export const VerificationDetails = named(
  'VerificationDetails',
  Type.Object({
    ...verificationFields,
    student: Student,
    reviewer: orNull(
      Type.Object({
        name: text,
        email: text,
        company: text,
        website: Type.Optional(text),
        phone: Type.Optional(text),
        sent_at: orNull(text),
        expires_at: orNull(text),
        submitted_at: orNull(text),
      }),
    ),
    withdrawable: Type.Boolean(),
    outcome: Verification,
    files: Type.Array(ProofFile),
    mails: Type.Array(EmailRecord),
    messages: Type.Array(ReviewMessageRecord),
  }),
)

export const ItemSources = named(
  'ItemSources',
  Type.Object({
    public_bank_skill_ids: Type.Array(Type.String(), {
      description: 'Skills that are asked from the built-in question bank, which anyone can read.',
    }),
  }),
)
