import { Type } from 'typebox'
import { CreatedViaSchema } from '../access/schema.ts'
import { EventTypeSchema, eventIdSchema } from '../events/schema.ts'
import { named } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { deliveryStatuses } from './deliveries.ts'
import { webhookStatuses } from './webhooks.ts'

const timestamp = Type.String({ format: 'date-time' })

export const WebhookBody = named(
  'WebhookInput',
  Type.Object(
    {
      url: Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'An http or https URL. LIVE endpoints must use https. Private addresses are rejected unless the operator allows them.',
      }),
      event_types: Type.Optional(
        Type.Array(EventTypeSchema, {
          minItems: 1,
          maxItems: 50,
          uniqueItems: true,
          description: 'The event types to send. Default: all types, including types added in the future.',
        }),
      ),
      description: Type.Optional(Type.String({ maxLength: 500 })),
    },
    { additionalProperties: false },
  ),
)

const WebhookStatus = named(
  'WebhookStatus',
  Type.Enum([...webhookStatuses], {
    description:
      '`failing`: all delivery attempts have failed for a day; events are still sent. `disabled` and `archived` endpoints receive no events.',
  }),
)

const webhookFields = {
  webhook_id: Type.String(),
  url: Type.String(),
  event_types: Type.Array(EventTypeSchema),
  description: Type.Optional(Type.String()),
  status: WebhookStatus,
  created_via: CreatedViaSchema,
  created_at: timestamp,
  updated_at: timestamp,
}

export const WebhookRecord = named('Webhook', Type.Object(webhookFields))

export const WebhookWithSecret = named(
  'WebhookWithSecret',
  Type.Object({
    ...webhookFields,
    secret: Type.String({
      description: 'The signing secret: `whsec_` followed by base64. Store it, because it is returned only once.',
    }),
  }),
)

export const WebhookParams = Type.Object({ webhook_id: Type.String({ pattern: '^WH_[A-Z0-9]{10,40}$' }) })

export const WebhooksQuery = Type.Object({ status: Type.Optional(WebhookStatus), ...pageQuery })

export const EnableWebhookBody = named(
  'EnableWebhookInput',
  Type.Object(
    {
      recover: Type.Optional(
        Type.Boolean({
          default: false,
          description:
            'Send all events that were held for the endpoint while it was disabled. Otherwise, their deliveries become `failed`.',
        }),
      ),
    },
    { additionalProperties: false, default: {} },
  ),
)

export const TestData = named(
  'WebhookTest',
  Type.Object({ event_id: Type.String({ description: 'ID of the `webhook.test` event.' }) }),
)

const DeliveryStatus = named('DeliveryStatus', Type.Enum([...deliveryStatuses]))

export const DeliveriesQuery = Type.Object({ status: Type.Optional(DeliveryStatus), ...pageQuery })

const DeliveryAttempt = named(
  'DeliveryAttempt',
  Type.Object({
    attempted_at: timestamp,
    status_code: Type.Union([Type.Integer(), Type.Null()]),
    latency_ms: Type.Number(),
    error: Type.Union([Type.String(), Type.Null()]),
    answer: Type.String({
      description: 'The first 1,024 bytes of the response body. Empty if there was no response.',
    }),
  }),
)

export const DeliveryRecord = named(
  'Delivery',
  Type.Object({
    delivery_id: Type.String(),
    event_id: Type.String(),
    event_type: EventTypeSchema,
    status: DeliveryStatus,
    attempts: Type.Array(DeliveryAttempt, { description: 'The last 100 attempts to deliver the event, oldest first.' }),
    next_attempt_at: Type.Union([timestamp, Type.Null()]),
    created_at: timestamp,
  }),
)

export const ReplayBody = named(
  'ReplayInput',
  Type.Object(
    {
      event_ids: Type.Optional(Type.Array(eventIdSchema, { minItems: 1, maxItems: 100 })),
      from: Type.Optional(
        Type.String({ format: 'date-time', description: 'Replay events recorded at this time or later.' }),
      ),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Replay events recorded before this time.' })),
      only_failed: Type.Optional(
        Type.Boolean({
          description:
            'Replay only events that this endpoint has not accepted: their delivery failed or is being retried.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
)

export const ReplayData = named(
  'Replay',
  Type.Object({ replayed: Type.Integer({ description: 'Number of events that will be sent again.' }) }),
)
