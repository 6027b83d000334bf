import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Tx } from '../../platform/database/database.ts'
import {
  acknowledgeDelivered,
  type DeliveryAttempt,
  type DeliveryStatus,
  lockEvents,
  whereEvents,
} from '../deliveries.ts'
import { type EndpointHealth, type HealthDeps, saveHealth } from './health.ts'

/** The outcome of an attempt, and the delivery's next state. */
export interface AttemptOutcome {
  day: string
  event_id: string
  webhook_id: string
  /** Round of the delivery when it was read. A replay starts a new round, whose status this outcome does not change. */
  round: number
  status: DeliveryStatus
  next_attempt_at: number
  attempt: DeliveryAttempt
  /** The new health of the endpoint; undefined if this attempt did not change it. */
  health: EndpointHealth | undefined
  /** Called after the outcome is stored, with the time of the next attempt if there is one. */
  onRecorded(dueAt: number | undefined): void
}

export interface Recorder {
  add(outcome: AttemptOutcome): void
  /** Resolves when all outcomes are stored, or after the timeout. */
  flush(timeoutMs: number): Promise<void>
}

const MAX_BATCH_OUTCOMES = 500
const RETRY_DELAY_MS = 250
/** Maximum number of attempts stored with a delivery; the oldest are dropped. */
const MAX_STORED_ATTEMPTS = 100

/** Stores attempts in batches: each contains the attempts added while the previous one was written. */
export function openRecorder(deps: HealthDeps & Pick<Context, 'db' | 'log'>): Recorder {
  const { db, clock, log } = deps
  let waitingOutcomes: AttemptOutcome[] = []
  let currentRun: Promise<void> | undefined
  let gaveUp = false

  return {
    add(outcome) {
      waitingOutcomes.push(outcome)
      startRecording()
    },
    async flush(timeoutMs) {
      const flushController = new AbortController()
      const timeout = pause(timeoutMs, undefined, { signal: flushController.signal }).catch(() => {})
      while (currentRun && !gaveUp) {
        await Promise.race([
          currentRun,
          timeout.then(() => {
            gaveUp = true
          }),
        ])
      }
      flushController.abort()
    },
  }

  function startRecording() {
    currentRun ??= recordWaiting().finally(() => {
      currentRun = undefined
      if (waitingOutcomes.length > 0 && !gaveUp) startRecording()
    })
  }

  async function recordWaiting() {
    await nextTurn() // so that attempts added in the same turn are in one batch
    while (waitingOutcomes.length > 0 && !gaveUp) {
      const batch = waitingOutcomes.slice(0, MAX_BATCH_OUTCOMES)
      try {
        const dueTimes = await storeBatch(batch)
        waitingOutcomes = waitingOutcomes.slice(batch.length)
        for (const outcome of batch) outcome.onRecorded(dueTimes.get(deliveryKey(outcome)))
      } catch (error) {
        // The outcomes are still in memory. After a crash, the events are delivered again.
        log.warn({ err: error }, 'recording webhook attempts failed, retrying')
        await pause(RETRY_DELAY_MS)
      }
    }
  }

  async function storeBatch(batch: AttemptOutcome[]) {
    const { dueTimes, failingIds } = await db.transaction(async (tx) => {
      const dueTimes = await storeAttempts(tx, batch)
      const healthByWebhook = new Map(
        batch.flatMap(({ webhook_id, health }) => (health ? [[webhook_id, health] as const] : [])),
      )
      const failingIds = await saveHealth(tx, deps, healthByWebhook)
      // After the health: a failure can show that an endpoint is dead, and its other deliveries no longer count.
      await acknowledgeDelivered(tx, batch, clock.now())
      return { dueTimes, failingIds }
    })
    for (const webhook_id of failingIds) {
      log.warn({ webhook_id }, 'all webhook deliveries failed for a day, endpoint marked as failing')
    }
    return dueTimes
  }
}

/** Stores the attempts and returns the due times of the deliveries that are still pending. */
async function storeAttempts(tx: Tx, batch: AttemptOutcome[]): Promise<Map<string, number>> {
  await lockEvents(tx, batch)
  const orderedOutcomes = [...batch].sort((a, b) => (a.event_id < b.event_id ? -1 : 1))
  const columnOf = <T>(read: (outcome: AttemptOutcome) => T) => orderedOutcomes.map(read)
  const { rows } = await sql<{ event_id: string; webhook_id: string; due: Date }>`
    with outcome as (
      select * from unnest(
        ${columnOf(({ day }) => day)}::date[], ${columnOf(({ event_id }) => event_id)}::text[],
        ${columnOf(({ webhook_id }) => webhook_id)}::text[], ${columnOf(({ round }) => round)}::int[],
        ${columnOf(({ status }) => status)}::text[],
        ${columnOf(({ next_attempt_at }) => new Date(next_attempt_at))}::timestamptz[],
        ${columnOf(({ attempt }) => attempt.error)}::text[], ${columnOf(({ attempt }) => JSON.stringify(attempt))}::text[]
      ) as o (day, event_id, webhook_id, round, status, next_attempt_at, error, attempt)
    ), updated as (
      update webhook_deliveries d set
        attempts = d.attempts + 1,
        log = case when d.attempts >= ${MAX_STORED_ATTEMPTS} then d.log - 0 else d.log end || o.attempt::jsonb,
        last_error = case when d.round = o.round or d.last_error is null then o.error else d.last_error end,
        failures = case when d.round = o.round and o.error is not null then d.failures + 1 else d.failures end,
        -- A success counts even if the delivery has ended in the meantime; a failure does not.
        status = case when d.round = o.round and (d.status = 'pending' or o.status = 'delivered') then o.status else d.status end,
        ended = case
          when d.round = o.round and o.status = 'delivered' then null
          when d.round = o.round and d.status = 'pending' and o.status = 'failed' then 'expired'
          else d.ended
        end,
        next_attempt_at = case when d.round = o.round and d.status = 'pending' then o.next_attempt_at else d.next_attempt_at end
      from outcome o
      where ${whereEvents('d', batch)}
        and d.day = o.day and d.event_id = o.event_id and d.webhook_id = o.webhook_id
      returning d.event_id, d.webhook_id, d.status, d.next_attempt_at
    )
    select event_id, webhook_id, next_attempt_at as due from updated
    where status = 'pending' and next_attempt_at < 'infinity'`.execute(tx)
  return new Map(rows.map((row) => [deliveryKey(row), row.due.getTime()]))
}

function deliveryKey({ event_id, webhook_id }: { event_id: string; webhook_id: string }) {
  return `${event_id} ${webhook_id}`
}
