import { dayOf, RETENTION_DAYS } from '../../events/partitions.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { parseRetryAfter } from '../../platform/http/retry-after.ts'
import type { Log } from '../../platform/log.ts'
import type { Webhook } from '../webhooks.ts'
import { DeliveryQueue, type ReadScope } from './delivery-queue.ts'
import { type DueDelivery, findDueDeliveries } from './due.ts'
import { type EndpointHealth, nextHealth } from './health.ts'
import type { AttemptOutcome, Recorder } from './recorder.ts'
import { nextAttempt } from './schedule.ts'
import type { SendResult } from './sender.ts'
import { type DeliveryTarget, loadTarget, sendDelivery, type TargetDeps } from './target.ts'

/** Delivers to one endpoint, while this process holds its lock. */
export interface Endpoint {
  /** Reads deliveries that may be due. */
  wake(scope: ReadScope): void
  /** Reloads the webhook after a change to its URL, secrets or status. */
  reload(): void
  /** Sends nothing more until `resume`. Attempts in flight continue. */
  suspend(): void
  resume(): void
  /** Aborts the attempts in flight and does not record them. */
  abort(): void
  close(): void
  readonly inFlight: number
  /** The `performance.now()` at which the endpoint became idle; undefined while it is busy. */
  readonly idleSince: number | undefined
}

export interface EndpointDeps extends TargetDeps {
  log: Log
  recorder: Recorder
  onAttempt(result: SendResult): void
  /** Schedules a call of `wake` at `dueAt`, when a delivery of the endpoint is due. */
  scheduleWake(webhookId: string, dueAt: number): void
}

const READ_RETRY_DELAY_MS = 250
/** While a backlog is delivered, all days are searched this often, and only the days of the last read in between. */
const ALL_DAYS_INTERVAL_MS = 1000

export function openEndpoint(webhookId: string, deps: EndpointDeps): Endpoint {
  const { db, clock, log, recorder } = deps
  const queue = new DeliveryQueue<DueDelivery>()
  let target: DeliveryTarget | undefined
  let isTargetOutdated = true
  let health: EndpointHealth = { status: 'enabled', failingSince: null }
  /** The days of the last read that reached its limit, from all days. */
  let backlogDays: string[] | undefined
  let allDaysReadAt = 0
  let aborted = false
  let idleSince: number | undefined

  processQueue()
  return {
    wake(scope) {
      queue.requestRead(scope)
      processQueue()
    },
    reload() {
      isTargetOutdated = true
      queue.restart()
      processQueue()
    },
    suspend: () => queue.suspend(),
    resume() {
      isTargetOutdated = true
      queue.resume()
      processQueue()
    },
    abort() {
      aborted = true
      queue.suspend()
      target?.sender.abort()
    },
    close() {
      queue.suspend()
      target?.sender.close()
    },
    get inFlight() {
      return queue.inFlight
    },
    get idleSince() {
      return idleSince
    },
  }

  /** Starts the attempts and the read that the queue allows now. Called after each change of the queue. */
  function processQueue() {
    const now = performance.now()
    if (target) {
      for (let delivery = queue.next(now); delivery; delivery = queue.next(now)) {
        attempt(target, delivery).catch((error) => {
          log.warn({ err: error, webhook_id: webhookId }, 'webhook delivery failed, the delivery stays pending')
        })
      }
    }
    const scope = queue.startRead()
    if (scope) void readDueDeliveries(scope)
    idleSince = queue.isIdle ? (idleSince ?? now) : undefined
  }

  async function readDueDeliveries(scope: ReadScope) {
    try {
      if (isTargetOutdated) await reloadTarget()
      const limit = queue.readLimit
      const days = scope === 'recent' ? recentDays(clock.now()) : daysOfBacklog()
      const dueDeliveries = target
        ? await findDueDeliveries(db.queries, webhookId, clock.now(), queue.unfinishedIds, limit, days)
        : []
      queue.finishRead(dueDeliveries, limit, performance.now())
      if (scope === 'any') updateBacklog(dueDeliveries, limit, days)
    } catch (error) {
      queue.failRead()
      log.warn({ err: error, webhook_id: webhookId }, 'reading due webhook deliveries failed, retrying')
      setTimeout(() => {
        queue.requestRead(scope)
        processQueue()
      }, READ_RETRY_DELAY_MS).unref()
    }
    processQueue()
  }

  /** Returns the days to search for a backlog; undefined for all days, which takes longer than sending what is found. */
  function daysOfBacklog(): string[] | undefined {
    const now = performance.now()
    if (backlogDays && now - allDaysReadAt < ALL_DAYS_INTERVAL_MS) return backlogDays
    allDaysReadAt = now
    return undefined
  }

  function updateBacklog(dueDeliveries: DueDelivery[], limit: number, searchedDays: string[] | undefined) {
    if (dueDeliveries.length === limit) backlogDays = [...new Set(dueDeliveries.map(({ day }) => day))]
    else {
      backlogDays = undefined
      if (searchedDays) queue.requestRead('any')
    }
  }

  async function reloadTarget() {
    isTargetOutdated = false // before the query: a change during it makes the target outdated again
    try {
      const loadedTarget = await loadTarget(webhookId, target, deps)
      if (loadedTarget && loadedTarget.sender !== target?.sender) queue.resetWindow()
      if (loadedTarget) health = healthOf(loadedTarget.webhook)
      target = loadedTarget
    } catch (error) {
      isTargetOutdated = true
      throw error
    }
  }

  async function attempt(to: DeliveryTarget, delivery: DueDelivery) {
    const attemptedAt = clock.now()
    const result = await sendDelivery(to, delivery, attemptedAt)
    queue.finishAttempt(result.error === null)
    if (aborted) return
    deps.onAttempt(result)
    const previousHealth = health
    health = nextHealth(previousHealth, result.error === null, attemptedAt)
    recorder.add({
      ...outcomeOf(delivery, result, attemptedAt, clock.now()),
      webhook_id: webhookId,
      health: health === previousHealth ? undefined : health,
      onRecorded(dueAt) {
        queue.finishDelivery(delivery.event_id)
        if (dueAt !== undefined) deps.scheduleWake(webhookId, dueAt)
        processQueue()
      },
    })
    processQueue()
  }
}

function healthOf({ status, failing_since }: Webhook): EndpointHealth {
  return { status: status === 'failing' ? 'failing' : 'enabled', failingSince: failing_since?.getTime() ?? null }
}

/** Returns the partitions of events sequenced just now, with an hour of tolerance for clock differences. */
function recentDays(now: number): string[] {
  return [...new Set([dayOf(now), dayOf(now - HOUR), dayOf(now + HOUR)])]
}

function outcomeOf(
  { day, event_id, round, failures, created_at }: DueDelivery,
  { statusCode, error, responseText, retryAfter, latencyMs, signature }: SendResult & { signature: string },
  attemptedAt: number,
  now: number,
): Omit<AttemptOutcome, 'webhook_id' | 'health' | 'onRecorded'> {
  const isDelivered = error === null
  const requestedDelayMs = statusCode === 429 || statusCode === 503 ? parseRetryAfter(retryAfter, now) : undefined
  const nextAttemptAt = isDelivered ? attemptedAt : nextAttempt(now, failures + 1, requestedDelayMs)
  const isExpired = nextAttemptAt >= created_at.getTime() + RETENTION_DAYS * DAY
  return {
    day,
    event_id,
    round,
    status: isDelivered ? 'delivered' : isExpired ? 'failed' : 'pending',
    next_attempt_at: nextAttemptAt,
    attempt: {
      attempted_at: new Date(attemptedAt).toISOString(),
      status_code: statusCode,
      latency_ms: latencyMs,
      error,
      answer: responseText,
      signature,
    },
  }
}
