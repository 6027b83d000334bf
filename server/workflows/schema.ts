import { type Static, Type } from 'typebox'
import { CreatedViaSchema } from '../access/schema.ts'
import { named, withNotes } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { channels, methods, workflowStatuses } from './enums.ts'

export const WORKFLOW_ID_PATTERN = '^WF_[A-Z]{2}_[A-Z0-9]{10,40}$'

const closed = { additionalProperties: false }

const Method = named(
  'Method',
  Type.Enum([...methods], {
    description: 'A part of the conversation with a candidate. The parts always run in the order listed here.',
  }),
)
const Channel = named('Channel', Type.Enum([...channels]))
export const Language = named('Language', Type.Enum([...LANGUAGES], { description: 'ISO 639-1 language code.' }))
export const MethodList = Type.Array(Method, { minItems: 1, maxItems: 3, uniqueItems: true })

const FollowUp = named(
  'FollowUp',
  Type.Object(
    {
      after_hours: Type.Integer({
        minimum: 1,
        maximum: 168,
        description: 'Hours between the previous message to the candidate and this one.',
      }),
      channel: withNotes(Channel, { description: "One of the workflow's channels." }),
    },
    closed,
  ),
)

const workflowFields = {
  name: Type.String({ minLength: 1, maxLength: 120, pattern: NOT_BLANK_PATTERN, examples: ['Site hiring'] }),
  description: Type.Optional(Type.String({ maxLength: 500 })),
}
const channelList = Type.Array(Channel, {
  minItems: 1,
  maxItems: 4,
  uniqueItems: true,
  description: 'Channels in the order in which they are tried.',
})
const languageList = Type.Array(Language, {
  minItems: 1,
  maxItems: 12,
  uniqueItems: true,
  description: 'Languages of the conversation with candidates. The first language is the default.',
})
const followUpList = Type.Array(FollowUp, {
  maxItems: 5,
  description: 'Messages to candidates who have not replied.',
})

export const WorkflowInput = named(
  'WorkflowInput',
  Type.Object(
    {
      ...workflowFields,
      default_methods: Type.Optional(MethodList),
      channels: Type.Optional(channelList),
      languages: Type.Optional(languageList),
      follow_ups: Type.Optional(followUpList),
    },
    closed,
  ),
)
export type WorkflowInput = Static<typeof WorkflowInput>

const workflowId = Type.String({ pattern: WORKFLOW_ID_PATTERN })

export const WorkflowRecord = named(
  'Workflow',
  Type.Object({
    workflow_id: workflowId,
    ...workflowFields,
    default_methods: MethodList,
    channels: channelList,
    languages: languageList,
    follow_ups: followUpList,
    created_via: CreatedViaSchema,
    status: named('WorkflowStatus', Type.Enum([...workflowStatuses])),
    mandates: Type.Integer({ description: 'Number of mandates that use the workflow and are not archived.' }),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  }),
)

export const WorkflowParams = Type.Object({ workflow_id: workflowId })

export const WorkflowsQuery = Type.Object(pageQuery)
