import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { deleteOldRecords, forgetIdempotencyKeys } from './idempotency.ts'
import { deleteOldCounters, forgetLimitCounters } from './rate-limits.ts'

export const accessJobs = [forgetIdempotencyKeys, forgetLimitCounters]

export function handleAccessJobs(worker: Worker, { db, clock }: Pick<Context, 'db' | 'clock'>): void {
  worker.handle(forgetIdempotencyKeys, () => db.transaction((tx) => deleteOldRecords(tx, clock.now())))
  worker.schedule(forgetIdempotencyKeys, '17 * * * *')
  worker.handle(forgetLimitCounters, () => db.transaction((tx) => deleteOldCounters(tx, clock.now())))
  worker.schedule(forgetLimitCounters, '47 * * * *')
}
