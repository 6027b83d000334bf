import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import type pg from 'pg'
import type { OrgScope } from '../../server/access/caller.ts'
import type { Context } from '../../server/context.ts'
import { recordEvents } from '../../server/events/record.ts'
import { type Database, openDatabase } from '../../server/platform/database/database.ts'
import { DatabaseClient } from '../../server/platform/database/database-client.ts'
import { startApp, type TestApp } from '../support/app.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { TestClock } from '../support/clock.ts'
import { nodeOptions } from '../support/node-options.ts'
import { until } from '../support/until.ts'

const WORKER = fileURLToPath(new URL('ledger-worker.ts', import.meta.url))
const ROUNDS = 3
const WORKERS = 2
const SLOW_TEST_TIMEOUT_MS = 230_000

test('every organisation has each event once and in order, although processes are killed while they sequence', {
  timeout: SLOW_TEST_TIMEOUT_MS,
}, async (t) => {
  const { context, fixtures, as } = await startApp(t, { clock: new TestClock(Date.now()) })
  const scopes: OrgScope[] = []
  for (let index = 0; index < 6; index++) {
    const { key } = await fixtures.createOrg()
    scopes.push({ orgId: key.orgId, mode: 'live' })
    assert.equal((await as(key).post('/webhooks', { url: 'https://hooks.example.com/in' })).status, 201)
  }
  await context.events.close() // only the workers sequence
  const db = openPatientDatabase(t, context)
  const order = watchOrder(db)
  const writers = scopes.map((scope) => startWriter({ db, clock: context.clock }, scope))
  const startWorkers = () => Promise.all(Array.from({ length: WORKERS }, () => startWorker(t, context)))
  let workers = await startWorkers()
  for (let round = 0; round < ROUNDS; round++) {
    await until(() => isSequencing(context))
    for (const worker of workers) worker.kill('SIGKILL')
    workers = await startWorkers()
  }
  const counts = await Promise.all(writers.map((writer) => writer.stop()))
  await until(async () => (await sql`select 1 from event_outbox limit 1`.execute(context.db.queries)).rows.length === 0)
  const numbers = await order.stop()

  for (const [index, { orgId }] of scopes.entries())
    assert.deepEqual(
      numbers.get(orgId),
      Array.from({ length: counts[index]! }, (_, number) => number),
    )
  const { rows } = await sql<{ waiting: number; deliveries: number; events: number }>`
    select (select count(*)::int from event_outbox) as waiting, (select count(*)::int from webhook_deliveries) as deliveries,
      (select count(*)::int from events) as events`.execute(context.db.queries)
  const total = counts.reduce((sum, count) => sum + count, 0)
  assert.deepEqual(rows[0], { waiting: 0, deliveries: total, events: total })
})

test('a shard whose lock is held does not delay the events of other shards', async (t) => {
  const { context, fixtures, as } = await startApp(t)
  const [blocked, other] = await createOrgsInTwoShards(context, fixtures)
  const holder = await openClient(t, context)
  await holder.query('begin')
  await holder.query(`select pg_advisory_xact_lock(hashtextextended('event ledger', $1))`, [blocked.shard + 1])

  const ids = new Map<string, string>()
  for (const { key } of [blocked, other])
    ids.set(key.orgId, (await record(context, { orgId: key.orgId, mode: 'live' }, [0]))[0]!)
  const idsInLedger = async () => {
    const { rows } = await sql<{ event_id: string }>`select event_id from events`.execute(context.db.queries)
    return rows.map(({ event_id }) => event_id)
  }
  await until(async () => (await idsInLedger()).length > 0)
  assert.deepEqual(await idsInLedger(), [ids.get(other.key.orgId)])
  const blockedRead = as(blocked.key).get('/events')
  await record(context, { orgId: other.key.orgId, mode: 'live' }, [1])
  const { status, body } = await as(other.key).get('/events')
  assert.deepEqual([status, body.data.items.length], [200, 2])
  assert.equal((await blockedRead).status, 503)

  await holder.query('commit')
  await until(async () => (await idsInLedger()).includes(ids.get(blocked.key.orgId)!))
})

test('a process of the previous version and one of this version keep the order together', async (t) => {
  const { context, fixtures } = await startApp(t, { clock: new TestClock(Date.now()) })
  const scopes: OrgScope[] = []
  for (let index = 0; index < 3; index++) scopes.push({ orgId: (await fixtures.createOrg()).orgId, mode: 'live' })
  const client = await openClient(t, context)
  const db = openPatientDatabase(t, context)
  const order = watchOrder(db)
  const writers = scopes.map((scope) => startWriter({ db, clock: context.clock }, scope))
  let sequencedByPrevious = 0
  await until(async () => {
    sequencedByPrevious += await sequenceAsPreviousVersion(client, () => countEvents(db))
    return sequencedByPrevious >= 20 && (await countEvents(db)) >= sequencedByPrevious + 20
  }, 60_000)
  const counts = await Promise.all(writers.map((writer) => writer.stop()))
  await context.events.sequence()
  const numbers = await order.stop()
  for (const [index, { orgId }] of scopes.entries())
    assert.deepEqual(
      numbers.get(orgId),
      Array.from({ length: counts[index]! }, (_, number) => number),
    )
})

/**
 * Sequences all events as version 0.2 does, which knows one lock for the whole ledger, and checks that no other process sequences meanwhile. It
 * is slow, so that both versions overlap.
 */
async function sequenceAsPreviousVersion(client: pg.Client, count: () => Promise<number>): Promise<number> {
  await client.query('begin')
  await client.query(`select pg_advisory_xact_lock(hashtextextended('event ledger', 0))`)
  const countBefore = await count()
  const { rowCount } = await client.query(`
    with recorded as (delete from event_outbox returning *)
    insert into events (day, org_id, mode, sequence, event_id, type, data, person_id, other_person_id, personal, created_at)
    select greatest((select last_day from event_ledger), (now() at time zone 'UTC')::date), org_id, mode, nextval('event_sequence'), event_id,
      type, data, person_id, other_person_id, personal, created_at
    from (select * from recorded order by event_id) as ordered`)
  await client.query('select pg_sleep(0.1)')
  assert.equal(await count(), countBefore)
  await client.query('commit')
  return rowCount!
}

function record({ db, clock }: Pick<Context, 'db' | 'clock'>, scope: OrgScope, numbers: number[]): Promise<string[]> {
  return db.transaction((tx) =>
    recordEvents(
      tx,
      scope,
      clock,
      'mandate.ready',
      numbers.map((number) => ({ number })),
    ),
  )
}

/** Records events with the numbers 0, 1, 2, … one after another, in short transactions. `stop` returns how many. */
function startWriter(deps: Pick<Context, 'db' | 'clock'>, scope: OrgScope) {
  let isStopped = false
  let count = 0
  const writing = (async () => {
    while (!isStopped) {
      await record(deps, scope, [count, count + 1])
      count += 2
      await pause(50)
    }
  })()
  return {
    async stop() {
      isStopped = true
      await writing
      return count
    },
  }
}

/**
 * Reads new events all the time, and fails if one appears below the last sequence of its organisation, or has an earlier day. `stop` returns
 * the numbers of the events of each organisation in the order of their sequences.
 */
function watchOrder(db: Database) {
  let isStopped = false
  const last = new Map<string, { sequence: number; day: string }>()
  const seenIds = new Set<string>()
  const numbers = new Map<string, number[]>()
  const reading = (async () => {
    for (let isLastRead = false; !isLastRead; await pause(10)) {
      isLastRead = isStopped
      const lowest = Math.min(...[...last.values()].map(({ sequence }) => sequence))
      const { rows } = await sql<{ org_id: string; sequence: number; day: string; event_id: string; data: string }>`
        select org_id, sequence, day::text, event_id, data from events
        where sequence > ${Number.isFinite(lowest) ? lowest - 1000 : 0} order by sequence`.execute(db.queries)
      for (const { org_id, sequence, day, event_id, data } of rows) {
        if (seenIds.has(event_id)) continue
        seenIds.add(event_id)
        const previous = last.get(org_id) ?? { sequence: 0, day: '' }
        assert.ok(sequence > previous.sequence, `${sequence} of ${org_id} appeared after ${previous.sequence}`)
        assert.ok(day >= previous.day)
        last.set(org_id, { sequence, day })
        numbers.set(org_id, [...(numbers.get(org_id) ?? []), JSON.parse(data).number])
      }
    }
  })()
  reading.catch(() => {}) // reported by `stop`
  return {
    async stop() {
      isStopped = true
      await reading
      return numbers
    },
  }
}

/** Opens connections that are not dropped on a busy machine, so that the writers know which transactions have committed. */
function openPatientDatabase(t: Cleanup, { config }: Context): Database {
  const connection = { connectionString: config.databaseUrl! }
  const db = openDatabase({ connection, name: 'writers', onError: () => {}, stalledAfterMs: SLOW_TEST_TIMEOUT_MS })
  t.after(() => db.close())
  return db
}

async function countEvents({ queries }: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from events`.execute(queries)
  return rows[0]!.count
}

async function isSequencing({ db }: Context): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_stat_activity where application_name = 'ledger under test'
    and datname = current_database() and state in ('active', 'idle in transaction') and query ilike '%insert into events%'`.execute(
    db.queries,
  )
  return rows.length > 0
}

async function startWorker(t: Cleanup, { config }: Context): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...nodeOptions, WORKER, config.databaseUrl!], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout!, 'data')
  return child
}

async function createOrgsInTwoShards({ db }: Context, fixtures: TestApp['fixtures']) {
  const orgs: { key: Awaited<ReturnType<typeof fixtures.createPartnerKey>>; shard: number }[] = []
  for (;;) {
    const { key } = await fixtures.createOrg()
    const { rows } = await sql<{ shard: number }>`
      select (hashtextextended(${key.orgId}, 0) & 15)::int as shard`.execute(db.queries)
    orgs.push({ key, shard: rows[0]!.shard })
    const other = orgs.find(({ shard }) => shard !== orgs[0]!.shard)
    if (other) return [orgs[0]!, other] as const
  }
}

async function openClient(t: Cleanup, { config }: Context): Promise<pg.Client> {
  const client = new DatabaseClient({ connectionString: config.databaseUrl! })
  await client.connect()
  t.after(() => client.end().catch(() => {}))
  return client
}
