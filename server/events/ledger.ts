import { sql } from 'kysely'
import type { OwnerScope } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import type { Log } from '../platform/log.ts'
import { dayOf, ensureDay } from './partitions.ts'
import { EVENTS_RECORDED } from './record.ts'
import type { EventType } from './types.ts'

/** An event that has its place in the ledger. */
export interface PlacedEvent {
  day: string
  org_id: string
  mode: 'test' | 'live'
  sequence: number
  event_id: string
  type: EventType
}

/** What else happens, in the same transaction, when events get their place: endpoints are addressed. */
export type Placing = (tx: Tx, events: PlacedEvent[]) => Promise<void>

export interface Ledger {
  /** Gives a place to everything that is committed by now. */
  place(): Promise<void>
  /** The same, if this organisation has something that waits for its place: a reader sees what was written before. */
  settle(scope: OwnerScope): Promise<void>
  /** Resolves when something new of these types (or any) is there for the organisation, when the time is over or when the signal says so. */
  wait(
    scope: OwnerScope,
    types: readonly EventType[] | undefined,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<void>
  /** Sends everybody home who waits: the server is about to stop. */
  release(): void
  readonly released: boolean
  close(): Promise<void>
}

export interface LedgerOptions {
  db: Database
  clock: Clock
  log: Log
  listener: Listener
  placing: Placing
}

/** PostgreSQL tells all processes on this channel whose events got their place, and of which types: `ORG_… live a.b,c.d`. */
export const EVENTS_PLACED = 'events_placed'
const BATCH = 1000
/** Milliseconds between looks for what a process recorded and then died or could not announce; and after a fault. */
const SWEEP = 5000
const AGAIN = 1000

/**
 * Sequences are given by one process at a time, after the recording transaction has committed. So whoever has read up to n
 * has read everything below n, however long some writer's transaction takes; and no writer ever waits for another.
 */
export async function openLedger({ db, clock, log, listener, placing }: LedgerOptions): Promise<Ledger> {
  const waiting = new Map<string, Set<Waiter>>()
  let running: Promise<void> | undefined
  let again: Promise<void> | undefined
  let closed = false
  let released = false

  // Another process does it itself, unless it is a command.
  db.onCommitted(EVENTS_RECORDED, (own) => void (own ? place() : settleAny()).catch(report))
  await listener.on(EVENTS_PLACED, (placed) => {
    const [orgId, mode, types] = placed.split(' ')
    if (types !== undefined) wake(ownerKey(orgId!, mode!), types.split(','))
    else for (const each of [...waiting.keys()]) wake(each) // after a reconnection: something may have been missed
  })
  let sweep: NodeJS.Timeout | undefined
  sweepIn(SWEEP)

  return {
    place,
    async settle({ orgId, mode }) {
      if (await hasRecorded(db.queries, sql`where org_id = ${orgId} and mode = ${mode}`)) await place()
    },
    wait,
    release,
    get released() {
      return released
    },
    async close() {
      closed = true
      clearTimeout(sweep)
      release()
      await running?.catch(() => {})
      await again?.catch(() => {})
    },
  }

  /** One run at a time, and one more for all who ask while it runs: what they committed may have come too late for it. */
  function place(): Promise<void> {
    if (!running) {
      running = placeAll().finally(() => {
        running = undefined
      })
      return running
    }
    again ??= running
      .catch(() => {})
      .then(() => {
        again = undefined
        return place()
      })
    return again
  }

  async function placeAll() {
    while (!closed && (await placeBatch()) === BATCH);
  }

  async function placeBatch(): Promise<number> {
    const now = clock.now()
    await ensureDay(db, now)
    return db.transaction(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('event ledger', 0))`.execute(tx)
      const { rows } = await sql<PlacedEvent>`
        with taken as (
          delete from event_outbox where ctid = any (array(select ctid from event_outbox order by org_id, mode, event_id limit ${BATCH}))
          returning *
        )
        insert into events (day, org_id, mode, sequence, event_id, type, data, created_at)
        select ${dayOf(now)}::date, org_id, mode, nextval('event_sequence'), event_id, type, data, created_at
        from (select * from taken order by event_id) as ordered
        returning to_char(day, 'YYYY-MM-DD') as day, org_id, mode, sequence, event_id, type`.execute(tx)
      if (rows.length === 0) return 0
      await placing(tx, rows)
      const owners = Map.groupBy(rows, ({ org_id, mode }) => ownerKey(org_id, mode))
      const placed = [...owners].map(
        ([owner, own]) => `${owner} ${[...new Set(own.map(({ type }) => type))].join(',')}`,
      )
      await sql`select pg_notify(${EVENTS_PLACED}, placed) from unnest(${placed}::text[]) as placed`.execute(tx)
      return rows.length
    })
  }

  async function settleAny() {
    if (!closed && (await hasRecorded(db.queries, sql``))) await place()
  }

  async function hasRecorded(queries: Queries, where: ReturnType<typeof sql>): Promise<boolean> {
    const { rows } = await sql`select 1 from event_outbox ${where} limit 1`.execute(queries)
    return rows.length > 0
  }

  function wait(
    { orgId, mode }: OwnerScope,
    types: readonly EventType[] | undefined,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted || released) return Promise.resolve()
    const owner = ownerKey(orgId, mode)
    const waiters = waiting.get(owner) ?? new Set()
    waiting.set(owner, waiters)
    return new Promise((resolve) => {
      const timer = setTimeout(done, milliseconds)
      signal.addEventListener('abort', done, { once: true })
      const waiter = { types, done }
      waiters.add(waiter)
      function done() {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        waiters.delete(waiter)
        if (waiters.size === 0 && waiting.get(owner) === waiters) waiting.delete(owner)
        resolve()
      }
    })
  }

  function release() {
    released = true
    for (const owner of [...waiting.keys()]) wake(owner)
  }

  function wake(owner: string, placed?: string[]) {
    for (const { types, done } of [...(waiting.get(owner) ?? [])]) {
      if (!placed || !types || types.some((type) => placed.includes(type))) done()
    }
  }

  function sweepIn(milliseconds: number) {
    clearTimeout(sweep)
    sweep = setTimeout(() => {
      sweepIn(SWEEP)
      settleAny().catch(report)
    }, milliseconds)
    sweep.unref()
  }

  function report(error: unknown) {
    if (closed) return
    log.warn({ err: error }, 'events could not get their place yet')
    sweepIn(AGAIN)
  }
}

interface Waiter {
  types: readonly EventType[] | undefined
  done: () => void
}

function ownerKey(orgId: string, mode: string) {
  return `${orgId} ${mode}`
}
