import { sql } from 'kysely'
import { type TSchema, Type } from 'typebox'
import type { OrgScope } from '../../access/caller.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { type EventPosition, findEvents, latestEventCondition, listLatestEvents } from '../../events/reading.ts'
import { eventRecord } from '../../events/routes.ts'
import { EventRecord, eventIdSchema } from '../../events/schema.ts'
import { eventTypes } from '../../events/types.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { deliveryStates, deliveryStatuses, findDelivery, listDeliveriesOfEvent } from '../../webhooks/deliveries.ts'
import { deliveryBody, deliveryHeaders, deliveryTimestamp } from '../../webhooks/delivery/request.ts'
import { WebhookParams } from '../../webhooks/schema.ts'
import { getWebhook } from '../../webhooks/webhooks.ts'
import { countedListOf, countUpToLimit, paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'

const LatestEventsQuery = Type.Object({
  ...PageQuery.properties,
  type: Type.Optional(Type.Enum([...eventTypes])),
  acknowledged: Type.Optional(Type.Boolean()),
  event_id: Type.Optional(Type.String({ maxLength: 60 })),
})

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const DeliveryStatus = Type.Enum([...deliveryStatuses])

const SentDelivery = named(
  'SentDelivery',
  Type.Object({
    event_id: Type.String(),
    event_type: Type.String(),
    status: DeliveryStatus,
    body: Type.String({ description: 'The request body, byte by byte as it is signed.' }),
    attempts: Type.Array(
      Type.Object({
        attempted_at: Type.String(),
        headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
          description: 'The request headers. Without the signature if it was not stored.',
        }),
        status_code: orNull(Type.Integer()),
        latency_ms: Type.Number(),
        error: orNull(Type.String()),
        answer: Type.String({ description: 'The first 1,024 bytes of the response body.' }),
      }),
      { description: 'Newest first.' },
    ),
  }),
)

const EventDeliveryList = named(
  'EventDeliveryList',
  Type.Object({
    items: Type.Array(
      Type.Object({
        webhook_id: Type.String(),
        url: Type.String(),
        status: DeliveryStatus,
        attempts: Type.Integer(),
      }),
    ),
  }),
)

const EventParams = Type.Object({ event_id: eventIdSchema })

/** Lists the latest events first. The partner API lists the oldest first, because programs process them in order. */
export function latestEventRoutes(app: App, { db, vault, clock }: Context): void {
  app.get(
    '/orgs/:org/:mode/lists/events',
    {
      config: { role: 'viewer' },
      schema: { querystring: LatestEventsQuery, response: { 200: success(countedListOf(EventRecord)) } },
    },
    async ({ caller, query: { limit, cursor, type, acknowledged, event_id: id } }) => {
      const now = clock.now()
      const page = await paginate(
        vault,
        `latest events ${caller.orgId} ${caller.mode} ${JSON.stringify([type, acknowledged, id])}`,
        { limit, ...(cursor === undefined ? {} : { cursor }) },
        (before: EventPosition | undefined, pageLimit) =>
          listLatestEvents(db.queries, caller, now, { type, acknowledged, id, before, limit: pageLimit }),
        ({ sequence, day }) => ({ sequence, day }),
        (event) => event,
      )
      const states = await deliveryStates(db.queries, page.items)
      const condition = latestEventCondition(caller, now, { type, acknowledged, id })
      const counted = cursor === undefined ? await countUpToLimit(db.queries, sql`events`, condition) : { total: null }
      return successResponse('Events', {
        items: page.items.map((event) => eventRecord(event, states.get(event.event_id))),
        next_cursor: page.next_cursor,
        ...counted,
      })
    },
  )
}

/** Shows the requests with which events are delivered. */
export function deliveryDetailRoutes(app: App, { db, clock }: Context): void {
  app.get(
    '/orgs/:org/:mode/lists/events/:event_id/deliveries',
    { config: { role: 'viewer' }, schema: { params: EventParams, response: { 200: success(EventDeliveryList) } } },
    async ({ caller, params: { event_id } }) => {
      const event = await getEvent(caller, event_id)
      return successResponse('Deliveries', { items: await listDeliveriesOfEvent(db.queries, event) })
    },
  )

  app.get(
    '/orgs/:org/:mode/webhooks/:webhook_id/deliveries/:event_id',
    {
      config: { role: 'viewer' },
      schema: {
        params: Type.Object({ ...WebhookParams.properties, ...EventParams.properties }),
        response: { 200: success(SentDelivery) },
      },
    },
    async ({ caller, params: { webhook_id, event_id } }) => {
      const webhook = await getWebhook(db.queries, caller, webhook_id)
      const event = await getEvent(caller, event_id)
      const delivery = await findDelivery(db.queries, webhook.webhook_id, event)
      if (!delivery) throw problem('NOT_FOUND', `Event ${event_id} has no delivery to ${webhook_id}.`)
      const attempts = delivery.log.toReversed().map(({ signature, ...attempt }) => {
        const timestamp = deliveryTimestamp(Date.parse(attempt.attempted_at))
        const headers = deliveryHeaders(event_id, timestamp, signature).map(([name, value]) => ({ name, value }))
        return { ...attempt, headers }
      })
      const { status } = delivery
      const data = { event_id, event_type: event.type, status, body: deliveryBody(event), attempts }
      return successResponse('Delivery', data)
    },
  )

  async function getEvent(scope: OrgScope, eventId: string) {
    const [event] = await findEvents(db.queries, scope, clock.now(), [eventId])
    if (!event) throw problem('NOT_FOUND', `Event ${eventId} not found. Events are stored for 30 days.`)
    return event
  }
}
