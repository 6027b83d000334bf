import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Config } from '../../server/config.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { administer } from '../runner/cluster.ts'
import { TestClock } from '../support/clock.ts'
import { type Answering, startReceiver, until } from '../support/receiver.ts'
import { startWebhooks } from '../support/webhooks.ts'
import { fastClock } from './fast-clock.ts'

const KILLS = 20
const BATCH = 10

/** Goes by the fast clock; calls to the server are signed by it too. */
class FastClock extends TestClock {
  readonly started = Date.now()
  readonly #clock = fastClock(this.started)
  override now() {
    return this.#clock.now()
  }
}

test('a worker killed twenty times in mid-delivery, an endpoint that fails in every way: each event arrives, none is missing', {
  timeout: 120_000,
}, async (t) => {
  const clock = new FastClock()
  const { context, keyOf, endpoint, record } = await startWebhooks(t, { clock })
  const key = await keyOf('test')
  const taken = new Set<string>()
  let brokenOff = 0
  const receiver = await startReceiver(t, async (received, response, request) => {
    response.on('close', () => {
      if (!response.writableFinished) brokenOff++
    })
    await pause(Math.random() * 20)
    return misbehaveOnce(taken)(received, response, request)
  })
  await endpoint(key, receiver.url)
  let killed = 0
  let workers = [startWorker(t, context.config, clock.started), startWorker(t, context.config, clock.started)]
  await Promise.all(workers.map(({ ready }) => ready))

  const ids: string[] = []
  for (let kill = 0; killed < KILLS; kill++) {
    const before = receiver.received.length
    ids.push(...(await record(key, ...Array.from({ length: BATCH }, (_, n) => ({ kill, n })))))
    await until(() => receiver.received.length > before, 15_000)
    const pid = await ownerOf(context.db)
    const victim = workers.find(({ child }) => child.pid === pid)
    if (!victim) continue
    victim.child.kill('SIGKILL')
    killed++
    workers = [...workers.filter((worker) => worker !== victim), startWorker(t, context.config, clock.started)]
    await workers[0]!.ready
  }
  await until(
    () => ids.every((id) => taken.has(id)),
    40_000,
    () => `${ids.length - taken.size} events are missing`,
  )
  await allSettled(context.db, ids)
  t.diagnostic(`${ids.length} events, ${receiver.received.length} attempts, ${brokenOff} broken off`)
  assert.ok(receiver.received.length > ids.length)
})

test('the database goes away again and again: what was sent is written down later, what was not is sent', {
  timeout: 60_000,
}, async (t) => {
  const clock = new FastClock()
  const { context, keyOf, endpoint, record, deliver } = await startWebhooks(t, { clock })
  const key = await keyOf('test')
  const taken = new Set<string>()
  const receiver = await startReceiver(t, misbehaveOnce(taken))
  await endpoint(key, receiver.url)
  deliver({ timeout: 300, clock })
  const name = new URL(context.config.databaseUrl!).pathname.slice(1)
  const ids: string[] = []
  for (let round = 0; round < 6; round++) {
    const before = receiver.received.length
    ids.push(...(await persistently(() => record(key, ...Array.from({ length: BATCH }, (_, n) => ({ round, n }))))))
    await until(() => receiver.received.length > before, 10_000)
    await administer(
      process.env.TEST_POSTGRES_URL!,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
    )
  }
  await until(
    () => ids.every((id) => taken.has(id)),
    20_000,
    () => `${ids.length - taken.size} events are missing`,
  )
  await allSettled(context.db, ids)
})

/** The process that sends to the endpoint now. */
async function ownerOf(db: Database): Promise<number | undefined> {
  const { rows } = await sql<{ pid: string }>`
    select substring(application_name from '^attestry webhooks (\\d+)$') as pid
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and datname = current_database()
      and application_name like 'attestry webhooks %'`.execute(db.queries)
  return rows[0] && Number(rows[0].pid)
}

/** Each event is refused once, in a way that its number chooses, and taken from then on. */
function misbehaveOnce(taken: Set<string>): Answering {
  const refused = misbehaved.get(taken) ?? new Set<string>()
  misbehaved.set(taken, refused)
  return ({ body }, response, request) => {
    const { event_id, data } = body
    if (refused.has(event_id) || data.n % 10 > 6) {
      taken.add(event_id)
      return 200
    }
    refused.add(event_id)
    switch (data.n % 10) {
      case 0:
        return 500
      case 1:
        return void response.writeHead(302, { location: '/elsewhere' }).end()
      case 2:
        return 404
      case 3:
        return void response.writeHead(429, { 'retry-after': '7' }).end()
      case 4:
        return void response.writeHead(503, { 'retry-after': '6' }).end()
      case 5:
        return void request.socket.resetAndDestroy()
      default:
        return undefined // hangs
    }
  }
}

const misbehaved = new WeakMap<Set<string>, Set<string>>()

/** What the endpoint took is written down as taken: by the last attempt to be recorded, its event is acknowledged. */
async function allSettled(db: Database, ids: string[]) {
  const open = async () => {
    const { rows } = await sql<{ open: number }>`
      select count(*)::int as open from events e
      left join webhook_deliveries d on d.day = e.day and d.event_id = e.event_id
      where e.event_id = any (${ids}::text[])
        and (e.acknowledged_by is distinct from 'webhook' or d.status is distinct from 'delivered')`.execute(db.queries)
    return rows[0]!.open
  }
  let last = 0
  await until(
    async () => {
      last = await persistently(open)
      return last === 0
    },
    20_000,
    () => `${last} events are not acknowledged`,
  )
  const { rows } = await sql`select 1 from events where event_id = any (${ids}::text[])`.execute(db.queries)
  assert.equal(rows.length, ids.length)
}

async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === 40) throw error
      await pause(50)
    }
  }
}

function startWorker(
  t: TestContext,
  { databaseUrl, masterKey }: Config,
  started: number,
): { child: ChildProcess; ready: Promise<unknown> } {
  const child = spawn(process.execPath, [new URL('webhook-worker.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      MASTER_KEY: masterKey!.toString('base64'),
      ADMIN_API_KEY: 'admin-key-of-the-tests',
      CLOCK_STARTED: String(started),
    },
  })
  t.after(() => child.kill('SIGKILL'))
  return { child, ready: once(child.stdout!, 'data') }
}
