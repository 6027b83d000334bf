import { type TSchema, Type } from 'typebox'
import { ModeSchema } from '../../access/schema.ts'
import { serviceStates } from '../../access/service-switch.ts'
import { MasterSkillName, skillPlace, skillRequestFields } from '../../catalogue/schema.ts'
import { taxonomyFormats } from '../../catalogue/taxonomy.ts'
import { emailKinds, emailStatuses } from '../../mail/mail.ts'
import { audiences, suppressionReasons } from '../../mail/suppressions.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { deadLetterQueues } from '../../platform/jobs/dead-letters.ts'
import { jobStates } from '../../platform/jobs/queued-jobs.ts'
import { ringKinds } from '../../verification/endorsements/ring-detection.ts'
import { ringStatuses } from '../../verification/endorsements/rings.ts'
import { EmailRecord, organisationFields } from '../schema.ts'

/** Schemas of the responses of the operator's routes. */

const text = Type.String()
const count = Type.Integer()
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const OrganisationRecord = named('Organisation', Type.Object(organisationFields))

export const OrganisationForOperator = named(
  'OrganisationForOperator',
  Type.Object({
    ...organisationFields,
    service_off_reason: orNull(text),
    credits: Type.Object({ test: count, live: count }),
    members: count,
    keys: count,
  }),
)

export const ServiceSwitch = named(
  'ServiceSwitch',
  Type.Object({
    on: Type.Boolean(),
    state: Type.Enum([...serviceStates], {
      description: '`api_off`: only the partner API is off. `off`: all work is stopped and held.',
    }),
    since: orNull(text),
    reason: orNull(text),
  }),
)
export const GrantedCredits = named('GrantedCredits', Type.Object({ mode: ModeSchema, balance: count }))

const FailingEndpoint = named(
  'FailingEndpoint',
  Type.Object({
    webhook_id: text,
    org_id: text,
    org_name: text,
    mode: ModeSchema,
    url: text,
    failing_since: orNull(text),
  }),
)
const FailedRequest = named(
  'FailedRequest',
  Type.Object({
    at: text,
    org_id: text,
    org_name: text,
    mode: ModeSchema,
    method: text,
    route: text,
    code: orNull(text),
    request_id: text,
  }),
)

export const ServerStatus = named(
  'ServerStatus',
  Type.Object({
    service_on: Type.Boolean(),
    organisations_off: count,
    processes: count,
    workers: count,
    jobs: Type.Object({ waiting: count, active: count, failed: count, oldest_seconds: Type.Number() }),
    mails: Type.Object({
      failed_today: count,
      queued: count,
      retrying: Type.Integer({ description: 'Number of queued emails of which at least one attempt failed.' }),
    }),
    dead_letters: Type.Integer({ description: 'Number of rows that cannot be processed.' }),
    failing_endpoints: Type.Array(FailingEndpoint),
    failed_calls: Type.Array(FailedRequest, {
      description: 'The latest requests of the last hour whose response had a 5xx status, at most 20.',
    }),
    resting_keys: Type.Integer({ description: 'Number of API keys in cooldown.' }),
    skill_requests: Type.Integer({ description: 'Number of pending skill requests.' }),
  }),
)

export const JobQueue = named(
  'JobQueue',
  Type.Object({ queue: text, waiting: count, active: count, failed: count, oldest_seconds: Type.Number() }),
)

export const JobRecord = named(
  'QueuedJob',
  Type.Object({
    job_id: text,
    queue: text,
    state: Type.Enum([...jobStates]),
    about: Type.Array(text, { description: 'The IDs in the payload of the job.' }),
    attempts: count,
    retry_limit: count,
    error: orNull(text),
    created_at: text,
    start_after: text,
    completed_at: orNull(text),
  }),
)

export const DeadLetterRecord = named(
  'DeadLetter',
  Type.Object({
    queue: Type.Enum([...deadLetterQueues]),
    subject_id: Type.String({ description: 'The ID of the row that cannot be processed.' }),
    org_id: orNull(text),
    mode: orNull(ModeSchema),
    attempts: count,
    error: text,
    first_failed_at: text,
    last_failed_at: text,
    retry_at: Type.Union([text, Type.Null()], { description: 'The next automatic retry; null after the last one.' }),
  }),
)

export const ActiveLimits = named(
  'ActiveLimits',
  Type.Object({
    cooldowns: Type.Array(Type.Object({ key_id: text, org_id: text, until: text })),
    visitors: Type.Array(Type.Object({ address: text, rule: text, until: text })),
  }),
)

export const EmailFilters = named(
  'EmailFilters',
  Type.Object({ kinds: Type.Array(Type.Enum([...emailKinds])), statuses: Type.Array(Type.Enum([...emailStatuses])) }),
)
export const EmailDetails = named(
  'EmailDetails',
  Type.Object({
    ...EmailRecord.properties,
    org_name: orNull(text),
    subject: text,
    text,
    replyTo: Type.Optional(text),
  }),
)

export const SuppressionRecord = named(
  'Suppression',
  Type.Object({
    suppression_id: text,
    audience: Type.Enum([...audiences], { description: 'The role in which the person gets no more emails.' }),
    org_id: orNull(text),
    reason: Type.Enum([...suppressionReasons]),
    caused_by: orNull(text),
    created_at: text,
  }),
)

const skillRequestFieldsForOperator = { ...skillRequestFields, org_id: text, mode: ModeSchema, context: orNull(text) }

export const RejectedSkillRequest = named('RejectedSkillRequest', Type.Object(skillRequestFieldsForOperator))
export const SkillRequestForOperator = named(
  'SkillRequestForOperator',
  Type.Object({ ...skillRequestFieldsForOperator, org_name: text }),
)
export const ApprovedSkill = named(
  'ApprovedSkill',
  Type.Object({
    skill_id: text,
    name: text,
    resolved: Type.Array(text, { description: 'The IDs of the skill requests that this skill resolves.' }),
  }),
)

export const CatalogueSummary = named(
  'CatalogueSummary',
  Type.Object({
    version: count,
    master_skills: count,
    sub_skills: count,
    skills: count,
    verifiable: count,
    sources: Type.Array(Type.Object({ source: text, skills: count })),
  }),
)

export const CatalogueGroup = named(
  'CatalogueGroup',
  Type.Object({
    id: Type.String({ description: 'The ID of the sub-skill or master skill.' }),
    name: text,
    master_skill: orNull(MasterSkillName),
    skills: count,
  }),
)

export const SimilarSkill = named(
  'SimilarSkill',
  Type.Object({
    skill_id: text,
    name: text,
    description: text,
    ...skillPlace,
    method: Type.Enum(['exact', 'alias', 'fuzzy', 'semantic']),
  }),
)

export const SubSkillChoice = named(
  'SubSkillChoice',
  Type.Object({ sub_skill_id: text, name: text, master_skill: MasterSkillName }),
)

export const ImportRecord = named(
  'CatalogueImport',
  Type.Object({
    import_id: text,
    format: Type.Enum([...taxonomyFormats]),
    file_name: text,
    dry_run: Type.Boolean(),
    status: Type.Enum(['running', 'done', 'failed']),
    written: count,
    of: count,
    summary: orNull(Type.Record(Type.String(), Type.Unknown())),
    error: orNull(text),
    started_by: text,
    started_at: text,
    ended_at: orNull(text),
    undone_at: orNull(text),
    undone_by: orNull(text),
    can_undo: Type.Boolean({ description: 'Whether this is the import that can be undone next.' }),
  }),
)

const ringFields = {
  ring_id: text,
  mode: ModeSchema,
  kind: Type.Enum([...ringKinds]),
  status: Type.Enum([...ringStatuses]),
  size: count,
  /** Masked addresses, each with the member's number in the ring. */
  members: Type.Array(text),
  score: Type.Number(),
  evidence: Type.Object({
    endorsements: count,
    expected_endorsements: Type.Number(),
    reciprocal_pairs: count,
    shortest_cycle: count,
    inside_share: Type.Number(),
    superior_relations: count,
    free_or_disposable_mail: count,
    quick_answers: count,
    same_device_or_network: count,
  }),
  note: orNull(text),
  noted_by: orNull(text),
  noted_at: orNull(text),
  found_at: text,
  updated_at: text,
}

export const EndorsementRing = named('EndorsementRing', Type.Object(ringFields))

export const EndorsementRingDetails = named(
  'EndorsementRingDetails',
  Type.Object({
    ...ringFields,
    endorsements: Type.Array(
      Type.Object({
        verification_id: text,
        org_id: text,
        reviewer: text,
        student: text,
        endorsement_type: text,
        facts: Type.Array(text),
        endorsed_at: text,
      }),
    ),
  }),
)
