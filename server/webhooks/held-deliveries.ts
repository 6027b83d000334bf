import { sql } from 'kysely'
import type { EventRef } from '../events/reading.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import { ANY_DAY, acknowledgeDelivered, DELIVERIES_DUE, lockEvents, of } from './deliveries.ts'

/** An endpoint was enabled: what was held for it in that period is sent, or withdrawn. There may be a million of them. */
export const settleHeld = defineJob<{ webhook_id: string; period: number; recover: boolean }>(
  'settle-held-deliveries',
  {
    timeout: 3600,
  },
)

/** An endpoint was archived: what waits to be sent to it never will be. */
export const withdrawDeliveries = defineJob<{ webhook_id: string }>('withdraw-deliveries', { timeout: 3600 })

const BATCH = 2000

/** Makes what was held due, oldest first. */
export async function release(db: Database, webhookId: string, period: number, now: number): Promise<void> {
  await inBatches(db, async (tx) => {
    const { numAffectedRows } = await sql`
      update webhook_deliveries d set next_attempt_at = ${new Date(now)}
      from (
        select day, event_id from webhook_deliveries
        where webhook_id = ${webhookId} and status = 'pending' and next_attempt_at = 'infinity' and held_in = ${period}
        order by sequence limit ${BATCH}
      ) as batch
      where d.day = batch.day and d.event_id = batch.event_id and d.webhook_id = ${webhookId}
        and d.status = 'pending'`.execute(tx)
    await sql`select pg_notify(${DELIVERIES_DUE}, ${ANY_DAY + webhookId})`.execute(tx)
    return Number(numAffectedRows)
  })
}

/** Ends what waits for the endpoint, in the given period or at all. Its events then wait for the other endpoints alone. */
export async function withdraw(
  db: Database,
  webhookId: string,
  period: number | undefined,
  now: number,
): Promise<void> {
  const which = period === undefined ? sql`true` : sql`d.next_attempt_at = 'infinity' and d.held_in = ${period}`
  await inBatches(db, async (tx) => {
    const { rows: refs } = await sql<EventRef>`
      select to_char(d.day, 'YYYY-MM-DD') as day, d.event_id from webhook_deliveries d
      where d.webhook_id = ${webhookId} and d.status = 'pending' and ${which} limit ${BATCH}`.execute(tx)
    if (refs.length === 0) return 0
    await lockEvents(tx, refs)
    await sql`
      update webhook_deliveries d set status = 'failed', ended = 'withdrawn'
      where ${of('d', refs)} and d.webhook_id = ${webhookId}
        and d.status = 'pending' and ${which}`.execute(tx)
    await acknowledgeDelivered(tx, refs, now)
    return refs.length
  })
}

async function inBatches(db: Database, batch: (tx: Tx) => Promise<number>) {
  while ((await db.transaction(batch)) > 0);
}
