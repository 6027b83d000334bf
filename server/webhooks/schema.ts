import { Type } from 'typebox'
import { eventTypes } from '../events/types.ts'
import { deliveryStatuses } from './deliveries.ts'
import { webhookStatuses } from './webhooks.ts'

const timestamp = Type.String({ format: 'date-time' })
const cursor = Type.Optional(Type.String({ maxLength: 2000, description: 'The `next_cursor` of the page before.' }))
const limit = Type.Integer({ minimum: 1, maximum: 100, default: 25 })
const eventId = Type.String({ pattern: '^EV_[A-Z0-9]{10,40}$' })

export const WebhookBody = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        'http or https; LIVE endpoints https only. Private addresses are refused unless the operator allows them.',
    }),
    event_types: Type.Optional(
      Type.Array(Type.Enum([...eventTypes]), {
        minItems: 1,
        uniqueItems: true,
        description: 'The types to send; left out: all of them, also those that come to exist later.',
      }),
    ),
    description: Type.Optional(Type.String({ maxLength: 500 })),
  },
  { additionalProperties: false },
)

const record = {
  webhook_id: Type.String(),
  url: Type.String(),
  event_types: Type.Array(Type.Enum([...eventTypes])),
  description: Type.Optional(Type.String()),
  status: Type.Enum([...webhookStatuses], {
    description: '`failing`: nothing but failures for a day; it is sent to all the same.',
  }),
  created_via: Type.Enum(['api', 'playground']),
  created_at: timestamp,
  updated_at: timestamp,
}

export const WebhookRecord = Type.Object(record)

export const WebhookWithSecret = Type.Object({
  ...record,
  secret: Type.String({ description: '`whsec_` and base64; shown here and never again.' }),
})

export const WebhookParams = Type.Object({ webhook_id: Type.String({ pattern: '^WH_[A-Z0-9]{10,40}$' }) })

export const WebhooksQuery = Type.Object({ status: Type.Optional(Type.Enum([...webhookStatuses])), limit, cursor })

export const EnableBody = Type.Object(
  {
    recover: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Send everything that was addressed to the endpoint while it was disabled.',
      }),
    ),
  },
  { additionalProperties: false, default: {} },
)

export const TestData = Type.Object({ event_id: Type.String({ description: 'Of the `webhook.test` event.' }) })

export const DeliveriesQuery = Type.Object({ status: Type.Optional(Type.Enum([...deliveryStatuses])), limit, cursor })

export const DeliveryRecord = Type.Object({
  delivery_id: Type.String(),
  event_id: Type.String(),
  event_type: Type.Enum([...eventTypes]),
  status: Type.Enum([...deliveryStatuses]),
  attempts: Type.Array(
    Type.Object({
      attempted_at: timestamp,
      status_code: Type.Union([Type.Integer(), Type.Null()]),
      latency_ms: Type.Number(),
      error: Type.Union([Type.String(), Type.Null()]),
      answer: Type.String({ description: 'The first 1,024 bytes of the answer’s body; empty where there was none.' }),
    }),
    { description: 'Oldest first; the last 100.' },
  ),
  next_attempt_at: Type.Union([timestamp, Type.Null()]),
  created_at: timestamp,
})

export const ReplayBody = Type.Object(
  {
    event_ids: Type.Optional(Type.Array(eventId, { minItems: 1, maxItems: 100 })),
    from: Type.Optional(Type.String({ format: 'date-time', description: 'Events recorded at this moment or later.' })),
    to: Type.Optional(Type.String({ format: 'date-time', description: 'Events recorded before this moment.' })),
    only_failed: Type.Optional(
      Type.Boolean({ description: 'Only what was sent to this endpoint, or was to be, and was not taken.' }),
    ),
  },
  { additionalProperties: false },
)

export const ReplayData = Type.Object({ replayed: Type.Integer() })
