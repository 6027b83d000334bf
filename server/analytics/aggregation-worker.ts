import type { Context } from '../context.ts'
import { startPoller } from '../platform/jobs/poller.ts'
import { aggregateMessages } from './message-figures.ts'
import { aggregateChanges, COUNTS_ADDED_TOPIC } from './rollups.ts'

const MAX_CHANGES_PER_BATCH = 10_000
/** Delay after a change, so that several changes are aggregated in one write. */
const AGGREGATION_DELAY_MS = 500
/** Interval of the fallback poll, in case a notification is lost. */
const POLL_INTERVAL_MS = 30_000

/** Starts aggregating changes into the totals. Without it the figures are still correct, but slower to read. */
export function startAggregationWorker({ db, log }: Pick<Context, 'db' | 'log'>): { stop(): Promise<void> } {
  const poller = startPoller({
    async poll(isStopped) {
      for (const aggregate of [aggregateChanges, aggregateMessages])
        while (!isStopped() && (await aggregate(db, MAX_CHANGES_PER_BATCH)) >= MAX_CHANGES_PER_BATCH);
      return POLL_INTERVAL_MS
    },
    onError: (error) => log.warn({ err: error }, 'aggregating analytics failed, retrying'),
    retryDelayMs: POLL_INTERVAL_MS,
  })
  poller.pollWithin(AGGREGATION_DELAY_MS)
  db.onCommitted(COUNTS_ADDED_TOPIC, () => poller.pollWithin(AGGREGATION_DELAY_MS))
  return poller
}
