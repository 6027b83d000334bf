import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { deleteOldTestResponses } from './responses.ts'
import { updateItemStatistics, updateItemStatisticsJob } from './statistics-job.ts'

const cleanUpResponses = defineJob<Record<string, never>>('delete-test-responses')

export const itemJobs = [updateItemStatisticsJob, cleanUpResponses]

export function handleItemJobs(worker: Worker, context: Context): void {
  worker.handle(updateItemStatisticsJob, (_, signal) => updateItemStatistics(context, signal))
  worker.schedule(updateItemStatisticsJob, '41 * * * *')
  worker.handle(cleanUpResponses, () => context.db.transaction((tx) => deleteOldTestResponses(tx, context.clock.now())))
  worker.schedule(cleanUpResponses, '23 3 * * *')
}
