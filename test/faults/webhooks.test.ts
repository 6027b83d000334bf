import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Config } from '../../server/config.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { runStatements } from '../runner/cluster.ts'
import { TestClock } from '../support/clock.ts'
import { startReceiver, type WebhookResponder } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { startWebhookApp } from '../support/webhooks.ts'
import { fastClock } from './fast-clock.ts'
import { databaseEnv } from './server-process.ts'

const KILLS = 20
const EVENTS_PER_BATCH = 10

/** Lets test clients sign requests with the time of the fast clock. */
class FastClock extends TestClock {
  readonly startedAt = Date.now()
  readonly #clock = fastClock(this.startedAt)
  override now() {
    return this.#clock.now()
  }
}

test('every event arrives although the worker is killed twenty times and the endpoint fails in many ways', {
  timeout: 230_000,
}, async (t) => {
  const clock = new FastClock()
  const { context, createKey, createEndpoint, recordEvents } = await startWebhookApp(t, { clock })
  const key = await createKey('test')
  const delivered = new Set<string>()
  const respond = failOnce(delivered)
  let aborted = 0
  const receiver = await startReceiver(t, async (received, response, request) => {
    response.on('close', () => {
      if (!response.writableFinished) aborted++
    })
    await pause(Math.random() * 20)
    return respond(received, response, request)
  })
  await createEndpoint(key, receiver.url)
  let killed = 0
  let workers = [startWorker(t, context.config, clock.startedAt), startWorker(t, context.config, clock.startedAt)]
  await Promise.all(workers.map(({ ready }) => ready))

  const ids: string[] = []
  for (let kill = 0; killed < KILLS; kill++) {
    const before = receiver.received.length
    ids.push(...(await recordEvents(key, ...Array.from({ length: EVENTS_PER_BATCH }, (_, n) => ({ kill, n })))))
    await until(() => receiver.received.length > before)
    const pid = await workerOf(context.db)
    const victim = workers.find(({ child }) => child.pid === pid)
    if (!victim) continue
    victim.child.kill('SIGKILL')
    killed++
    workers = [...workers.filter((worker) => worker !== victim), startWorker(t, context.config, clock.startedAt)]
    await workers[0]!.ready
  }
  await until(
    () => ids.every((id) => delivered.has(id)),
    60_000,
    () => `${ids.length - delivered.size} events are missing`,
  )
  await waitUntilAcknowledged(context.db, ids)
  t.diagnostic(`${ids.length} events, ${receiver.received.length} attempts, ${aborted} aborted`)
  assert.ok(receiver.received.length > ids.length)
})

test('every event is delivered and recorded although the database connections are terminated repeatedly', {
  timeout: 200_000,
}, async (t) => {
  const clock = new FastClock()
  const { context, createKey, createEndpoint, recordEvents, startDelivery } = await startWebhookApp(t, { clock })
  const key = await createKey('test')
  const delivered = new Set<string>()
  const receiver = await startReceiver(t, failOnce(delivered))
  await createEndpoint(key, receiver.url)
  startDelivery({ timeoutMs: 300, clock })
  const name = new URL(context.config.databaseUrl!).pathname.slice(1)
  const ids: string[] = []
  for (let round = 0; round < 6; round++) {
    const before = receiver.received.length
    ids.push(
      ...(await withRetries(() =>
        recordEvents(key, ...Array.from({ length: EVENTS_PER_BATCH }, (_, n) => ({ round, n }))),
      )),
    )
    await until(() => receiver.received.length > before)
    await runStatements(
      process.env.TEST_POSTGRES_URL!,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
    )
  }
  await until(
    () => ids.every((id) => delivered.has(id)),
    60_000,
    () => `${ids.length - delivered.size} events are missing`,
  )
  await waitUntilAcknowledged(context.db, ids)
})

/** Returns the process that delivers to the endpoint now. */
async function workerOf(db: Database): Promise<number | undefined> {
  const { rows } = await sql<{ pid: string }>`
    select substring(application_name from '^attestry webhooks (\\d+)$') as pid
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and datname = current_database()
      and application_name like 'attestry webhooks %'`.execute(db.queries)
  return rows[0] && Number(rows[0].pid)
}

/** Fails once for each event, in a way that depends on its number, and succeeds from then on. */
function failOnce(delivered: Set<string>): WebhookResponder {
  const failed = new Set<string>()
  return ({ body }, response, request) => {
    const { event_id, data } = body
    if (failed.has(event_id) || data.n % 10 > 6) {
      delivered.add(event_id)
      return 200
    }
    failed.add(event_id)
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

/** Waits until all events are recorded as delivered and acknowledged. */
async function waitUntilAcknowledged(db: Database, ids: string[]) {
  const countMissing = async () => {
    const { rows } = await sql<{ missing: number }>`
      select count(*)::int as missing from events e
      left join webhook_deliveries d on d.day = e.day and d.event_id = e.event_id
      where e.event_id = any (${ids}::text[])
        and (e.acknowledged_by is distinct from 'webhook' or d.status is distinct from 'delivered')`.execute(db.queries)
    return rows[0]!.missing
  }
  let missing = 0
  await until(
    async () => {
      missing = await withRetries(countMissing)
      return missing === 0
    },
    60_000,
    () => `${missing} events are not acknowledged`,
  )
  const { rows } = await sql`select 1 from events where event_id = any (${ids}::text[])`.execute(db.queries)
  assert.equal(rows.length, ids.length)
}

async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await work()
    } catch (error) {
      if (attempts === 40) throw error
      await pause(50)
    }
  }
}

function startWorker(
  t: TestContext,
  config: Config,
  startedAt: number,
): { child: ChildProcess; ready: Promise<unknown> } {
  const child = spawn(process.execPath, [new URL('webhook-worker.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...databaseEnv(config),
      CLOCK_STARTED: String(startedAt),
    },
  })
  t.after(() => child.kill('SIGKILL'))
  return { child, ready: once(child.stdout!, 'data') }
}
