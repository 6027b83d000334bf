import type { Context } from '../context.ts'
import { startPoller } from '../platform/jobs/poller.ts'
import { aggregateChanges, COUNTS_ADDED } from './rollups.ts'

const BATCH_SIZE = 10_000
/** Batches several changes into one write. */
const AGGREGATION_DELAY_MS = 500
/** Interval of the fallback poll, in case a notification is lost. */
const POLL_INTERVAL_MS = 30_000

/** Starts aggregating changes into the totals. Without it the figures are still correct, but slower to read. */
export function startAggregationWorker({ db, log }: Pick<Context, 'db' | 'log'>): { stop(): Promise<void> } {
  const poller = startPoller({
    async poll(isStopped) {
      while (!isStopped() && (await db.transaction((tx) => aggregateChanges(tx, BATCH_SIZE))) === BATCH_SIZE);
      return POLL_INTERVAL_MS
    },
    onError: (error) => log.warn({ err: error }, 'aggregating analytics failed, retrying'),
    retryDelayMs: POLL_INTERVAL_MS,
  })
  poller.pollWithin(AGGREGATION_DELAY_MS)
  db.onCommitted(COUNTS_ADDED, () => poller.pollWithin(AGGREGATION_DELAY_MS))
  return poller
}
