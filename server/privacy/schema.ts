import { Type } from 'typebox'
import { PageBrand } from '../branding/schema.ts'
import { subjectKinds } from '../notices/notice.ts'
import { named } from '../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { requestActions } from './requests.ts'

/** Requests and responses of the page on which people use their rights. */

const closed = { additionalProperties: false }
const text = Type.String()
const orNull = <T extends ReturnType<typeof Type.Object> | typeof text>(schema: T) => Type.Union([schema, Type.Null()])
const time = Type.String({ format: 'date-time' })

export const SubjectParams = Type.Object({ kind: Type.Enum([...subjectKinds]) })
export const RequestParams = Type.Object({ kind: Type.Enum([...subjectKinds]), request_id: Type.String() })
export const LanguageQuery = Type.Object({ lang: Type.Optional(Type.Enum([...LANGUAGES])) })

export const YourDataView = named(
  'YourDataView',
  Type.Object({
    kind: Type.Enum([...subjectKinds]),
    language: text,
    languages: Type.Array(Type.Object({ code: text, name: text })),
    texts: Type.Record(text, text),
    notice: Type.Object({
      version: Type.Integer(),
      organisation: text,
      sections: Type.Array(Type.Object({ title: text, paragraphs: Type.Array(text) })),
    }),
    consent: Type.Union([
      Type.Object({ version: Type.Integer(), given_at: time, withdrawn_at: orNull(time) }),
      Type.Null(),
    ]),
    addresses: Type.Array(
      Type.Object({ kind: Type.Enum(['phone', 'email']), masked: text }, { description: 'Where a code can be sent.' }),
    ),
    erased: Type.Boolean(),
    brand: Type.Optional(PageBrand),
  }),
)

export const ConsentBody = Type.Object({ language: Type.Enum([...LANGUAGES]) }, closed)

export const PrivacyRequestBody = named(
  'PrivacyRequestInput',
  Type.Object(
    {
      action: Type.Enum([...requestActions]),
      channel: Type.Enum(['phone', 'email']),
      email: Type.Optional(Type.String({ maxLength: 254 })),
      language: Type.Enum([...LANGUAGES]),
    },
    closed,
  ),
)

export const StartedRequest = named(
  'StartedPrivacyRequest',
  Type.Object({ request_id: text, sent_to: text, new_sent_to: orNull(text), minutes: Type.Integer() }),
)

export const ConfirmationBody = Type.Object(
  {
    code: Type.String({ maxLength: 20 }),
    new_code: Type.Optional(Type.String({ maxLength: 20 })),
    name: Type.Optional(Type.String({ maxLength: 200, pattern: NOT_BLANK_PATTERN })),
    email: Type.Optional(Type.String({ maxLength: 254 })),
  },
  closed,
)

export const ConfirmedRequest = named(
  'ConfirmedPrivacyRequest',
  Type.Object({
    action: Type.Enum([...requestActions]),
    export: Type.Union([Type.Object({ json: text, html: text }), Type.Null()], {
      description: 'Everything that is stored about the person, if the request was to see it.',
    }),
  }),
)
