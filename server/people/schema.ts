import { Type } from 'typebox'
import { PHONE_FORMAT_MESSAGE, PHONE_PATTERN } from '../campaigns/phone-number.ts'
import { named } from '../platform/http/named-schemas.ts'
import { describePattern, NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { personStatuses } from './people.ts'

const closed = { additionalProperties: false }
const PERSON_ID_PATTERN = '^PER_[A-Z0-9]{10,40}$'
const EMAIL_PATTERN = '^[^\\s\\p{C}@<>"(),:;]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$'

const phone = (description: string) =>
  Type.String({
    pattern: describePattern(PHONE_PATTERN, PHONE_FORMAT_MESSAGE),
    description,
  })
const email = (description: string) =>
  Type.String({
    maxLength: 254,
    pattern: describePattern(EMAIL_PATTERN, 'must be an email address, such as asha@example.com'),
    description,
  })
const timestamp = (description: string) => Type.String({ format: 'date-time', description })
const timestampOrNull = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
const text = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, pattern: NOT_BLANK_PATTERN, description, examples: [example] })

export const PersonParams = Type.Object({
  person_id: Type.String({ pattern: PERSON_ID_PATTERN, description: 'The ID of the person, `PER_…`.' }),
})

export const PeopleQuery = Type.Object({
  phone: Type.Optional(phone('A phone number in E.164 format. Send either `phone` or `email`.')),
  email: Type.Optional(email('An email address. Other addresses of the same mailbox are found too.')),
})

export const ExportQuery = Type.Object({
  format: Type.Optional(
    Type.Enum(['json', 'html'], {
      description: '`json` (default): `sections`. `html`: `html`, a page that the person can read.',
    }),
  ),
})

export const CorrectionBody = named(
  'PersonCorrection',
  Type.Object(
    {
      name: Type.Optional(text(200, 'The correct name.', 'Asha Verma')),
      phone: Type.Optional(phone('The correct phone number. It replaces the one in the records.')),
      email: Type.Optional(email('The correct email address. It replaces the one in the records.')),
      basis: Type.Optional(text(500, 'The legal ground, for the audit log.', 'GDPR Article 16')),
      requested_by: Type.Optional(
        text(200, 'The role or the system that asked, for the audit log.', 'data subject, ticket 4711'),
      ),
    },
    closed,
  ),
)

export const RequestBody = named(
  'PersonRequest',
  Type.Object(
    {
      basis: Type.Optional(text(500, 'The legal ground, for the audit log.', 'GDPR Article 16')),
      requested_by: Type.Optional(
        text(200, 'The role or the system that asked, for the audit log.', 'data subject, ticket 4711'),
      ),
    },
    closed,
  ),
)

export const ErasureBody = named(
  'PersonErasure',
  Type.Object(
    {
      basis: Type.String({
        minLength: 1,
        maxLength: 500,
        pattern: NOT_BLANK_PATTERN,
        description:
          'The legal ground, for the audit log. Do not include personal values of the person: they would not be erased.',
        examples: ['GDPR Article 17(1)(b)'],
      }),
      requested_by: Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: NOT_BLANK_PATTERN,
        description:
          'The role or the system that asked, for the audit log. Do not include personal values of the person.',
        examples: ['data subject, ticket 4711'],
      }),
    },
    closed,
  ),
)

const recordIds = {
  person_id: Type.String({ description: 'The ID of the person, `PER_…`.' }),
  candidates: Type.Array(
    Type.Object({
      candidate_id: Type.String(),
      external_candidate_id: Type.String({ description: 'Your own ID for the candidate.' }),
      campaign_id: Type.String(),
      result_id: Type.String(),
    }),
    { description: 'The candidacies of the person.' },
  ),
  students: Type.Array(
    Type.Object({
      service_user_id: Type.String({
        description: 'The ID of the student.',
        examples: ['SU_01KKDSEW481CVNXQR3ARFXRRJH'],
      }),
      external_student_id: Type.String({ description: 'Your own ID for the student.', examples: ['stu-1'] }),
      verification_ids: Type.Array(Type.String({ examples: ['SV_7K2M9QX4B8RNT5WZC3HJ6VDPGA'] }), {
        description: 'The verifications of the student.',
        examples: [['SV_7K2M9QX4B8RNT5WZC3HJ6VDPGA']],
      }),
    }),
    { description: 'The students that are this person, with their verifications.' },
  ),
  reviews: Type.Array(Type.Object({ verification_id: Type.String() }), {
    description: 'The verifications that the person reviewed, or was asked to review.',
  }),
}

export const PersonErasedData = named(
  'ErasedPerson',
  Type.Object({ ...recordIds, erased_at: timestamp('Time of the erasure.') }),
)

export const PersonRecord = named(
  'Person',
  Type.Object({
    ...recordIds,
    status: Type.Enum([...personStatuses], {
      description:
        '`active`; `restricted`: the person is not contacted and their data are not processed; `erased`: nothing is left that identifies the person.',
    }),
    legal_hold: Type.Union([Type.String(), Type.Null()], {
      description:
        'The reason for which the data must be kept, so that the person cannot be erased; null without a legal hold.',
      examples: [null],
    }),
    created_at: timestamp('Time at which the person was stored for the first time.'),
    updated_at: timestamp('Time of the last change.'),
    restricted_at: timestampOrNull('Time since which the processing is restricted; null if it is not.'),
    erased_at: timestampOrNull('Time of the erasure; null before.'),
  }),
)

export const PersonList = named(
  'PersonList',
  Type.Object({ items: Type.Array(PersonRecord, { description: 'The people with this address.' }) }),
)

export const PersonExportRecord = named(
  'PersonExport',
  Type.Object({
    person: PersonRecord,
    exported_at: timestamp('Time at which the data were read.'),
    sections: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ description: 'The kind of records, such as `candidacies`.', examples: ['candidacies'] }),
          title: Type.String({ description: 'The kind of records, as a heading.', examples: ['Campaigns'] }),
          records: Type.Array(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }), {
            description: 'The records. Their fields depend on the section.',
            examples: [[{ candidate_id: 'CD_01KKDS3Q50C7Y1M6T2R8K4X9W3', name: 'Asha Verma' }]],
          }),
        }),
        { description: 'Everything that is held about the person. With `format=json`.' },
      ),
    ),
    html: Type.Optional(
      Type.String({
        description: 'The same as a page. With `format=html`.',
        examples: ['<!doctype html><html lang="en">…</html>'],
      }),
    ),
  }),
)
