import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { dropOldPartitions, ensurePartitions } from './partitions.ts'

/** Job that drops events and deliveries older than the retention period. */
const dropOldEvents = defineJob<Record<string, never>>('drop-old-events')

export const eventJobs = [dropOldEvents]

export function handleEventJobs(worker: Worker, { db, clock, log }: Pick<Context, 'db' | 'clock' | 'log'>): void {
  worker.handle(dropOldEvents, async () => {
    await ensurePartitions(db, clock.now())
    const droppedPartitions = await dropOldPartitions(db, clock.now())
    if (droppedPartitions.length > 0)
      log.info({ dropped: droppedPartitions }, 'dropped partitions older than the retention period')
  })
  worker.schedule(dropOldEvents, '23 * * * *')
}
