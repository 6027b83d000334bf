import { sql } from 'kysely'
import type { EventRef } from '../events/reading.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { ANY_DAY_PREFIX, acknowledgeDelivered, DELIVERIES_DUE, lockEvents, whereEvents } from './deliveries.ts'

const MAX_BATCH_DELIVERIES = 2000

/**
 * Releases the deliveries that were held while the webhook was disabled: makes them due now, oldest first. `period` is the number
 * of times that the webhook had been disabled when they were held.
 */
export async function releaseHeldDeliveries(
  db: Database,
  webhookId: string,
  period: number,
  now: number,
): Promise<void> {
  await inBatches(db, async (tx) => {
    const { numAffectedRows } = await sql`
      update webhook_deliveries d set next_attempt_at = ${new Date(now)}
      from (
        select day, event_id from webhook_deliveries
        where webhook_id = ${webhookId} and status = 'pending' and next_attempt_at = 'infinity' and held_in = ${period}
        order by sequence limit ${MAX_BATCH_DELIVERIES}
      ) as batch
      where d.day = batch.day and d.event_id = batch.event_id and d.webhook_id = ${webhookId}
        and d.status = 'pending'`.execute(tx)
    await sql`select pg_notify(${DELIVERIES_DUE}, ${ANY_DAY_PREFIX + webhookId})`.execute(tx)
    return Number(numAffectedRows)
  })
}

/**
 * Ends the pending deliveries to the webhook that were held in this period, or all. They no longer block the acknowledgement of
 * their events.
 */
export async function withdrawPending(
  db: Database,
  webhookId: string,
  period: number | undefined,
  now: number,
): Promise<void> {
  const selection = period === undefined ? sql`true` : sql`d.next_attempt_at = 'infinity' and d.held_in = ${period}`
  await inBatches(db, async (tx) => {
    const { rows: refs } = await sql<EventRef>`
      select to_char(d.day, 'YYYY-MM-DD') as day, d.event_id from webhook_deliveries d
      where d.webhook_id = ${webhookId} and d.status = 'pending' and ${selection} limit ${MAX_BATCH_DELIVERIES}`.execute(
      tx,
    )
    if (refs.length === 0) return 0
    await lockEvents(tx, refs)
    await sql`
      update webhook_deliveries d set status = 'failed', ended = 'withdrawn'
      where ${whereEvents('d', refs)} and d.webhook_id = ${webhookId}
        and d.status = 'pending' and ${selection}`.execute(tx)
    await acknowledgeDelivered(tx, refs, now)
    return refs.length
  })
}

async function inBatches(db: Database, processBatch: (tx: Tx) => Promise<number>) {
  while ((await db.transaction(processBatch)) > 0);
}
