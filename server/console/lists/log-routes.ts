import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { type EventPosition, latestEventCondition, listLatestEvents } from '../../events/reading.ts'
import { eventRecord } from '../../events/routes.ts'
import { EventRecord } from '../../events/schema.ts'
import { eventTypes } from '../../events/types.ts'
import { PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { deliveryStates } from '../../webhooks/deliveries.ts'
import { countedListOf, countUpToLimit, paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'

const LatestEventsQuery = Type.Object({
  ...PageQuery.properties,
  type: Type.Optional(Type.Enum([...eventTypes])),
  acknowledged: Type.Optional(Type.Boolean()),
  event_id: Type.Optional(Type.String({ maxLength: 60 })),
})

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
