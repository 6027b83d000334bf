import { sql } from 'kysely'
import { type Database, notifyAfterCommit, type Tx } from '../database/database.ts'
import type { Log } from '../log.ts'
import { startPoller } from './poller.ts'

/** Wakes workers for delayed jobs: pg-boss sends no notification when one becomes due. */
export interface DelayedJobWatcher {
  /** Checks the queues again within this many milliseconds, because a job was delayed or rescheduled. */
  check(withinMs?: number): void
  stop(): Promise<void>
}

export interface DelayedJobOptions {
  db: Database
  log: Log
  /** Called for a queue with a job that is due. */
  onDue: (queue: string) => void
  /** Called for a queue with an active job that timed out or whose heartbeat stopped. */
  onLost: (queue: string) => Promise<void>
}

export const DELAYED_JOBS_TOPIC = 'jobs_put_off'
const POLL_INTERVAL_MS = 5000
/** Maximum fraction of the time that is spent polling: the slower the polls, the less often they run. */
const MAX_POLL_LOAD = 0.02
/** Notifications within this time share one poll. */
const BATCH_WINDOW_MS = 50
/** Time within which pg-boss reschedules a lost job. */
const LOST_JOB_RECHECK_MS = 500

/** Notifies the workers of a delayed job. Must be called in the transaction that delays or reschedules the job. */
export function notifyDelayedJob(tx: Tx): void {
  notifyAfterCommit(tx, DELAYED_JOBS_TOPIC)
}

/** Polls all queues with one query, so that the workers do not have to poll their queues every second. */
export function watchDelayedJobs({ db, log, onDue, onLost }: DelayedJobOptions): DelayedJobWatcher {
  const poller = startPoller({
    poll: checkQueues,
    onError: (error) => log.warn({ err: error }, 'polling delayed jobs failed, retrying'),
    retryDelayMs: POLL_INTERVAL_MS,
  })
  db.onCommitted(DELAYED_JOBS_TOPIC, () => poller.pollWithin(BATCH_WINDOW_MS))
  poller.pollWithin(0)
  return {
    check: (withinMs = BATCH_WINDOW_MS) => poller.pollWithin(withinMs),
    stop: poller.stop,
  }

  async function checkQueues(): Promise<number> {
    const startedAt = performance.now()
    let delayMs = Number.POSITIVE_INFINITY
    for (const { queue, dueInMs, hasLostJob } of await readQueues(db)) {
      if (hasLostJob) {
        await onLost(queue)
        delayMs = Math.min(delayMs, LOST_JOB_RECHECK_MS)
      }
      if (dueInMs === null) continue
      if (dueInMs <= 0) onDue(queue)
      else delayMs = Math.min(delayMs, dueInMs)
    }
    return Math.min(delayMs, Math.max(POLL_INTERVAL_MS, (performance.now() - startedAt) / MAX_POLL_LOAD))
  }
}

interface QueueTimes {
  queue: string
  /** Milliseconds until the next job may start; null if no job is waiting. */
  dueInMs: number | null
  hasLostJob: boolean
}

async function readQueues(db: Database): Promise<QueueTimes[]> {
  const { rows } = await sql<QueueTimes>`
    select q.name as queue, next.due_in::float as "dueInMs", coalesce(q.name = any (lost.names), false) as "hasLostJob"
    from pgboss.queue q
    cross join lateral (
      select extract(epoch from min(j.start_after) - now()) * 1000 as due_in from pgboss.job j
      where j.name = q.name and j.state < 'active' and not j.blocked
    ) as next
    cross join (
      select array_agg(distinct j.name) as names from pgboss.job j
      where j.state = 'active' and (j.started_on + j.expire_seconds * interval '1 second' < now()
        or j.heartbeat_on + j.heartbeat_seconds * interval '1 second' < now())
    ) as lost
    where q.name not like '\\_\\_%'`.execute(db.queries)
  return rows
}
