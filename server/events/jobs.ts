import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { release, settleHeld, withdraw, withdrawDeliveries } from '../webhooks/held-deliveries.ts'
import { dropOldDays, ensureDay } from './partitions.ts'

/** Lets go of events, and of what became of them, when they are older than they are kept. */
const dropOldEvents = defineJob<Record<string, never>>('drop-old-events')

export const eventJobs = [settleHeld, withdrawDeliveries, dropOldEvents]

export function handleEventJobs(worker: Worker, { db, clock, log }: Context): void {
  worker.handle(settleHeld, ({ webhook_id, period, recover }) =>
    recover ? release(db, webhook_id, period, clock.now()) : withdraw(db, webhook_id, period, clock.now()),
  )
  worker.handle(withdrawDeliveries, ({ webhook_id }) => withdraw(db, webhook_id, undefined, clock.now()))
  worker.handle(dropOldEvents, async () => {
    await ensureDay(db, clock.now())
    const dropped = await dropOldDays(db, clock.now())
    if (dropped.length > 0) log.info({ dropped }, 'events past their time are gone')
  })
  worker.schedule(dropOldEvents, '23 * * * *')
}
