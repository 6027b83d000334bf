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
  /** Undefined if this attempt did not change it. */
  health: EndpointHealth | undefined
  /** Called after the outcome is stored, with the time of the next attempt if there is one. */
  onRecorded(dueAt: number | undefined): void
}

export interface Recorder {
  add(outcome: AttemptOutcome): void
  /** Resolves when everything is stored. Gives up after the timeout. */
  flush(timeoutMs: number): Promise<void>
}

const MAX_BATCH = 500
const RETRY_DELAY_MS = 250
/** Per delivery. */
const MAX_STORED_ATTEMPTS = 100

/** Stores attempts in batches: each contains the attempts added while the previous one was written. */
export function openRecorder(deps: HealthDeps & Pick<Context, 'db' | 'log'>): Recorder {
  const { db, clock, log } = deps
  let waiting: AttemptOutcome[] = []
  let running: Promise<void> | undefined
  let gaveUp = false

  return {
    add(outcome) {
      waiting.push(outcome)
      start()
    },
    async flush(timeoutMs) {
      const flushed = new AbortController()
      const timeout = pause(timeoutMs, undefined, { signal: flushed.signal }).catch(() => {})
      while (running && !gaveUp) {
        await Promise.race([
          running,
          timeout.then(() => {
            gaveUp = true
          }),
        ])
      }
      flushed.abort()
    },
  }

  function start() {
    running ??= run().finally(() => {
      running = undefined
      if (waiting.length > 0 && !gaveUp) start()
    })
  }

  async function run() {
    await nextTurn() // so that attempts added in the same turn are in one batch
    while (waiting.length > 0 && !gaveUp) {
      const batch = waiting.slice(0, MAX_BATCH)
      try {
        const dueTimes = await store(batch)
        waiting = waiting.slice(batch.length)
        for (const outcome of batch) outcome.onRecorded(dueTimes.get(keyOf(outcome)))
      } catch (error) {
        // The outcomes are still in memory. After a crash, the events are delivered again.
        log.warn({ err: error }, 'recording webhook attempts failed, retrying')
        await pause(RETRY_DELAY_MS)
      }
    }
  }

  async function store(batch: AttemptOutcome[]) {
    const { dueTimes, failing } = await db.transaction(async (tx) => {
      const dueTimes = await storeAttempts(tx, batch)
      const delivered = batch.filter(({ status }) => status === 'delivered')
      await acknowledgeDelivered(tx, delivered, clock.now())
      const health = new Map(batch.flatMap(({ webhook_id, health }) => (health ? [[webhook_id, health] as const] : [])))
      return { dueTimes, failing: await saveHealth(tx, deps, health) }
    })
    for (const webhook_id of failing) {
      log.warn({ webhook_id }, 'all webhook deliveries failed for a day, endpoint marked as failing')
    }
    return dueTimes
  }
}

/** Returns the due times of the deliveries that are still pending. */
async function storeAttempts(tx: Tx, batch: AttemptOutcome[]): Promise<Map<string, number>> {
  await lockEvents(tx, batch)
  const ordered = [...batch].sort((a, b) => (a.event_id < b.event_id ? -1 : 1))
  const column = <T>(read: (outcome: AttemptOutcome) => T) => ordered.map(read)
  const { rows } = await sql<{ event_id: string; webhook_id: string; due: Date }>`
    with outcome as (
      select * from unnest(
        ${column(({ day }) => day)}::date[], ${column(({ event_id }) => event_id)}::text[],
        ${column(({ webhook_id }) => webhook_id)}::text[], ${column(({ round }) => round)}::int[],
        ${column(({ status }) => status)}::text[],
        ${column(({ next_attempt_at }) => new Date(next_attempt_at))}::timestamptz[],
        ${column(({ attempt }) => attempt.error)}::text[], ${column(({ attempt }) => JSON.stringify(attempt))}::text[]
      ) as o (day, event_id, webhook_id, round, status, next_attempt_at, error, attempt)
    ), updated as (
      update webhook_deliveries d set
        attempts = d.attempts + 1,
        log = case when d.attempts >= ${MAX_STORED_ATTEMPTS} then d.log - 0 else d.log end || o.attempt::jsonb,
        last_error = case when d.round = o.round or d.last_error is null then o.error else d.last_error end,
        failures = case when d.round = o.round and o.error is not null then d.failures + 1 else d.failures end,
        -- A success counts even if the delivery has ended meanwhile; a failure does not.
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
  return new Map(rows.map((row) => [keyOf(row), row.due.getTime()]))
}

function keyOf({ event_id, webhook_id }: { event_id: string; webhook_id: string }) {
  return `${event_id} ${webhook_id}`
}
