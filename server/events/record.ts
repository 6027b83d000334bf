import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import { notifyAfterCommit, type Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import type { EventType } from './types.ts'

/** Notification after a transaction that recorded events has committed. */
export const EVENTS_RECORDED = 'events recorded'

/** Records an event in the transaction of the change. `data` is the complete resource that changed. Returns the event ID. */
export async function recordEvent(
  tx: Tx,
  scope: OrgScope,
  clock: Clock,
  type: EventType,
  data: object,
): Promise<string> {
  const [eventId] = await recordEvents(tx, scope, clock, type, [data])
  return eventId!
}

/** Records one event per resource, in this order. */
export async function recordEvents(
  tx: Tx,
  { orgId, mode }: OrgScope,
  clock: Clock,
  type: EventType,
  data: object[],
): Promise<string[]> {
  if (data.length === 0) return []
  const now = clock.now()
  const ids = data.map(() => newId('EV_', now))
  const texts = data.map((record) => JSON.stringify(record))
  await sql`insert into event_outbox (event_id, org_id, mode, type, data, created_at)
    select id, ${orgId}, ${mode}, ${type}, data, ${new Date(now)}
    from unnest(${ids}::text[], ${texts}::text[]) as recorded (id, data)`.execute(tx)
  notifyAfterCommit(tx, EVENTS_RECORDED)
  return ids
}

/** Deletes an event that was recorded and cannot be sequenced. */
export async function discardRecordedEvent(tx: Tx, eventId: string): Promise<void> {
  await sql`delete from event_outbox where event_id = ${eventId}`.execute(tx)
}
