import type { FastifyRequest } from 'fastify'
import type { Caller } from '../access/caller.ts'
import { serviceDisabledProblem } from '../access/service-switch.ts'
import { invalid } from '../api/invalid.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../platform/database/database.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { deliveryStates, endDeliveries, findEventsWithPendingDeliveries, lockEvents } from '../webhooks/deliveries.ts'
import { acknowledgeForConsumer, DEFAULT_CONSUMER } from './consumers.ts'
import { LongPolls } from './long-polls.ts'
import { RETENTION_DAYS } from './partitions.ts'
import {
  acknowledgeEvents,
  countEvents,
  type EventFilter,
  type EventPosition,
  findEvents,
  listEvents,
  type StoredEvent,
} from './reading.ts'
import { AckBody, AckData, EventRecord, EventsQuery } from './schema.ts'
import { type EventType, eventTypes } from './types.ts'

const tags = ['Events']

/** Registers the routes for pulling events: a fallback for webhooks, and for partners that cannot receive them. */
export function eventRoutes(app: App, context: Context): void {
  const { db, clock, vault, events, keyring } = context
  const longPolls = new LongPolls()

  app.get(
    '/events',
    {
      config: { scope: 'events:read', limit: 'reads' },
      schema: {
        operationId: 'listEvents',
        tags,
        summary: 'List events',
        description:
          'Lists the oldest events first. By default, returns events that the consumer has not acknowledged. With `wait`, the request is held open until an event arrives or the time has passed. A key can hold 20 requests open at a time, or the burst of `reads` if that is higher; further requests fail with 429 RATE_LIMITED. Events are stored for 30 days.',
        querystring: EventsQuery,
        response: { 200: success(listOf(EventRecord)) },
      },
    },
    async (request) => {
      const { caller, query } = request
      const { types, acknowledged, consumer = DEFAULT_CONSUMER, after, created_after, limit, cursor, wait } = query
      const consumerScope = consumer === DEFAULT_CONSUMER ? '' : ` ${consumer}`
      const cursorScope = `events ${caller.orgId} ${caller.mode} ${types ?? ''} ${acknowledged} ${after ?? ''}${consumerScope}${created_after ? ` since ${created_after}` : ''}`
      const position = readCursor<EventPosition>(vault, cursorScope, cursor) ?? (await positionOf(caller, after))
      const filter: EventFilter = {
        types: types === undefined ? undefined : parseTypes(types),
        acknowledged,
        consumer,
        after: position,
        createdAfter: created_after === undefined ? undefined : new Date(created_after),
        limit: limit + 1,
      }
      const foundEvents = await readOrWait(request, filter, wait * 1000)
      const page = foundEvents.slice(0, limit)
      const deliveryStateById = await deliveryStates(db.queries, page)
      const items = page.map((event) => eventRecord(event, deliveryStateById.get(event.event_id)))
      const lastEvent = page.at(-1)
      const next_cursor =
        foundEvents.length > limit && lastEvent
          ? writeCursor(vault, cursorScope, { sequence: lastEvent.sequence, day: lastEvent.day })
          : null
      return { success: true as const, message: 'Events', data: { items, next_cursor } }
    },
  )

  app.post(
    '/events/ack',
    {
      config: { scope: 'events:write', limit: 'reads', errors: ['LIMIT_EXCEEDED'] },
      schema: {
        operationId: 'acknowledgeEvents',
        tags,
        summary: 'Acknowledge events',
        description:
          'Send either `event_ids` or `up_to`. Events that the consumer `default` acknowledges are no longer delivered to webhook endpoints. Acknowledging an event twice has no effect.',
        body: AckBody,
        response: { 200: success(AckData) },
      },
    },
    async ({ caller, body }) => {
      const { event_ids, up_to, consumer = DEFAULT_CONSUMER } = body
      if ((event_ids === undefined) === (up_to === undefined)) {
        throw invalid([{ path: 'body', message: 'must have either event_ids or up_to, but not both' }])
      }
      await events.flush(caller)
      const requestedIds = event_ids ?? [up_to!]
      const now = clock.now()
      const data = await db.transaction(async (tx) => {
        const knownEvents = await findEvents(tx, caller, now, requestedIds)
        const knownIds = new Set(knownEvents.map(({ event_id }) => event_id))
        const unknownIds = [...new Set(requestedIds)].filter((id) => !knownIds.has(id))
        if (knownEvents.length === 0) return { acknowledged: 0, unknown: unknownIds }
        const acknowledged =
          consumer === DEFAULT_CONSUMER
            ? await acknowledgeForDefault(
                tx,
                caller,
                event_ids ? { events: knownEvents } : { upTo: knownEvents[0]!.sequence },
              )
            : await acknowledgeForConsumer(
                tx,
                caller,
                consumer,
                now,
                event_ids ? { events: knownEvents } : upToSelection(tx, caller, knownEvents[0]!.sequence),
              )
        const result = { acknowledged, unknown: unknownIds }
        await caller.record?.(tx, { status: 200, body: result })
        return result
      })
      return { success: true as const, message: 'Events acknowledged', data }
    },
  )

  /**
   * Acknowledges events for the default consumer, which ends their deliveries, also to endpoints that have not accepted an event that
   * another endpoint has. Returns how many were not acknowledged before.
   */
  async function acknowledgeForDefault(
    tx: Tx,
    caller: Caller,
    selection: { events: StoredEvent[] } | { upTo: number },
  ): Promise<number> {
    const refs =
      'events' in selection ? selection.events : await findEventsWithPendingDeliveries(tx, caller, selection.upTo)
    await lockEvents(tx, refs)
    const acknowledgedRefs = await acknowledgeEvents(
      tx,
      caller,
      clock.now(),
      'events' in selection ? { ids: selection.events.map(({ event_id }) => event_id) } : selection,
    )
    await endDeliveries(tx, refs)
    return acknowledgedRefs.length
  }

  function upToSelection(tx: Tx, caller: Caller, upTo: number) {
    return { upTo, countAfter: (after: number) => countEvents(tx, caller, clock.now(), { after, upTo }) }
  }

  async function positionOf(caller: Caller, after: string | undefined): Promise<EventPosition | undefined> {
    if (after === undefined) return undefined
    await events.flush(caller)
    const [event] = await findEvents(db.queries, caller, clock.now(), [after])
    if (!event)
      throw invalid([
        {
          path: 'query.after',
          message: `is not the ID of an event of this organisation and mode in the last ${RETENTION_DAYS} days`,
        },
      ])
    return event
  }

  async function readOrWait(
    { caller, raw }: FastifyRequest,
    filter: EventFilter,
    waitMs: number,
  ): Promise<StoredEvent[]> {
    const deadline = performance.now() + waitMs
    const disconnectController = new AbortController()
    let releaseSlot: (() => void) | undefined
    raw.socket.once('close', onClose)
    try {
      await events.flush(caller)
      while (true) {
        const remainingMs = deadline - performance.now()
        const finishController = new AbortController()
        const signal = AbortSignal.any([disconnectController.signal, finishController.signal])
        // The wait starts before the query, so that events that arrive in between are not missed.
        const arrival = events.wait(caller, filter.types, Math.max(0, remainingMs), signal)
        try {
          const page = await listEvents(db.queries, caller, clock.now(), filter)
          if (page.length > 0 || remainingMs <= 0 || disconnectController.signal.aborted || events.released) return page
          releaseSlot ??= longPolls.acquire(caller, deadline)
          await arrival
          if (disconnectController.signal.aborted) return []
          if (keyring.isServiceDisabled(caller.orgId))
            throw serviceDisabledProblem(keyring.isServicePaused(caller.orgId))
        } finally {
          finishController.abort()
        }
      }
    } finally {
      releaseSlot?.()
      raw.socket.off('close', onClose)
    }

    function onClose() {
      disconnectController.abort()
    }
  }
}

function parseTypes(typeList: string): EventType[] {
  const names = typeList.split(',')
  const unknownNames = names.filter((name) => !(eventTypes as readonly string[]).includes(name))
  if (unknownNames.length === 0) return names as EventType[]
  const message = `has unknown event types: ${unknownNames.map((name) => JSON.stringify(name.slice(0, 40))).join(', ')}; expected ${eventTypes.join(', ')}`
  throw invalid([{ path: 'query.types', message }])
}

export function eventRecord(event: StoredEvent, state: { attempts: number; last_error: string | null } | undefined) {
  return {
    event_id: event.event_id,
    type: event.type,
    mode: event.mode,
    sequence: event.sequence,
    created_at: event.created_at.toISOString(),
    data: JSON.parse(event.data) as object,
    delivery: {
      acknowledged_at: event.acknowledged_at?.toISOString() ?? null,
      acknowledged_by: event.acknowledged_by,
      attempts: state?.attempts ?? 0,
      last_error: state?.last_error ?? null,
    },
  }
}
