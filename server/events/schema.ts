import { type TSchema, Type } from 'typebox'
import { ModeSchema } from '../access/schema.ts'
import { named } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { describePattern } from '../platform/http/validation.ts'
import { eventTypes } from './types.ts'

const EVENT_ID_PATTERN = '^EV_[A-Z0-9]{10,40}$'

export const eventIdSchema = Type.String({ pattern: EVENT_ID_PATTERN })
export const EventTypeSchema = named('EventType', Type.Enum([...eventTypes]))

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const timestamp = Type.String({ description: 'ISO 8601, UTC.' })

const EventDelivery = named(
  'EventDelivery',
  Type.Object(
    {
      acknowledged_at: orNull(timestamp),
      acknowledged_by: orNull(Type.Enum(['pull', 'webhook'])),
      attempts: Type.Integer({ description: 'Number of attempts to deliver the event to webhook endpoints.' }),
      last_error: orNull(Type.String()),
    },
    { description: 'Acknowledgement and delivery of the event. Only in events that you pull.' },
  ),
)

export const EventRecord = named(
  'Event',
  Type.Object({
    event_id: eventIdSchema,
    type: EventTypeSchema,
    mode: ModeSchema,
    sequence: Type.Integer({
      description:
        'Increases with every event of the organisation and mode. Numbers may be skipped, but no event appears later with a lower number than one you have seen.',
    }),
    created_at: timestamp,
    data: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'The complete resource that changed, with its `version` if it has one.',
      },
    ),
    delivery: EventDelivery,
  }),
)

const consumerSchema = Type.Optional(
  Type.String({
    pattern: describePattern('^[A-Za-z0-9._-]{1,64}$', 'must be 1 to 64 letters, digits, dots, underscores or hyphens'),
    description:
      'Your name for a program that pulls events; each consumer acknowledges events separately. Without it, the consumer is `default`: for this consumer, events that were delivered by webhook are acknowledged too, and acknowledging an event ends its deliveries.',
  }),
)

export const EventsQuery = Type.Object({
  types: Type.Optional(
    Type.String({ maxLength: 1000, description: `Comma-separated list of event types: ${eventTypes.join(', ')}.` }),
  ),
  acknowledged: Type.Enum(['false', 'true', 'all'], { default: 'false' }),
  consumer: consumerSchema,
  after: Type.Optional(
    Type.String({ pattern: EVENT_ID_PATTERN, description: 'Return only events after the event with this ID.' }),
  ),
  created_after: Type.Optional(
    Type.String({ format: 'date-time', description: 'Return only events that were recorded after this time.' }),
  ),
  ...pageQuery,
  wait: Type.Integer({
    minimum: 0,
    maximum: 25,
    default: 0,
    description: 'Long polling: maximum number of seconds to hold the request open until an event arrives.',
  }),
})

export const AckBody = named(
  'EventAcknowledgementInput',
  Type.Object(
    {
      event_ids: Type.Optional(Type.Array(eventIdSchema, { minItems: 1, maxItems: 100 })),
      up_to: Type.Optional(
        Type.String({
          pattern: EVENT_ID_PATTERN,
          description: 'Acknowledge the event with this ID and all events before it.',
        }),
      ),
      consumer: consumerSchema,
    },
    { additionalProperties: false },
  ),
)

export const AckData = named(
  'EventAcknowledgement',
  Type.Object({
    acknowledged: Type.Integer({ description: 'Number of events that this request acknowledged for the first time.' }),
    unknown: Type.Array(Type.String(), {
      description: 'Event IDs that do not exist for this organisation and mode.',
    }),
  }),
)
