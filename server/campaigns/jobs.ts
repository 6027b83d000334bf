import type { Context } from '../context.ts'
import type { Job, Worker } from '../platform/jobs/queue.ts'
import { deletePastDailyPeople, deletePastDailyPeopleJob } from './daily-people-limit.ts'
import { fetchCost, fetchCostJob } from './spending/message-cost.ts'

export const campaignJobs: Job<object>[] = [deletePastDailyPeopleJob, fetchCostJob as Job<object>]

export function handleCampaignJobs(worker: Worker, context: Pick<Context, 'db' | 'clock' | 'vault' | 'queue'>): void {
  const { db, clock } = context
  worker.handle(deletePastDailyPeopleJob, () => db.transaction((tx) => deletePastDailyPeople(tx, clock)))
  worker.handle(fetchCostJob, (payload) => fetchCost(context, payload))
  worker.schedule(deletePastDailyPeopleJob, '7 1 * * *')
}
