import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { enforceRetention } from './retention/enforce.ts'

const enforceRetentionJob = defineJob<Record<string, never>>('enforce-retention', {
  timeoutSeconds: 3000,
  concurrency: 1,
})

export const privacyJobs = [enforceRetentionJob]

export function handlePrivacyJobs(worker: Worker, context: Context): void {
  worker.handle(enforceRetentionJob, async () => void (await enforceRetention(context)))
  worker.schedule(enforceRetentionJob, '23 * * * *')
}
