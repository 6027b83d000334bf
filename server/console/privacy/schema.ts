import { Type } from 'typebox'
import { ResultStatusSchema } from '../../campaigns/schema.ts'
import { contactBases } from '../../notices/contact-basis.ts'
import { retentionClasses } from '../../notices/retention-classes.ts'
import { MAX_LINK_DAYS, minorsPolicies } from '../../notices/settings.ts'
import { erasureStatuses } from '../../offboarding/erase-organisation.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../../platform/http/validation.ts'
import { methods, statuses } from '../../verification/schema.ts'
import { closed } from '../schema.ts'

const text = (maxLength: number) =>
  Type.Optional(Type.Union([Type.String({ maxLength, pattern: NOT_BLANK_PATTERN }), Type.Null()]))
const days = Type.Integer({ minimum: 1, maximum: 36_500 })
/** A new period; null restores the default. */
const changedDays = Type.Optional(Type.Union([days, Type.Null()]))
const orNull = <T extends ReturnType<typeof Type.String>>(schema: T) => Type.Union([schema, Type.Null()])
const time = Type.String({ format: 'date-time' })
const perClass = <T extends ReturnType<typeof Type.Object> | typeof days>(schema: T) =>
  Type.Object(
    Object.fromEntries(retentionClasses.map((name) => [name, schema])) as Record<(typeof retentionClasses)[number], T>,
  )

export const PrivacySettingsRecord = named(
  'PrivacySettings',
  Type.Object({
    grievance_name: orNull(Type.String()),
    grievance_email: orNull(Type.String()),
    grievance_phone: orNull(Type.String()),
    privacy_email: orNull(Type.String()),
    postal_address: orNull(Type.String()),
    minors: Type.Enum([...minorsPolicies]),
    link_days: Type.Integer(),
    contact_basis: Type.Union([Type.Enum([...contactBases]), Type.Null()]),
    contact_basis_source: orNull(Type.String()),
    contact_basis_text_version: orNull(Type.String()),
    contact_basis_declared_at: orNull(time),
    legal_hold_at: orNull(time),
    legal_hold_reason: orNull(Type.String()),
  }),
)

export const PrivacySettingsBody = named(
  'PrivacySettingsChange',
  Type.Object(
    {
      grievance_name: text(200),
      grievance_email: text(254),
      grievance_phone: text(40),
      privacy_email: text(254),
      postal_address: text(500),
      minors: Type.Optional(Type.Enum([...minorsPolicies])),
      link_days: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_LINK_DAYS })),
      contact_basis: Type.Optional(Type.Union([Type.Enum([...contactBases]), Type.Null()])),
      contact_basis_source: text(200),
      contact_basis_text_version: text(64),
    },
    closed,
  ),
)

export const HoldBody = Type.Object(
  {
    reason: Type.Union([Type.String({ maxLength: 500, pattern: NOT_BLANK_PATTERN }), Type.Null()], {
      description: 'Why the data must be kept. Null ends the hold.',
    }),
  },
  closed,
)

const RetentionBoundRecord = named(
  'RetentionBound',
  Type.Object({ min_days: Type.Integer(), max_days: Type.Integer() }),
)

export const RetentionRecord = named(
  'Retention',
  Type.Object({
    classes: Type.Array(
      Type.Object({
        class: Type.Enum([...retentionClasses]),
        description: Type.String(),
        days: Type.Integer(),
        default_days: Type.Integer(),
        min_days: Type.Integer(),
        max_days: Type.Integer(),
      }),
    ),
  }),
)

export const RetentionBody = named(
  'RetentionChange',
  Type.Object(
    {
      conversations: changedDays,
      answers: changedDays,
      contact_data: changedDays,
      mails: changedDays,
      request_log: changedDays,
      audit: changedDays,
    },
    closed,
  ),
)

export const RetentionPreviewRecord = named(
  'RetentionPreview',
  Type.Object({
    days: Type.Integer({ description: 'Number of days that the preview covers.' }),
    people: Type.Array(Type.Object({ date: Type.String(), count: Type.Integer() })),
    due: perClass(Type.Integer()),
  }),
)

export const BoundsRecord = named('RetentionBounds', perClass(RetentionBoundRecord))
export const BoundBody = Type.Object(
  {
    class: Type.Enum([...retentionClasses]),
    bound: Type.Union([Type.Object({ min_days: days, max_days: days }, closed), Type.Null()]),
  },
  closed,
)

export const PersonHoldParams = Type.Object({ person_id: Type.String() })
export const PersonHoldRecord = named(
  'PersonHold',
  Type.Object({ person_id: Type.String(), legal_hold: orNull(Type.String()) }),
)

export const PersonRecordsRecord = named(
  'PersonRecords',
  Type.Object({
    candidacies: Type.Array(
      Type.Object({
        candidate_id: Type.String(),
        external_candidate_id: Type.String(),
        campaign_id: Type.String(),
        campaign_name: Type.String(),
        job_title: Type.String(),
        company_name: Type.String(),
        status: Type.Union([ResultStatusSchema, Type.Null()]),
        enrolled_at: orNull(time),
      }),
    ),
    verifications: Type.Array(
      Type.Object({
        verification_id: Type.String(),
        role: Type.Enum(['student', 'reviewer']),
        external_student_id: orNull(Type.String()),
        status: Type.Enum([...statuses]),
        method: Type.Union([Type.Enum([...methods]), Type.Null()]),
        skills: Type.Integer(),
        created_at: time,
      }),
    ),
  }),
)

export const PrivacyRequestRecord = named(
  'PrivacyRequest',
  Type.Object({
    request_id: Type.String(),
    person_id: Type.String(),
    page: Type.String(),
    action: Type.String(),
    channel: Type.String(),
    created_at: time,
    confirmed_at: orNull(time),
  }),
)

export const OffboardingBody = Type.Object(
  {
    confirm_name: Type.String({ maxLength: 300, description: 'The name of the organisation.' }),
    basis: Type.String({ maxLength: 500, pattern: NOT_BLANK_PATTERN, description: 'Why the organisation is erased.' }),
  },
  closed,
)
export const ErasureProgressRecord = named(
  'ErasureProgress',
  Type.Object({
    org_id: Type.String(),
    status: Type.Enum(erasureStatuses),
    people: Type.Integer({ description: 'All people of the organisation, in both modes.' }),
    people_erased: Type.Integer(),
    people_held: Type.Integer({ description: 'People with a legal hold, who are not erased.' }),
    erased_at: orNull(time),
  }),
)
