import { accessJobs, handleAccessJobs } from './access/jobs.ts'
import { startAggregationWorker } from './analytics/aggregation-worker.ts'
import { startReporter } from './ats/reports/reporter.ts'
import { startTestLists } from './ats/test-lists.ts'
import { watchBacklogs } from './backlogs.ts'
import { backupJobs, handleBackupJobs } from './backup/jobs.ts'
import { campaignTimedWork, startContactEngine } from './campaigns/contact/engine.ts'
import { campaignJobs, handleCampaignJobs } from './campaigns/jobs.ts'
import { consoleJobs, handleConsoleJobs } from './console/jobs.ts'
import type { Context } from './context.ts'
import { startCredentialEngine } from './credentials/engine.ts'
import { credentialJobs, handleCredentialJobs } from './credentials/jobs.ts'
import { eventJobs, handleEventJobs } from './events/jobs.ts'
import { handleItemJobs, itemJobs } from './items/jobs.ts'
import { emailJobs, handleEmailJobs } from './mail/jobs.ts'
import { startPreparation } from './mandates/preparation.ts'
import type { Job, Worker } from './platform/jobs/queue.ts'
import { handlePrivacyJobs, privacyJobs } from './privacy/jobs.ts'
import { retentionTimedWork } from './privacy/retention/enforce.ts'
import { startReviewMessages } from './review-messages/engine.ts'
import { startTestClocks, type TimedWork } from './test-clocks/runner.ts'
import { handleVerificationJobs, verificationJobs, verificationTimedWork } from './verification/jobs.ts'
import { startTestReviewers } from './verification/reviews/test-reviewers.ts'
import { startTestStudents } from './verification/test-scripts/test-students.ts'
import { startDelivery } from './webhooks/delivery/engine.ts'
import { handleWebhookJobs, webhookJobs } from './webhooks/jobs.ts'

/** Every kind of job. */
export const jobs: Job<object>[] = [
  ...accessJobs,
  ...backupJobs,
  ...campaignJobs,
  ...consoleJobs,
  ...credentialJobs,
  ...eventJobs,
  ...itemJobs,
  ...emailJobs,
  ...privacyJobs,
  ...verificationJobs,
  ...webhookJobs,
]

/** The work that is done at the due times of test clocks. */
export const timedWorks: TimedWork[] = [campaignTimedWork, verificationTimedWork, retentionTimedWork]

/** Registers every job handler, schedule and engine. */
export function registerWork(worker: Worker, context: Context): void {
  handleAccessJobs(worker, context)
  handleBackupJobs(worker, context)
  handleEventJobs(worker, context)
  handleItemJobs(worker, context)
  handleWebhookJobs(worker, context)
  worker.run(() => startDelivery(context))
  handleConsoleJobs(worker, context)
  handleEmailJobs(worker, context)
  handleVerificationJobs(worker, context)
  handlePrivacyJobs(worker, context)
  worker.run(() => startTestReviewers(context))
  worker.run(() => startReviewMessages(context))
  handleCredentialJobs(worker, context)
  worker.run(() => startTestStudents(context))
  worker.run(() => startCredentialEngine(context))
  worker.run(() => startPreparation(context))
  handleCampaignJobs(worker, context)
  worker.run(() => startContactEngine(context))
  worker.run(() => startTestClocks(context, timedWorks))
  worker.run(() => startAggregationWorker(context))
  worker.run(() => startReporter(context))
  worker.run(() => startTestLists(context))
  worker.run(() => watchBacklogs(context))
}
