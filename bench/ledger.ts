/**
 * Measures how many recorded events one to eight processes sequence per second, and deliver to a webhook of each of 64 organisations: once with the
 * organisations in 16 shards, and once with all of them in one shard, whose lock is then one lock for the whole ledger. Both are measured
 * alternately, and PostgreSQL writes to the disk, unlike in the other benchmarks.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { createOrganisation } from '../server/access/organisations.ts'
import type { Context } from '../server/context.ts'
import { recordEvents } from '../server/events/record.ts'
import { createWebhook } from '../server/webhooks/webhooks.ts'
import { startBenchApp, writeToDisk } from './support/app.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'

const ORGANISATIONS = 64
const EVENTS_PER_TRANSACTION = 50
const CHECK_INTERVAL_MS = 10
const TIMEOUT_MS = 60_000
const TARGET_FACTOR = 3

interface Sizes {
  /** Number of events per measurement; a multiple of ORGANISATIONS * EVENTS_PER_TRANSACTION. */
  eventCount: number
  processCounts: number[]
  rounds: number
}

const FULL: Sizes = { eventCount: 64_000, processCounts: [1, 2, 4, 8], rounds: 2 }
const SHORT: Sizes = { eventCount: 3_200, processCounts: [1, 2], rounds: 1 }

/** Text that fills the data of an event up to about 1 KB. */
const filler = 'x'.repeat(820)

const kinds = { one: 'one lock', sharded: '16 shards' } as const
type Kind = keyof typeof kinds

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const { eventCount, processCounts, rounds } = short ? SHORT : FULL
  const { context, stop } = await startBenchApp()
  try {
    await context.events.close() // only the measured processes sequence
    await writeToDisk(context)
    const orgIds = await createSubscribers(context)
    const bestRates = new Map<string, number>()
    for (let round = 0; round < rounds; round++)
      for (const processCount of processCounts)
        for (const kind of ['one', 'sharded'] as const) {
          const rate = await measureRate(context, orgIds, { kind, eventCount, processCount })
          const name = nameOf(kind, processCount)
          bestRates.set(name, Math.max(rate, bestRates.get(name) ?? 0))
        }
    const most = processCounts.at(-1)!
    const rateOf = (kind: Kind) => bestRates.get(nameOf(kind, most))!
    return [
      ...[...bestRates].map(([name, value]) => ({ name, value, unit: 'events per second' })),
      {
        name: `sharded compared with one lock, ${most} processes`,
        value: rateOf('sharded') / rateOf('one'),
        unit: 'times',
        note: `target: at least ${TARGET_FACTOR} times`,
        operation: 'Sequencing events',
      },
    ]
  } finally {
    await stop()
  }
}

function nameOf(kind: Kind, processCount: number) {
  return `${processCount} ${processCount === 1 ? 'process' : 'processes'}, ${kinds[kind]}`
}

async function createSubscribers(context: Context): Promise<string[]> {
  return context.db.transaction(async (tx) => {
    const orgIds: string[] = []
    for (let count = 0; count < ORGANISATIONS; count++) {
      const { org_id: orgId } = await createOrganisation(tx, 'Bench', context.clock)
      await createWebhook(tx, { orgId, mode: 'test' }, context, { url: 'http://127.0.0.1:9/hook' })
      orgIds.push(orgId)
    }
    return orgIds
  })
}

/** Records events, and returns how many of them the processes sequence per second. */
async function measureRate(
  context: Context,
  orgIds: string[],
  { kind, eventCount, processCount }: { kind: Kind; eventCount: number; processCount: number },
): Promise<number> {
  const { db, config } = context
  await setShards(context, kind)
  await recordBacklog(context, orgIds, eventCount)
  const children = await Promise.all(
    Array.from({ length: processCount }, () => startLedgerProcess(config.databaseUrl!)),
  )
  try {
    const startedAt = performance.now()
    for (const child of children) child.send('start')
    while ((await sql`select 1 from event_outbox limit 1`.execute(db.queries)).rows.length > 0) {
      if (performance.now() - startedAt > TIMEOUT_MS) throw new Error('the events were not sequenced in time')
      await pause(CHECK_INTERVAL_MS)
    }
    const seconds = (performance.now() - startedAt) / 1000
    await checkCounts(context, eventCount)
    return eventCount / seconds
  } finally {
    await Promise.all(children.map(stopProcess))
  }
}

/** Assigns the organisations to 16 shards by the column's expression, or all of them to the first shard. */
async function setShards({ db }: Context, kind: Kind): Promise<void> {
  await db.asOwner(async ({ pool }) => {
    await pool.query(`truncate event_outbox, events, webhook_deliveries;
      alter table event_outbox drop column shard;
      alter table event_outbox add column shard smallint not null ${
        kind === 'one' ? 'default 0' : 'generated always as ((hashtextextended(org_id, 0) & 15)::smallint) stored'
      };
      create index event_outbox_shard on event_outbox (shard, event_id)`)
  })
}

async function recordBacklog({ db, clock }: Context, orgIds: string[], eventCount: number): Promise<void> {
  const transactions = eventCount / orgIds.length / EVENTS_PER_TRANSACTION
  for (let number = 0; number < transactions; number++)
    for (const orgId of orgIds) {
      const data = Array.from({ length: EVENTS_PER_TRANSACTION }, (_, index) => ({ number, index, filler }))
      await db.transaction((tx) => recordEvents(tx, { orgId, mode: 'test' }, clock, 'result.completed', data))
    }
}

async function checkCounts({ db }: Context, eventCount: number): Promise<void> {
  const { rows } = await sql<{ events: number; deliveries: number }>`
    select (select count(*)::int from events) as events, (select count(*)::int from webhook_deliveries) as deliveries`.execute(
    db.queries,
  )
  const { events, deliveries } = rows[0]!
  if (events !== eventCount || deliveries !== eventCount)
    throw new Error(`${events} events and ${deliveries} deliveries instead of ${eventCount}`)
}

async function startLedgerProcess(databaseUrl: string): Promise<ChildProcess> {
  const child = fork(new URL('support/ledger-process.ts', import.meta.url).pathname, {
    env: { ...process.env, DATABASE_URL: databaseUrl },
  })
  await once(child, 'message')
  return child
}

async function stopProcess(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.disconnect()
  await exited
}

if (import.meta.main) await runFromCommandLine('ledger', runBenchmark)
