import type { FastifyRequest } from 'fastify'
import type { Caller } from '../access/caller.ts'
import type { Context } from '../context.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { invalid } from '../platform/http/validation.ts'
import { deliveryStates, endDeliveries } from '../webhooks/deliveries.ts'
import { WaitingCalls } from './long-polls.ts'
import {
  acknowledge,
  type EventFilter,
  type EventPosition,
  findEvents,
  listEvents,
  type StoredEvent,
} from './reading.ts'
import { AckBody, AckData, EventRecord, EventsQuery } from './schema.ts'
import { type EventType, eventTypes } from './types.ts'

const tags = ['Events']

/** The pull side: a safety net behind webhooks, and the way for who cannot be called. */
export function eventRoutes(app: App, context: Context): void {
  const { db, clock, vault, events } = context
  const waiting = new WaitingCalls()

  app.get(
    '/events',
    {
      config: { scope: 'events:read', limit: 'reads' },
      schema: {
        operationId: 'listEvents',
        tags,
        summary: 'Events, oldest first',
        description:
          'Without `acknowledged`, those that nobody has acknowledged yet. With `wait` the call is held open until there is one; a key may hold 20 calls open at once, or as many as the burst of `reads` where that is more, and gets 429 RATE_LIMITED beyond. Events are kept for 30 days.',
        querystring: EventsQuery,
        response: { 200: success(listOf(EventRecord)) },
      },
    },
    async (request) => {
      const { caller, query } = request
      const { types, acknowledged, after, limit, cursor, wait } = query
      const list = `events ${caller.orgId} ${caller.mode} ${types ?? ''} ${acknowledged} ${after ?? ''}`
      const position = readCursor<EventPosition>(vault, list, cursor) ?? (await positionOf(caller, after))
      const filter: EventFilter = {
        types: types === undefined ? undefined : readTypes(types),
        acknowledged,
        after: position,
        limit: limit + 1,
      }
      const found = await readOrWait(request, filter, wait * 1000)
      const page = found.slice(0, limit)
      const states = await deliveryStates(db.queries, page)
      const items = page.map((event) => eventRecord(event, states.get(event.event_id)))
      const last = page.at(-1)
      const next_cursor =
        found.length > limit && last ? writeCursor(vault, list, { sequence: last.sequence, day: last.day }) : null
      return { success: true as const, message: 'Events', data: { items, next_cursor } }
    },
  )

  app.post(
    '/events/ack',
    {
      config: { scope: 'events:write', limit: 'reads' },
      schema: {
        operationId: 'acknowledgeEvents',
        tags,
        summary: 'Acknowledge events',
        description:
          'Send either `event_ids` or `up_to`. An acknowledged event is not delivered to webhook endpoints any more. Acknowledging again changes nothing.',
        body: AckBody,
        response: { 200: success(AckData) },
      },
    },
    async ({ caller, body }) => {
      const { event_ids, up_to } = body
      if ((event_ids === undefined) === (up_to === undefined)) {
        throw invalid([{ path: 'body', message: 'must have either event_ids or up_to, one of the two' }])
      }
      await events.settle(caller)
      const asked = event_ids ?? [up_to!]
      const now = clock.now()
      const data = await db.transaction(async (tx) => {
        const known = await findEvents(tx, caller, now, asked)
        const ids = new Set(known.map(({ event_id }) => event_id))
        const unknown = [...new Set(asked)].filter((id) => !ids.has(id))
        if (known.length === 0) return { acknowledged: 0, unknown }
        const which = event_ids ? { ids: [...ids] } : { upTo: known[0]!.sequence }
        const acknowledged = await acknowledge(tx, caller, now, which)
        await endDeliveries(tx, acknowledged)
        const answer = { acknowledged: acknowledged.length, unknown }
        await caller.record?.(tx, { status: 200, body: answer })
        return answer
      })
      return { success: true as const, message: 'Acknowledged', data }
    },
  )

  async function positionOf(caller: Caller, after: string | undefined): Promise<EventPosition | undefined> {
    if (after === undefined) return undefined
    await events.settle(caller)
    const [event] = await findEvents(db.queries, caller, clock.now(), [after])
    if (!event) throw invalid([{ path: 'query.after', message: 'names no event of the last 30 days' }])
    return event
  }

  async function readOrWait(
    { caller, raw }: FastifyRequest,
    filter: EventFilter,
    wait: number,
  ): Promise<StoredEvent[]> {
    const deadline = performance.now() + wait
    const gone = new AbortController()
    let leave: (() => void) | undefined
    raw.socket.once('close', hangUp)
    try {
      await events.settle(caller)
      while (true) {
        const left = deadline - performance.now()
        const found = new AbortController()
        const signal = AbortSignal.any([gone.signal, found.signal])
        // Waiting begins before looking: what arrives in between is not missed.
        const arrival = events.wait(caller, filter.types, Math.max(0, left), signal)
        try {
          const page = await listEvents(db.queries, caller, clock.now(), filter)
          if (page.length > 0 || left <= 0 || gone.signal.aborted || events.released) return page
          leave ??= waiting.enter(caller, deadline)
          await arrival
          if (gone.signal.aborted) return []
        } finally {
          found.abort()
        }
      }
    } finally {
      leave?.()
      raw.socket.off('close', hangUp)
    }

    function hangUp() {
      gone.abort()
    }
  }
}

function readTypes(list: string): EventType[] {
  const names = list.split(',')
  const unknown = names.filter((name) => !(eventTypes as readonly string[]).includes(name))
  if (unknown.length === 0) return names as EventType[]
  const message = `there is no type ${unknown.map((name) => JSON.stringify(name.slice(0, 40))).join(', ')}; there are ${eventTypes.join(', ')}`
  throw invalid([{ path: 'query.types', message }])
}

function eventRecord(event: StoredEvent, state: { attempts: number; last_error: string | null } | undefined) {
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
