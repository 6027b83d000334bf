import { accessJobs, handleAccessJobs } from './access/jobs.ts'
import type { Context } from './context.ts'
import { handleMailJobs, mailJobs } from './mail/jobs.ts'
import type { Job, Worker } from './platform/queue.ts'

/** Every kind of job. */
export const jobs: Job<object>[] = [...accessJobs, ...mailJobs]

/** What a worker does: every handler and schedule. */
export function registerWork(worker: Worker, context: Context): void {
  handleAccessJobs(worker, context)
  handleMailJobs(worker, context)
}
