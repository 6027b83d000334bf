import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { releaseHeldDeliveries, withdrawPending } from './held-deliveries.ts'
import { releaseOrWithdrawHeldDeliveries, withdrawDeliveries } from './webhooks.ts'

export const webhookJobs = [releaseOrWithdrawHeldDeliveries, withdrawDeliveries]

export function handleWebhookJobs(worker: Worker, { db, clock }: Pick<Context, 'db' | 'clock'>): void {
  worker.handle(releaseOrWithdrawHeldDeliveries, ({ webhook_id, period, recover }) =>
    recover
      ? releaseHeldDeliveries(db, webhook_id, period, clock.now())
      : withdrawPending(db, webhook_id, period, clock.now()),
  )
  worker.handle(withdrawDeliveries, ({ webhook_id }) => withdrawPending(db, webhook_id, undefined, clock.now()))
}
