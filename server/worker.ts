import { accessJobs, handleAccessJobs } from './access/jobs.ts'
import { startFolding } from './analytics/fold-worker.ts'
import { startContacting } from './campaigns/contact/engine.ts'
import { campaignJobs, handleCampaignJobs } from './campaigns/jobs.ts'
import { openChannels } from './channels/adapters.ts'
import { consoleJobs, handleConsoleJobs } from './console/jobs.ts'
import type { Context } from './context.ts'
import { eventJobs, handleEventJobs } from './events/jobs.ts'
import { handleMailJobs, mailJobs } from './mail/jobs.ts'
import { startPreparing } from './mandates/preparation.ts'
import type { Job, Worker } from './platform/jobs/queue.ts'
import { startDelivery } from './webhooks/delivery/engine.ts'
import './results/events.ts'
import { handleVerificationJobs, verificationJobs } from './verification/jobs.ts'

/** Every kind of job. */
export const jobs: Job<object>[] = [
  ...accessJobs,
  ...campaignJobs,
  ...consoleJobs,
  ...eventJobs,
  ...mailJobs,
  ...verificationJobs,
]

/** What a worker does: every handler and schedule. */
export function registerWork(worker: Worker, context: Context): void {
  handleAccessJobs(worker, context)
  handleEventJobs(worker, context)
  worker.run(() => startDelivery(context))
  handleConsoleJobs(worker, context)
  handleMailJobs(worker, context)
  handleVerificationJobs(worker, context)
  worker.run(() => startPreparing(context))
  handleCampaignJobs(worker, context)
  worker.run(() => openChannels(context))
  worker.run(() => startContacting(context))
  worker.run(() => startFolding(context))
}
