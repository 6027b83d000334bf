import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { deletePastPeople, forgetPeople } from './daily-people-limit.ts'

export const campaignJobs = [forgetPeople]

export function handleCampaignJobs(worker: Worker, { db, clock }: Context): void {
  worker.handle(forgetPeople, () => db.transaction((tx) => deletePastPeople(tx, clock)))
  worker.schedule(forgetPeople, '7 1 * * *')
}
