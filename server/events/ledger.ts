import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { Mode } from '../access/keys.ts'
import type { Clock } from '../platform/clock.ts'
import { coalesce } from '../platform/coalesce.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import { isDatabaseUnavailable } from '../platform/database/outage.ts'
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
import { EVENTS_RECORDED } from './record.ts'
import type { EventType } from './types.ts'

export interface SequencedEvent {
  day: string
  org_id: string
  mode: 'test' | 'live'
  sequence: number
  event_id: string
  type: EventType
}

/** Called in the transaction that sequences the events. */
type OnSequenced = (tx: Tx, events: SequencedEvent[]) => Promise<void>

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
const MAX_BATCH_EVENTS = 1000
/** Interval of the poll for events of a process that ended, or lost its connection, before it could send a notification. */
const POLL_INTERVAL_MS = 5000
const RETRY_DELAY_MS = 1000
/** How long sequencing waits for a lock, in milliseconds. Readers of events get 503 then, and sequencing is retried. */
const LOCK_TIMEOUT_MS = '5000'
const IS_NO_DEAD_LETTER = isNoDeadLetter('events', sql`event_id`)

/**
 * Opens the ledger, which assigns sequence numbers to recorded events. Only one process at a time assigns them, after the recording
 * transaction has committed. A reader that has read up to n has therefore read everything below n, even if some transactions
 * take long, and writers never wait for each other.
 */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { db, clock, log, metrics, listener, onSequenced } = options
  const deadLetterDeps = { db, clock, log, metrics }
  const sequencing: IsolatedWork = { queue: 'events', process: sequenceInTransaction, listDue: listRecorded }
  const waiters = new EventWaiters()
  const sequence = coalesce(sequenceAll)
  let closed = false

  // Events recorded by another process are usually sequenced there, unless it is a CLI command: check first.
  db.onCommitted(EVENTS_RECORDED, (isLocal) => void (isLocal ? sequence() : sequenceIfRecorded()).catch(retrySoon))
  await listener.on(EVENTS_SEQUENCED, (payload) => {
    const [orgId, mode, types] = payload.split(' ')
    if (types !== undefined) waiters.wake({ orgId: orgId!, mode: mode as Mode }, types.split(','))
    else waiters.wakeAll() // after a reconnection: notifications may have been missed
  })
  await ensurePartitions(db, clock).catch((error) =>
    log.warn({ err: error }, 'creating partitions for events failed, retrying when they are needed'),
  )
  const poller = startPoller({ poll, onError: logFailure, retryDelayMs: RETRY_DELAY_MS })
  poller.pollWithin(POLL_INTERVAL_MS)

  return {
    sequence,
    async flush({ orgId, mode }) {
      if (await hasUnsequencedEvents(db.queries, sql`org_id = ${orgId} and mode = ${mode}`)) await sequence()
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
      await sequence().catch(() => {}) // waits for the current run; a run after `closed` does nothing
    },
  }

  async function sequenceAll() {
    while (!closed && (await sequenceBatch()) === MAX_BATCH_EVENTS);
  }

  async function sequenceBatch(): Promise<number> {
    try {
      return await db.transaction((tx) => sequenceInTransaction(tx, MAX_BATCH_EVENTS))
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      // A worker creates the partitions days ahead. They are missing only if no worker has run for days.
      if (isMissingPartitionError(error)) await ensurePartitions(db, clock)
      return processIsolated(deadLetterDeps, sequencing, MAX_BATCH_EVENTS)
    }
  }

  /**
   * Moves a batch of events into the ledger. Their day is the current day, but never before the day of an earlier event: readers
   * skip the days before their position, so an event with an earlier day would be lost when a clock is set back.
   */
  async function sequenceInTransaction(tx: Tx, limit: number, onlyId?: string): Promise<number> {
    const condition = onlyId === undefined ? IS_NO_DEAD_LETTER : sql`event_id = ${onlyId}`
    // A process that was paused while it held the lock, or a row of an endpoint, must not stop the callers of all the others.
    await sql`select set_config('lock_timeout', ${LOCK_TIMEOUT_MS}, true),
      pg_advisory_xact_lock(hashtextextended('event ledger', 0))`.execute(tx)
    const { rows } = await sql<SequencedEvent>`
      with recorded as (
        delete from event_outbox where ctid = any (array(
          select ctid from event_outbox where ${condition} order by org_id, mode, event_id limit ${limit}))
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
    await onSequenced(tx, rows)
    const payloads = notificationPayloads(rows)
    await sql`select pg_notify(${EVENTS_SEQUENCED}, payload) from unnest(${payloads}::text[]) as payload`.execute(tx)
    return rows.length
  }

  async function sequenceIfRecorded() {
    if (!closed && (await hasUnsequencedEvents(db.queries, sql`true`))) await sequence()
  }

  async function poll(): Promise<number> {
    await retryDeadLetters(deadLetterDeps, sequencing)
    await sequenceIfRecorded()
    return POLL_INTERVAL_MS
  }

  async function hasUnsequencedEvents(queries: Queries, condition: ReturnType<typeof sql>): Promise<boolean> {
    const { rows } = await sql`select 1 from event_outbox where ${condition} and ${IS_NO_DEAD_LETTER} limit 1`.execute(
      queries,
    )
    return rows.length > 0
  }

  function retrySoon(error: unknown) {
    logFailure(error)
    poller.pollWithin(RETRY_DELAY_MS)
  }

  function logFailure(error: unknown) {
    if (!closed) log.warn({ err: error }, 'sequencing events failed, retrying')
  }
}

async function listRecorded(queries: Queries, limit: number): Promise<DueRow[]> {
  const { rows } = await sql<DueRow>`
    select event_id as id, org_id as "orgId", mode from event_outbox where ${IS_NO_DEAD_LETTER}
    order by org_id, mode, event_id limit ${limit}`.execute(queries)
  return rows
}

function notificationPayloads(events: SequencedEvent[]): string[] {
  const eventsByScope = Map.groupBy(events, ({ org_id, mode }) => `${org_id} ${mode}`)
  return [...eventsByScope].map(
    ([scope, scopeEvents]) => `${scope} ${[...new Set(scopeEvents.map(({ type }) => type))].join(',')}`,
  )
}
