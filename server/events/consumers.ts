import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Queries, Tx } from '../platform/database/database.ts'

/**
 * The consumer whose acknowledgements are stored with the events. An event that was delivered by webhook counts as acknowledged for it, and
 * its acknowledgement ends the deliveries. Other consumers are independent of webhooks.
 */
export const DEFAULT_CONSUMER = 'default'
const MAX_CONSUMERS_PER_MODE = 20

/** Returns the sequence up to which a consumer has acknowledged all events. */
export async function acknowledgedUpTo(queries: Queries, { orgId, mode }: OrgScope, consumer: string): Promise<number> {
  const { rows } = await sql<{ up_to: number }>`
    select up_to from event_consumers where org_id = ${orgId} and mode = ${mode} and consumer = ${consumer}`.execute(
    queries,
  )
  return rows[0]?.up_to ?? 0
}

/** Acknowledges these events for a consumer. Returns the number of events that it had not acknowledged before. */
export async function acknowledgeForConsumer(
  tx: Tx,
  scope: OrgScope,
  consumer: string,
  now: number,
  selection:
    | { events: { day: string; event_id: string; sequence: number }[] }
    | { upTo: number; countAfter(sequence: number): Promise<number> },
): Promise<number> {
  const { orgId, mode } = scope
  const upTo = await lockConsumer(tx, scope, consumer, now)
  if ('events' in selection) {
    const newEvents = selection.events.filter(({ sequence }) => sequence > upTo)
    const { rows } = await sql`
      insert into event_acknowledgements (org_id, mode, consumer, event_id, day, acknowledged_at)
      select ${orgId}, ${mode}, ${consumer}, event_id, day, ${new Date(now)}
      from unnest(${newEvents.map(({ event_id }) => event_id)}::text[], ${newEvents.map(({ day }) => day)}::date[]) as n (event_id, day)
      on conflict do nothing returning 1`.execute(tx)
    return rows.length
  }
  if (selection.upTo <= upTo) return 0
  const eventCount = await selection.countAfter(upTo)
  // Single acknowledgements up to the new sequence are no longer needed.
  const { numAffectedRows } = await sql`
    delete from event_acknowledgements a using events e
    where a.org_id = ${orgId} and a.mode = ${mode} and a.consumer = ${consumer}
      and e.day = a.day and e.event_id = a.event_id and e.sequence <= ${selection.upTo}`.execute(tx)
  await sql`update event_consumers set up_to = ${selection.upTo}, acknowledged_at = ${new Date(now)}
    where org_id = ${orgId} and mode = ${mode} and consumer = ${consumer}`.execute(tx)
  return eventCount - Number(numAffectedRows ?? 0)
}

/** Creates the consumer if necessary, and locks it until the end of the transaction. */
async function lockConsumer(tx: Tx, { orgId, mode }: OrgScope, consumer: string, now: number): Promise<number> {
  const { rows: existing } = await sql<{ up_to: number }>`
    select up_to from event_consumers where org_id = ${orgId} and mode = ${mode} and consumer = ${consumer} for update`.execute(
    tx,
  )
  if (existing[0]) return existing[0].up_to
  await sql`select pg_advisory_xact_lock(hashtextextended(${`event consumers of ${orgId} ${mode}`}, 0))`.execute(tx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from event_consumers where org_id = ${orgId} and mode = ${mode} and consumer <> ${consumer}`.execute(
    tx,
  )
  if (rows[0]!.count >= MAX_CONSUMERS_PER_MODE)
    throw problem(
      'LIMIT_EXCEEDED',
      `The organisation already has ${MAX_CONSUMERS_PER_MODE} consumers of events in ${mode.toUpperCase()} mode. Use one of them.`,
    )
  const { rows: created } = await sql<{ up_to: number }>`
    insert into event_consumers (org_id, mode, consumer, acknowledged_at) values (${orgId}, ${mode}, ${consumer}, ${new Date(now)})
    on conflict (org_id, mode, consumer) do update set acknowledged_at = excluded.acknowledged_at returning up_to`.execute(
    tx,
  )
  return created[0]!.up_to
}

/** Deletes acknowledgements of events that are no longer stored. */
export async function deleteOldAcknowledgements(tx: Tx, oldestKeptDay: RawBuilder<string>): Promise<void> {
  await sql`delete from event_acknowledgements where day < ${oldestKeptDay}`.execute(tx)
}
