import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { PersonKey } from '../people/identity/person-key.ts'
import type { Clock } from '../platform/clock.ts'
import { notifyAfterCommit, type Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { sealEventData } from './personal-data.ts'
import type { EventType } from './types.ts'

/** Notification that events of any organisation may wait for the ledger, or that a dead letter is to be retried. */
export const EVENTS_RECORDED = 'events recorded'

/** Returns the notification after a transaction that recorded events of organisations in a shard has committed. */
export function eventsRecordedIn(shard: number): string {
  return `${EVENTS_RECORDED} ${shard}`
}

/** The person that an event is about. */
export interface EventSubject {
  personId: string
  key: PersonKey
  /** A second person whose values the event contains. */
  other?: { personId: string; key: PersonKey } | undefined
  /** `data` with the marker in place of the personal values, for readers after the erasure of the person. */
  redactedData: object
}

/** Records an event in the transaction of the change. `data` is the complete resource that changed. Returns the event ID. */
export async function recordEvent(
  tx: Tx,
  scope: OrgScope,
  clock: Clock,
  type: EventType,
  data: object,
  subject?: EventSubject,
): Promise<string> {
  const [eventId] = await recordEvents(tx, scope, clock, type, [data], subject && [subject])
  return eventId!
}

/** Records one event per resource, in this order. `subjects` are the people of the resources, in the same order. */
export async function recordEvents(
  tx: Tx,
  { orgId, mode }: OrgScope,
  clock: Clock,
  type: EventType,
  data: object[],
  subjects?: EventSubject[],
): Promise<string[]> {
  if (data.length === 0) return []
  const now = clock.now()
  const ids = data.map(() => newId('EV_', now))
  const texts = data.map((record, index) => JSON.stringify(subjects?.[index]?.redactedData ?? record))
  const sealedTexts = ids.map((id, index) => sealEventData(subjects?.[index], id, data[index]))
  const personIds = ids.map((_, index) => subjects?.[index]?.personId ?? null)
  const otherIds = ids.map((_, index) => subjects?.[index]?.other?.personId ?? null)
  const { rows } = await sql<{ shard: number }>`
    insert into event_outbox (event_id, org_id, mode, type, data, person_id, other_person_id, personal, created_at)
    select id, ${orgId}, ${mode}, ${type}, data, person_id, other_person_id, personal, ${new Date(now)}
    from unnest(${ids}::text[], ${texts}::text[], ${personIds}::text[], ${otherIds}::text[], ${sealedTexts}::bytea[])
      as recorded (id, data, person_id, other_person_id, personal)
    returning shard`.execute(tx)
  notifyAfterCommit(tx, eventsRecordedIn(rows[0]!.shard))
  return ids
}

/** Deletes an event that was recorded and cannot be sequenced. */
export async function discardRecordedEvent(tx: Tx, eventId: string): Promise<void> {
  await sql`delete from event_outbox where event_id = ${eventId}`.execute(tx)
}
