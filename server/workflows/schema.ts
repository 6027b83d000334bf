import { type Static, Type } from 'typebox'
import { NOT_BLANK } from '../platform/http/validation.ts'
import { channels, createdVia, languages, methods, workflowStatuses } from './workflows.ts'

export const WORKFLOW_ID = '^WF_[A-Z]{2}_[A-Z0-9]{10,40}$'

const closed = { additionalProperties: false }

export const MethodList = Type.Array(Type.Enum([...methods]), { minItems: 1, maxItems: 3, uniqueItems: true })
const Channel = Type.Enum([...channels])

const fields = {
  name: Type.String({ minLength: 1, maxLength: 120, pattern: NOT_BLANK, examples: ['Site hiring'] }),
  description: Type.Optional(Type.String({ maxLength: 500 })),
}
const channelList = Type.Array(Channel, {
  minItems: 1,
  maxItems: 4,
  uniqueItems: true,
  description: 'In the order to try.',
})
const languageList = Type.Array(Type.Enum([...languages]), {
  minItems: 1,
  maxItems: 12,
  uniqueItems: true,
  description: 'The first is the default.',
})
const followUpList = Type.Array(
  Type.Object({ after_hours: Type.Integer({ minimum: 1, maximum: 168 }), channel: Channel }, closed),
  { maxItems: 5, description: "A follow-up's channel is one of the workflow's." },
)

export const WorkflowInput = Type.Object(
  {
    ...fields,
    default_methods: Type.Optional(MethodList),
    channels: Type.Optional(channelList),
    languages: Type.Optional(languageList),
    follow_ups: Type.Optional(followUpList),
  },
  closed,
)
export type WorkflowInput = Static<typeof WorkflowInput>

export const WorkflowRecord = Type.Object({
  workflow_id: Type.String({ pattern: WORKFLOW_ID }),
  ...fields,
  default_methods: MethodList,
  channels: channelList,
  languages: languageList,
  follow_ups: followUpList,
  created_via: Type.Enum([...createdVia]),
  status: Type.Enum([...workflowStatuses]),
  mandates: Type.Integer({ description: 'Those that are not archived.' }),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})

export const WorkflowParams = Type.Object({ workflow_id: Type.String({ pattern: WORKFLOW_ID }) })

export const WorkflowsQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  cursor: Type.Optional(Type.String({ maxLength: 2000, description: 'The `next_cursor` of the page before.' })),
})
