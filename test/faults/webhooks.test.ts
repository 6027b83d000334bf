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
import { nodeOptions } from '../support/node-options.ts'
import { startReceiver, type WebhookResponder } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { startWebhookApp } from '../support/webhooks.ts'
import { createFastClock } from './fast-clock.ts'
import { databaseEnv } from './server-process.ts'

/** Run it with KILLS=20 before a release. */
const KILLS = Number(process.env.KILLS ?? 6)
const EVENTS_PER_BATCH = 10

/** A test clock with the time of the fast clock, so that test clients sign requests with this time. */
class FastClock extends TestClock {
  readonly startedAt = Date.now()
  readonly #clock = createFastClock(this.startedAt)
  override now() {
    return this.#clock.now()
  }
}

test(`every event arrives although the worker is killed ${KILLS} times and the endpoint fails in many ways`, {
  timeout: 110_000 + KILLS * 6000,
}, async (t) => {
  const clock = new FastClock()
  const { context, createKey, createEndpoint, recordEvents } = await startWebhookApp(t, { clock })
  const key = await createKey('test')
  const delivered = new Set<string>()
  const respond = failOncePerEvent(delivered)
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

  const eventIds: string[] = []
  for (let kill = 0; killed < KILLS; kill++) {
    const receivedBefore = receiver.received.length
    eventIds.push(...(await recordEvents(key, ...Array.from({ length: EVENTS_PER_BATCH }, (_, n) => ({ kill, n })))))
    await until(() => receiver.received.length > receivedBefore)
    const deliveringPid = await findDeliveringPid(context.db)
    const deliveringWorker = workers.find(({ child }) => child.pid === deliveringPid)
    if (!deliveringWorker) continue
    deliveringWorker.child.kill('SIGKILL')
    killed++
    workers = [
      ...workers.filter((worker) => worker !== deliveringWorker),
      startWorker(t, context.config, clock.startedAt),
    ]
    await workers[0]!.ready
  }
  await until(
    () => eventIds.every((id) => delivered.has(id)),
    60_000,
    () => `${eventIds.length - delivered.size} events are missing`,
  )
  await waitUntilAcknowledged(context.db, eventIds)
  t.diagnostic(`${eventIds.length} events, ${receiver.received.length} attempts, ${aborted} aborted`)
  assert.ok(receiver.received.length > eventIds.length)
})

test('every event is delivered and recorded although the database connections are terminated repeatedly', {
  timeout: 200_000,
}, async (t) => {
  const clock = new FastClock()
  const { context, createKey, createEndpoint, recordEvents, startDelivery } = await startWebhookApp(t, { clock })
  const key = await createKey('test')
  const delivered = new Set<string>()
  const receiver = await startReceiver(t, failOncePerEvent(delivered))
  await createEndpoint(key, receiver.url)
  startDelivery({ timeoutMs: 300, clock })
  const databaseName = new URL(context.config.databaseUrl!).pathname.slice(1)
  const eventIds: string[] = []
  for (let round = 0; round < 6; round++) {
    const receivedBefore = receiver.received.length
    eventIds.push(
      ...(await withRetries(() =>
        recordEvents(key, ...Array.from({ length: EVENTS_PER_BATCH }, (_, n) => ({ round, n }))),
      )),
    )
    await until(() => receiver.received.length > receivedBefore)
    await runStatements(
      process.env.TEST_POSTGRES_URL!,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${databaseName}' and backend_type = 'client backend'`,
    )
  }
  await until(
    () => eventIds.every((id) => delivered.has(id)),
    60_000,
    () => `${eventIds.length - delivered.size} events are missing`,
  )
  await waitUntilAcknowledged(context.db, eventIds)
})

/** Returns the pid of the process that currently delivers to the endpoint. */
async function findDeliveringPid(db: Database): Promise<number | undefined> {
  const { rows } = await sql<{ pid: string }>`
    select substring(application_name from '^attestry webhooks (\\d+)$') as pid
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and datname = current_database()
      and application_name like 'attestry webhooks %'`.execute(db.queries)
  return rows[0] && Number(rows[0].pid)
}

/** Returns a responder that fails the first delivery of each event, in a way that depends on the event's number. */
function failOncePerEvent(delivered: Set<string>): WebhookResponder {
  const failedIds = new Set<string>()
  return ({ body }, response, request) => {
    const { event_id, data } = body
    if (failedIds.has(event_id) || data.n % 10 > 6) {
      delivered.add(event_id)
      return 200
    }
    failedIds.add(event_id)
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
  const countUnacknowledged = async () => {
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
      missing = await withRetries(countUnacknowledged)
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
  const child = spawn(process.execPath, [...nodeOptions, new URL('webhook-worker.ts', import.meta.url).pathname], {
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
