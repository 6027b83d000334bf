import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { deleteOldIdempotencyRecords, deleteOldIdempotencyRecordsJob } from './idempotency.ts'
import { deleteExpiredLimitCounters, deleteExpiredLimitCountersJob } from './rate-limits.ts'

export const accessJobs = [deleteOldIdempotencyRecordsJob, deleteExpiredLimitCountersJob]

export function handleAccessJobs(worker: Worker, { db, clock }: Pick<Context, 'db' | 'clock'>): void {
  worker.handle(deleteOldIdempotencyRecordsJob, () =>
    db.transaction((tx) => deleteOldIdempotencyRecords(tx, clock.now())),
  )
  worker.schedule(deleteOldIdempotencyRecordsJob, '17 * * * *')
  worker.handle(deleteExpiredLimitCountersJob, () =>
    db.transaction((tx) => deleteExpiredLimitCounters(tx, clock.now())),
  )
  worker.schedule(deleteExpiredLimitCountersJob, '47 * * * *')
}
