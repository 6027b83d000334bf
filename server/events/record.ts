import { sql } from 'kysely'
import type { OwnerScope } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import { announce, type Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import type { EventType } from './types.ts'

/** What a process is told of when a transaction that recorded events has committed. */
export const EVENTS_RECORDED = 'events recorded'

/** Records, in the transaction of a change, what partners are to be told of it: `data` is the whole record that changed. */
export async function recordEvent(
  tx: Tx,
  scope: OwnerScope,
  clock: Clock,
  type: EventType,
  data: object,
): Promise<string> {
  const [eventId] = await recordEvents(tx, scope, clock, type, [data])
  return eventId!
}

/** The same for many records at once, in their order. */
export async function recordEvents(
  tx: Tx,
  { orgId, mode }: OwnerScope,
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
    from unnest(${ids}::text[], ${texts}::text[]) as given (id, data)`.execute(tx)
  announce(tx, EVENTS_RECORDED)
  return ids
}
