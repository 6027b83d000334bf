import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { deleteOldAcknowledgements } from './consumers.ts'
import { dropOldPartitions, ensurePartitions, oldestKeptDay } from './partitions.ts'

/** Job that creates the partitions of the next days, and drops events and deliveries older than the retention period. */
const dropOldEvents = defineJob<Record<string, never>>('drop-old-events')

export const eventJobs = [dropOldEvents]

export function handleEventJobs(worker: Worker, { db, clock, log }: Pick<Context, 'db' | 'clock' | 'log'>): void {
  worker.handle(dropOldEvents, async () => {
    await ensurePartitions(db, clock)
    await db.transaction((tx) => deleteOldAcknowledgements(tx, oldestKeptDay(clock)))
    const { dropped, postponed } = await dropOldPartitions(db, clock)
    if (dropped.length > 0) log.info({ dropped }, 'dropped partitions older than the retention period')
    if (postponed.length > 0) log.info({ postponed }, 'old partitions are in use, dropping them within an hour')
  })
  worker.schedule(dropOldEvents, '23 * * * *')
}
