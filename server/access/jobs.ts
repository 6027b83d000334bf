import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { deleteOldIdempotencyKeys, deleteOldRecords } from './idempotency.ts'
import { deleteOldCounters, forgetLimitCounters } from './rate-limits.ts'

export const accessJobs = [deleteOldIdempotencyKeys, forgetLimitCounters]

export function handleAccessJobs(worker: Worker, { db, clock }: Pick<Context, 'db' | 'clock'>): void {
  worker.handle(deleteOldIdempotencyKeys, () => db.transaction((tx) => deleteOldRecords(tx, clock.now())))
  worker.schedule(deleteOldIdempotencyKeys, '17 * * * *')
  worker.handle(forgetLimitCounters, () => db.transaction((tx) => deleteOldCounters(tx, clock.now())))
  worker.schedule(forgetLimitCounters, '47 * * * *')
}
