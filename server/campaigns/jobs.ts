import type { Context } from '../context.ts'
import type { Worker } from '../platform/queue.ts'
import { deletePastPeople, forgetPeople } from './people.ts'

export const campaignJobs = [forgetPeople]

export function handleCampaignJobs(worker: Worker, { db, clock }: Context): void {
  worker.handle(forgetPeople, () => db.transaction((tx) => deletePastPeople(tx, clock)))
  worker.schedule(forgetPeople, '7 1 * * *')
}
