import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { Mode } from '../access/keys.ts'
import type { Clock } from '../platform/clock.ts'
import { coalesce } from '../platform/coalesce.ts'
import { limitConcurrency } from '../platform/concurrency-limit.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import { isDatabaseUnavailable } from '../platform/database/outage.ts'
import { listShards, lockShard, SHARD_COUNT } from '../platform/database/shards.ts'
import {
  type DueRow,
  type IsolatedWork,
  isNoDeadLetter,
  processIsolated,
  retryDeadLetters,
} from '../platform/jobs/dead-letters.ts'
import { startPoller } from '../platform/jobs/poller.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { EventWaiters } from './event-waiters.ts'
import { currentDay, ensurePartitions, isMissingPartitionError } from './partitions.ts'
import { EVENTS_RECORDED, eventsRecordedIn } from './record.ts'
import type { EventType } from './types.ts'

export interface SequencedEvent {
  day: string
  org_id: string
  mode: 'test' | 'live'
  sequence: number
  event_id: string
  type: EventType
}

/** A notification of PostgreSQL. */
export interface DatabaseNotification {
  channel: string
  payload: string
}

/** Called in the transaction that sequences the events. Returns the notifications to send after its commit. */
type OnSequenced = (tx: Tx, events: SequencedEvent[]) => Promise<DatabaseNotification[]>

export interface Ledger {
  /** Sequences all events that are committed by now. */
  sequence(): Promise<void>
  /** Sequences the organisation's events if necessary, so that a reader sees all events recorded before the call. */
  flush(scope: OrgScope): Promise<void>
  /** Resolves when there are new events of these types (default: all), after the timeout, or when the signal is aborted. */
  wait(scope: OrgScope, types: readonly EventType[] | undefined, timeoutMs: number, signal: AbortSignal): Promise<void>
  /** Ends all waits, because the server is about to stop. */
  release(): void
  readonly released: boolean
  close(): Promise<void>
}

export interface LedgerOptions {
  db: Database
  clock: Clock
  log: Log
  metrics: Metrics
  listener: Listener
  onSequenced: OnSequenced
}

/** PostgreSQL notification channel. The payload is organisation, mode and event types: `ORG_… live a.b,c.d`. */
const EVENTS_SEQUENCED = 'events_sequenced'
/** Name of the lock, see `lockShard`. */
const LOCK = 'event ledger'
const MAX_BATCH_EVENTS = 1000
/** Number of shards that a process sequences at the same time, each with a connection of its own. */
const MAX_CONCURRENT_BATCHES = 4
/** Interval of the poll for events of a process that ended, or lost its connection, before it could send a notification. */
const POLL_INTERVAL_MS = 5000
const RETRY_DELAY_MS = 1000
const IS_NO_DEAD_LETTER = isNoDeadLetter('events', sql`event_id`)

/**
 * Opens the ledger, which assigns sequence numbers to recorded events. For each shard of organisations, only one process at a time assigns
 * them, after the recording transaction has committed. A reader that has read the events of an organisation up to n has therefore read
 * everything below n, even if some transactions take long, and writers never wait for each other.
 */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { db, clock, log, metrics, listener, onSequenced } = options
  const deadLetterDeps = { db, clock, log, metrics }
  const waiters = new EventWaiters()
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)
  // A process sequences each shard independently, so that one that has to wait does not delay the others.
  const backgroundRuns = shards.map((shard) => coalesce(() => sequenceShard(shard, { wait: false })))
  const flushes = shards.map((shard) => coalesce(() => sequenceShard(shard, { wait: true })))
  const withinLimit = limitConcurrency(MAX_CONCURRENT_BATCHES)
  const poller = startPoller({ poll, onError: logFailure, retryDelayMs: RETRY_DELAY_MS })
  let closed = false

  // Events recorded by another process are usually sequenced there, unless it is a CLI command: check first.
  for (const shard of shards)
    db.onCommitted(
      eventsRecordedIn(shard),
      (isLocal) => void (isLocal ? backgroundRuns[shard]!() : sequenceIfRecorded(shard)).catch(retrySoon),
    )
  await listener.on(EVENTS_SEQUENCED, (payload) => {
    const [orgId, mode, types] = payload.split(' ')
    if (types !== undefined) waiters.wake({ orgId: orgId!, mode: mode as Mode }, types.split(','))
    else waiters.wakeAll() // after a reconnection: notifications may have been missed
  })
  await ensurePartitions(db, clock).catch((error) =>
    log.warn({ err: error }, 'creating partitions for events failed, retrying when they are needed'),
  )
  db.onCommitted(EVENTS_RECORDED, () => poller.pollWithin(0))
  poller.pollWithin(POLL_INTERVAL_MS)

  return {
    async sequence() {
      const recordedShards = await listShards(db.queries, 'event_outbox')
      await Promise.all(recordedShards.map((shard) => flushes[shard]!()))
    },
    async flush({ orgId, mode }) {
      const isOfScope = sql`org_id = ${orgId} and mode = ${mode} and ${IS_NO_DEAD_LETTER}`
      const shard = await findRecordedShard(db.queries, isOfScope)
      if (shard !== undefined) await flushes[shard]!()
    },
    wait: (...args) => waiters.wait(...args),
    release: () => waiters.release(),
    get released() {
      return waiters.released
    },
    async close() {
      closed = true
      waiters.release()
      await poller.stop()
      await Promise.allSettled([...backgroundRuns, ...flushes].map((run) => run())) // a run after `closed` does nothing
    },
  }

  /**
   * Sequences all events of a shard that are committed by now. If another process has the lock of the shard, waits for it with `wait`; otherwise
   * does nothing, because every process checks for further events after it has released the lock.
   */
  async function sequenceShard(shard: number, { wait }: { wait: boolean }): Promise<void> {
    let count: number | undefined = MAX_BATCH_EVENTS
    while (!closed && count === MAX_BATCH_EVENTS) count = await withinLimit(() => sequenceBatch(shard, { wait }))
    if (count === undefined)
      poller.pollWithin(RETRY_DELAY_MS) // in case the other process ends before it checks
    else if (!closed) void sequenceIfRecorded(shard).catch(retrySoon)
  }

  /** Sequences a batch of a shard. Returns the number of its events; undefined if another process has the lock. */
  async function sequenceBatch(shard: number, { wait }: { wait: boolean }): Promise<number | undefined> {
    const notifications: DatabaseNotification[] = []
    const moveBatch = (tx: Tx) => moveEvents(tx, notifications, isRecordedIn(shard), MAX_BATCH_EVENTS)
    let count: number | undefined
    try {
      count = await db.transaction(async (tx) =>
        (await lockShard(tx, LOCK, shard, { wait })) ? moveBatch(tx) : undefined,
      )
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      // A worker creates the partitions days ahead. They are missing only if no worker has run for days.
      if (isMissingPartitionError(error)) await ensurePartitions(db, clock)
      const work = isolatedWork(notifications, shard)
      count = await processIsolated(deadLetterDeps, work, MAX_BATCH_EVENTS, { retriesDeadLetters: false })
    }
    await notify(notifications)
    return count
  }

  /** Returns work on the events of a shard, or on single events of any shard. Every transaction waits for the lock of its shard. */
  function isolatedWork(notifications: DatabaseNotification[], shard?: number): IsolatedWork {
    return {
      queue: 'events',
      async process(tx, limit, onlyId) {
        const condition = onlyId === undefined ? isRecordedIn(shard!) : sql`event_id = ${onlyId}`
        const shardToLock = shard ?? (await findRecordedShard(tx, condition))
        if (shardToLock === undefined) return 0 // discarded meanwhile
        await lockShard(tx, LOCK, shardToLock, { wait: true })
        return moveEvents(tx, notifications, condition, limit)
      },
      listDue: (queries, limit) => listRecorded(queries, shard!, limit),
    }
  }

  /**
   * Moves events into the ledger; the caller has locked their shard. Their day is the current day, but never before the day of an earlier
   * event: readers skip the days before their position, so an event with an earlier day would be lost when a clock is set back.
   */
  async function moveEvents(
    tx: Tx,
    notifications: DatabaseNotification[],
    condition: RawBuilder<unknown>,
    limit: number,
  ): Promise<number> {
    const { rows } = await sql<SequencedEvent>`
      with recorded as (
        delete from event_outbox where ctid = any (array(
          select ctid from event_outbox where ${condition} order by event_id limit ${limit}))
        returning *
      ), ledger as materialized (
        select greatest((select last_day from event_ledger), ${currentDay(clock)}) as day
      ), new_day as (
        update event_ledger set last_day = ledger.day from ledger where last_day < ledger.day
      )
      insert into events (day, org_id, mode, sequence, event_id, type, data, person_id, other_person_id, personal, created_at)
      select (select day from ledger), org_id, mode, nextval('event_sequence'), event_id, type, data, person_id, other_person_id, personal, created_at
      from (select * from recorded order by event_id) as ordered
      returning to_char(day, 'YYYY-MM-DD') as day, org_id, mode, sequence, event_id, type`.execute(tx)
    if (rows.length === 0) return 0
    notifications.push(...(await onSequenced(tx, rows)), ...readerNotifications(rows))
    return rows.length
  }

  /** Sends notifications after the commit: PostgreSQL lets only one transaction with notifications commit at a time. */
  async function notify(notifications: DatabaseNotification[]) {
    if (notifications.length === 0) return
    await sql`select pg_notify(channel, payload) from unnest(${notifications.map(({ channel }) => channel)}::text[],
      ${notifications.map(({ payload }) => payload)}::text[]) as n (channel, payload)`
      .execute(db.queries)
      .catch((error) =>
        log.warn({ err: error }, 'notifying readers of new events failed, they find them with their next poll'),
      )
  }

  async function sequenceIfRecorded(shard: number) {
    if (!closed && (await findRecordedShard(db.queries, isRecordedIn(shard))) !== undefined)
      await backgroundRuns[shard]!()
  }

  async function poll(): Promise<number> {
    for (const shard of await listShards(db.queries, 'event_outbox')) void sequenceIfRecorded(shard).catch(retrySoon)
    const notifications: DatabaseNotification[] = []
    await retryDeadLetters(deadLetterDeps, isolatedWork(notifications))
    await notify(notifications)
    return POLL_INTERVAL_MS
  }

  function retrySoon(error: unknown) {
    logFailure(error)
    poller.pollWithin(RETRY_DELAY_MS)
  }

  function logFailure(error: unknown) {
    if (!closed) log.warn({ err: error }, 'sequencing events failed, retrying')
  }
}

function isRecordedIn(shard: number): RawBuilder<unknown> {
  return sql`shard = ${shard} and ${IS_NO_DEAD_LETTER}`
}

/** Returns the shard of a recorded event that matches the condition; undefined if there is none. */
async function findRecordedShard(queries: Queries, condition: RawBuilder<unknown>): Promise<number | undefined> {
  const { rows } = await sql<{ shard: number }>`select shard from event_outbox where ${condition} limit 1`.execute(
    queries,
  )
  return rows[0]?.shard
}

async function listRecorded(queries: Queries, shard: number, limit: number): Promise<DueRow[]> {
  const { rows } = await sql<DueRow>`
    select event_id as id, org_id as "orgId", mode from event_outbox where ${isRecordedIn(shard)}
    order by event_id limit ${limit}`.execute(queries)
  return rows
}

function readerNotifications(events: SequencedEvent[]): DatabaseNotification[] {
  const eventsByScope = Map.groupBy(events, ({ org_id, mode }) => `${org_id} ${mode}`)
  return [...eventsByScope].map(([scope, scopeEvents]) => ({
    channel: EVENTS_SEQUENCED,
    payload: `${scope} ${[...new Set(scopeEvents.map(({ type }) => type))].join(',')}`,
  }))
}
