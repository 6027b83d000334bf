import { Type } from 'typebox'
import { eventTypes } from './types.ts'

const EVENT_ID = '^EV_[A-Z0-9]{10,40}$'

export const eventIdText = Type.String({ pattern: EVENT_ID })

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()])
const time = Type.String({ description: 'ISO 8601, UTC.' })

export const EventRecord = Type.Object({
  event_id: eventIdText,
  type: Type.Enum([...eventTypes]),
  mode: Type.Enum(['test', 'live']),
  sequence: Type.Integer({
    description:
      'Grows with every event of the organisation and mode. Gaps may occur; nothing new ever appears below one seen.',
  }),
  created_at: time,
  data: Type.Object(
    {},
    { additionalProperties: true, description: 'The whole record that changed, with its `version`.' },
  ),
  delivery: Type.Object({
    acknowledged_at: orNull(time),
    acknowledged_by: orNull(Type.Enum(['pull', 'webhook'])),
    attempts: Type.Integer({ description: 'How often webhook endpoints were called with it.' }),
    last_error: orNull(Type.String()),
  }),
})

export const EventsQuery = Type.Object({
  types: Type.Optional(Type.String({ maxLength: 1000, description: `A comma list of ${eventTypes.join(', ')}.` })),
  acknowledged: Type.Enum(['false', 'true', 'all'], { default: 'false' }),
  after: Type.Optional(Type.String({ pattern: EVENT_ID, description: 'Only what came after this event.' })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  cursor: Type.Optional(Type.String({ maxLength: 2000, description: 'The `next_cursor` of the page before.' })),
  wait: Type.Integer({
    minimum: 0,
    maximum: 25,
    default: 0,
    description: 'Seconds to hold the call open until something arrives.',
  }),
})

export const AckBody = Type.Object(
  {
    event_ids: Type.Optional(Type.Array(eventIdText, { minItems: 1, maxItems: 100 })),
    up_to: Type.Optional(Type.String({ pattern: EVENT_ID, description: 'This event and everything before it.' })),
  },
  { additionalProperties: false },
)

export const AckData = Type.Object({
  acknowledged: Type.Integer({
    description: 'How many events this call acknowledged that were not acknowledged before.',
  }),
  unknown: Type.Array(Type.String(), { description: 'Ids that name no event of the organisation and mode.' }),
})
