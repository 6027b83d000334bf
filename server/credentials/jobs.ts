import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { emailHolderLinks, sendHolderLinks } from './link-requests/link-requests.ts'
import { deleteExpiredOffers } from './wallet/offers.ts'

const cleanUpWalletOffers = defineJob<Record<string, never>>('tidy-wallet-offers')

export const credentialJobs = [emailHolderLinks, cleanUpWalletOffers]

export function handleCredentialJobs(worker: Worker, context: Context): void {
  worker.handle(emailHolderLinks, ({ request_id: requestId }) => sendHolderLinks(context, requestId))
  worker.handle(cleanUpWalletOffers, () => deleteExpiredOffers(context))
  worker.schedule(cleanUpWalletOffers, '37 * * * *')
}
