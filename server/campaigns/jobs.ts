import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { deletePastDailyPeople, deletePastDailyPeopleJob } from './daily-people-limit.ts'

export const campaignJobs = [deletePastDailyPeopleJob]

export function handleCampaignJobs(worker: Worker, { db, clock }: Pick<Context, 'db' | 'clock'>): void {
  worker.handle(deletePastDailyPeopleJob, () => db.transaction((tx) => deletePastDailyPeople(tx, clock)))
  worker.schedule(deletePastDailyPeopleJob, '7 1 * * *')
}
