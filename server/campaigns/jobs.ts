import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { deletePastPeople, deletePastPeopleJob } from './daily-people-limit.ts'

export const campaignJobs = [deletePastPeopleJob]

export function handleCampaignJobs(worker: Worker, { db, clock }: Pick<Context, 'db' | 'clock'>): void {
  worker.handle(deletePastPeopleJob, () => db.transaction((tx) => deletePastPeople(tx, clock)))
  worker.schedule(deletePastPeopleJob, '7 1 * * *')
}
