import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Tx } from '../../platform/database/database.ts'
import type { Log } from '../../platform/log.ts'
import { type Attempt, acknowledgeDelivered, type DeliveryStatus, lockEvents, of } from '../deliveries.ts'
import { type Health, keepHealth } from './health.ts'

/** What an attempt came to, and what follows. */
export interface Outcome {
  day: string
  event_id: string
  webhook_id: string
  /** Of the delivery when it was taken in hand: one asked for again since is not settled by this. */
  round: number
  status: DeliveryStatus
  next_attempt_at: number
  attempt: Attempt
  /** Where this attempt changed it. */
  health: Health | undefined
  /** After it is written down: when it is due again, if it is. */
  recorded(due: number | undefined): void
}

export interface Recorder {
  add(outcome: Outcome): void
  /** Resolves when everything is written down, or when the time is over. */
  settle(milliseconds: number): Promise<void>
}

const MOST = 500
const RETRY = 250
/** Attempts that a delivery's log holds. */
const LOGGED = 100

/** Writes attempts down, as many at a time as have come in while the last batch was being written. */
export function openRecorder({ db, clock, log }: { db: Database; clock: Clock; log: Log }): Recorder {
  let waiting: Outcome[] = []
  let running: Promise<void> | undefined
  let givenUp = false

  return {
    add(outcome) {
      waiting.push(outcome)
      start()
    },
    async settle(milliseconds) {
      const timeout = new AbortController()
      const late = pause(milliseconds, undefined, { signal: timeout.signal }).catch(() => {})
      while (running && !givenUp) {
        await Promise.race([
          running,
          late.then(() => {
            givenUp = true
          }),
        ])
      }
      timeout.abort()
    },
  }

  function start() {
    running ??= run().finally(() => {
      running = undefined
      if (waiting.length > 0 && !givenUp) start()
    })
  }

  async function run() {
    await nextTurn() // those that come in the same turn go together
    while (waiting.length > 0 && !givenUp) {
      const batch = waiting.slice(0, MOST)
      try {
        const due = await write(batch)
        waiting = waiting.slice(batch.length)
        for (const outcome of batch) outcome.recorded(due.get(keyOf(outcome)))
      } catch (error) {
        // Nothing is lost meanwhile: what was sent is in memory, and what is not written down would be sent again.
        log.warn({ err: error }, 'attempts could not be written down yet')
        await pause(RETRY)
      }
    }
  }

  async function write(batch: Outcome[]) {
    const { due, failing } = await db.transaction(async (tx) => {
      const due = await writeAttempts(tx, batch)
      const taken = batch.filter(({ status }) => status === 'delivered')
      await acknowledgeDelivered(tx, taken, clock.now())
      const health = new Map(batch.flatMap(({ webhook_id, health }) => (health ? [[webhook_id, health] as const] : [])))
      return { due, failing: await keepHealth(tx, health, clock.now()) }
    })
    for (const webhook_id of failing) log.warn({ webhook_id }, 'an endpoint had nothing but failures for a day')
    return due
  }
}

/** Answers with when deliveries that still wait are due. */
async function writeAttempts(tx: Tx, batch: Outcome[]): Promise<Map<string, number>> {
  await lockEvents(tx, batch) // in the order of everybody who settles deliveries: events first
  const ordered = [...batch].sort((a, b) => (a.event_id < b.event_id ? -1 : 1))
  const column = <T>(read: (outcome: Outcome) => T) => ordered.map(read)
  const { rows } = await sql<{ event_id: string; webhook_id: string; due: Date }>`
    with outcome as (
      select * from unnest(
        ${column(({ day }) => day)}::date[], ${column(({ event_id }) => event_id)}::text[],
        ${column(({ webhook_id }) => webhook_id)}::text[], ${column(({ round }) => round)}::int[],
        ${column(({ status }) => status)}::text[],
        ${column(({ next_attempt_at }) => new Date(next_attempt_at))}::timestamptz[],
        ${column(({ attempt }) => attempt.error)}::text[], ${column(({ attempt }) => JSON.stringify(attempt))}::text[]
      ) as o (day, event_id, webhook_id, round, status, next_attempt_at, error, attempt)
    ), written as (
      update webhook_deliveries d set
        attempts = d.attempts + 1,
        log = case when d.attempts >= ${LOGGED} then d.log - 0 else d.log end || o.attempt::jsonb,
        last_error = case when d.round = o.round or d.last_error is null then o.error else d.last_error end,
        failures = case when d.round = o.round and o.error is not null then d.failures + 1 else d.failures end,
        -- A late success is one; a late failure changes nothing about what has ended meanwhile.
        status = case when d.round = o.round and (d.status = 'pending' or o.status = 'delivered') then o.status else d.status end,
        ended = case
          when d.round = o.round and o.status = 'delivered' then null
          when d.round = o.round and d.status = 'pending' and o.status = 'failed' then 'expired'
          else d.ended
        end,
        next_attempt_at = case when d.round = o.round and d.status = 'pending' then o.next_attempt_at else d.next_attempt_at end
      from outcome o
      where ${of('d', batch)}
        and d.day = o.day and d.event_id = o.event_id and d.webhook_id = o.webhook_id
      returning d.event_id, d.webhook_id, d.status, d.next_attempt_at
    )
    select event_id, webhook_id, next_attempt_at as due from written
    where status = 'pending' and next_attempt_at < 'infinity'`.execute(tx)
  return new Map(rows.map((row) => [keyOf(row), row.due.getTime()]))
}

function keyOf({ event_id, webhook_id }: { event_id: string; webhook_id: string }) {
  return `${event_id} ${webhook_id}`
}
