import { type TSchema, Type } from 'typebox'
import { CampaignRecord } from '../campaigns/schema.ts'
import { SkillRequestRecord } from '../catalogue/schema.ts'
import { CredentialRecord } from '../credentials/schema.ts'
import { EventRecord } from '../events/schema.ts'
import { type EventType, eventTypes } from '../events/types.ts'
import { retirementReasons } from '../items/item-status.ts'
import { MandateRecord } from '../mandates/schema.ts'
import { PersonErasedData } from '../people/schema.ts'
import { named } from '../platform/http/named-schemas.ts'
import { ResultRecord } from '../results/schema.ts'
import { Verification } from '../verification/schema.ts'
import { WebhookRecord } from '../webhooks/schema.ts'

const RetiredQuestion = named(
  'RetiredQuestion',
  Type.Object({
    mandate_id: Type.String(),
    skill_id: Type.String(),
    item_id: Type.String(),
    reason: Type.Enum([...retirementReasons]),
  }),
)

const { serviceVerificationId, serviceUserId, externalStudentId, verificationMethod, status, ...verificationFields } =
  Verification.properties
const VerificationChange = named(
  'VerificationChange',
  Type.Object({
    ...{ serviceVerificationId, serviceUserId, externalStudentId, verificationMethod, status },
    skills: Type.Optional(verificationFields.skills),
    evidenceLevel: verificationFields.evidenceLevel,
    reasons: verificationFields.reasons,
    version: Type.Integer(),
  }),
)

/** Returns a reference to a schema that the routes of the partner API use too, and that is therefore a component already. */
function referenceTo(schema: TSchema): TSchema {
  return Type.Unsafe({ $ref: `#/components/schemas/${(schema as { title?: string }).title}` })
}

interface EventDescription {
  summary: string
  data: TSchema
}

/** The event types with the time at which they are sent, and the schema of their `data`. */
const eventDescriptions: Record<EventType, EventDescription> = {
  'result.completed': {
    summary: 'A candidate completed the conversation, qualified or not',
    data: referenceTo(ResultRecord),
  },
  'result.declined': { summary: 'A candidate declined, or has opted out', data: referenceTo(ResultRecord) },
  'result.failed': {
    summary: 'A candidate could not be reached or did not respond, or the campaign was archived',
    data: referenceTo(ResultRecord),
  },
  'mandate.ready': { summary: 'The questions of a mandate are prepared', data: referenceTo(MandateRecord) },
  'mandate.failed': { summary: 'The questions of a mandate could not be prepared', data: referenceTo(MandateRecord) },
  'mandate.question_retired': {
    summary: 'A question that a prepared mandate asks was retired',
    data: RetiredQuestion,
  },
  'campaign.paused': {
    summary: 'A spend cap paused the campaign',
    data: referenceTo(CampaignRecord),
  },
  'campaign.completed': {
    summary: 'No candidate of the campaign is pending any more',
    data: referenceTo(CampaignRecord),
  },
  'skill_request.resolved': {
    summary: 'The operator approved or rejected a skill that you requested',
    data: referenceTo(SkillRequestRecord),
  },
  'verification.initiated': {
    summary: 'The first questions of an assessment were generated',
    data: VerificationChange,
  },
  'verification.requested': {
    summary: 'A reviewer was asked to review the skills for the first time',
    data: VerificationChange,
  },
  'verification.completed': {
    summary: 'The reviewer decided on the skills, or the assessment was passed',
    data: VerificationChange,
  },
  'verification.declined': { summary: 'The reviewer declined to review the skills', data: VerificationChange },
  'verification.failed': { summary: 'The attempts of an assessment are used up', data: VerificationChange },
  'verification.expired': { summary: "The session or the reviewer's link expired", data: VerificationChange },
  'credential.issued': {
    summary: 'A credential was issued to a person who wants it',
    data: referenceTo(CredentialRecord),
  },
  'credential.revoked': { summary: 'A credential was revoked', data: referenceTo(CredentialRecord) },
  'person.erased': { summary: 'A person was erased', data: PersonErasedData },
  'webhook.test': { summary: 'You requested a test event', data: referenceTo(WebhookRecord) },
}

const { delivery: _delivery, type: _type, data: _data, ...eventFields } = EventRecord.properties

/** One schema per event type, with the `data` of this type. */
const eventSchemas = eventTypes.map((type) => {
  const { summary, data } = eventDescriptions[type]
  const { event_id, ...otherFields } = eventFields
  return named(
    eventSchemaName(type),
    Type.Object(
      { event_id, type: Type.Literal(type, { description: 'The type of the event.' }), ...otherFields, data },
      { description: `${summary}.` },
    ),
  )
})

/** Returns the schema name of an event type: `MandateQuestionRetiredEvent` for `mandate.question_retired`. */
function eventSchemaName(type: EventType): string {
  const words = type.split(/[._]/).map((word) => word[0]!.toUpperCase() + word.slice(1))
  return `${words.join('')}Event`
}

const schemaPath = (type: EventType) => `#/components/schemas/${eventSchemaName(type)}`

/** Schemas that replace the one of routes, for which the `data` of an event is any JSON object. */
export const eventUnions = {
  Event: {
    description: 'An event that you pull: the event that webhooks receive, and its delivery.',
    allOf: [
      { $ref: '#/components/schemas/WebhookEvent' },
      {
        type: 'object',
        required: ['delivery'],
        properties: { delivery: { $ref: '#/components/schemas/EventDelivery' } },
      },
    ],
  },
  WebhookEvent: {
    description: 'An event that a webhook receives. `type` determines the schema of `data`; new types may be added.',
    oneOf: eventTypes.map((type) => ({ $ref: schemaPath(type) })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(eventTypes.map((type) => [type, schemaPath(type)])),
    },
  },
}

/** Returns the webhooks of the partner API: one operation per event type, with an example of each. */
export function describeWebhooks(examples: Map<string, object>): Record<string, { post: object }> {
  return Object.fromEntries(
    eventTypes.map((type, index) => [
      type,
      {
        post: {
          operationId: `on${eventSchemaName(type).replace(/Event$/, '')}`,
          summary: eventDescriptions[type].summary,
          description:
            'Sent to every webhook that subscribes to this type. Verify the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` before you use the body; a delivery may be repeated, with the same `event_id`.',
          tags: ['Webhooks'],
          security: [],
          parameters: deliveryHeaders,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: eventSchemas[index]!, example: examples.get(type) } },
          },
          responses: {
            '2XX': {
              description: 'The event was received. Any other status, and no response within 10 seconds, is retried.',
            },
            '4XX': { description: 'The delivery failed and is retried.' },
          },
        },
      },
    ]),
  )
}

const deliveryHeaders = [
  deliveryHeader(
    'webhook-id',
    'The event ID: identical in every delivery of the event.',
    'EV_01KKDSDAF6F47ZPNPTWNARWS3X',
  ),
  deliveryHeader('webhook-timestamp', 'Unix time of the attempt in seconds.', '1773210610'),
  deliveryHeader(
    'webhook-signature',
    'One or two signatures, separated by a space: `v1,` followed by the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. There are two while an old secret is still valid.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

function deliveryHeader(name: string, description: string, example: string) {
  return { in: 'header', name, required: true, description, schema: { type: 'string' }, example }
}

/** Returns the records in examples of events, by the name of their schema. */
export function recordExamples(examples: Map<string, object>): Record<string, unknown> {
  const types: EventType[] = [
    'result.completed',
    'mandate.ready',
    'campaign.completed',
    'credential.issued',
    'webhook.test',
  ]
  return Object.fromEntries(
    types.map((type) => {
      const { $ref } = eventDescriptions[type].data as { $ref?: string }
      return [$ref!.slice($ref!.lastIndexOf('/') + 1), (examples.get(type) as { data?: unknown } | undefined)?.data]
    }),
  )
}
