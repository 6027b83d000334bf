import { Type } from 'typebox'
import {
  templateChannels,
  templatePurposes,
  templateQualities,
  templateStatuses,
} from '../../channels/templates/template.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { LANGUAGES } from '../../platform/text/languages.ts'
import { closed } from '../schema.ts'

const MAX_CSV_LENGTH = 1_000_000

const text = Type.String()
const textOrNull = Type.Union([text, Type.Null()])

const MessageTemplateRecord = named(
  'MessageTemplate',
  Type.Object({
    channel: Type.Enum([...templateChannels]),
    purpose: Type.Enum([...templatePurposes]),
    language: text,
    name: text,
    language_code: textOrNull,
    text,
    category: text,
    header: textOrNull,
    registry_id: textOrNull,
    status: Type.Enum([...templateStatuses]),
    status_reason: textOrNull,
    quality: Type.Union([Type.Enum([...templateQualities]), Type.Null()]),
    has_buttons: Type.Boolean(),
    checked_at: textOrNull,
  }),
)
export const MessageTemplateList = named(
  'MessageTemplateList',
  Type.Object({ items: Type.Array(MessageTemplateRecord) }),
)

export const TemplateParams = Type.Object({
  channel: Type.Enum([...templateChannels]),
  purpose: Type.Enum([...templatePurposes]),
  language: Type.Enum([...LANGUAGES]),
})

export const TemplateBody = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: 2000 }),
    category: Type.Optional(Type.String({ maxLength: 40 })),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    header: Type.Optional(Type.String({ maxLength: 20 })),
    registry_id: Type.Optional(Type.String({ maxLength: 40 })),
    status: Type.Optional(Type.Enum([...templateStatuses])),
  },
  closed,
)

export const TemplateImportBody = Type.Object({ csv: Type.String({ minLength: 1, maxLength: MAX_CSV_LENGTH }) }, closed)

export const TemplateExportParams = Type.Object({ channel: Type.Enum([...templateChannels]) })

export const TemplateExport = named('MessageTemplateExport', Type.Object({ file_name: text, content: text }))
