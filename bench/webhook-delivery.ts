/**
 * Webhook deliveries, every attempt written down: how many a second, against a bare loop of signed posts to the same receiver;
 * how long from the commit of a change to the arrival of its event; what a million waiting deliveries cost.
 */
import { fork } from 'node:child_process'
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'kysely'
import { Pool } from 'undici'
import type { OwnerScope } from '../server/access/caller.ts'
import { createOrganisation } from '../server/access/organisations.ts'
import { readConfig } from '../server/config.ts'
import { type Context, openContext } from '../server/context.ts'
import { dayOf } from '../server/events/partitions.ts'
import { recordEvent, recordEvents } from '../server/events/record.ts'
import { createLog } from '../server/platform/log.ts'
import { startDelivery } from '../server/webhooks/delivery/engine.ts'
import { createWebhook } from '../server/webhooks/webhooks.ts'
import { databaseUrl, startCluster } from '../test/runner/cluster.ts'
import { printRows, type Row } from './support/rows.ts'

const EVENTS = 20_000
const AT_ONCE = 64
const PER_SECOND = 200
const SECONDS = 8
const WAITING = 1_000_000
const MEGABYTE = 1024 * 1024
/** Makes a body of about 1 KB. */
const filler = 'x'.repeat(820)

export async function run(): Promise<Row[]> {
  const cluster = await startCluster()
  const receiver = await startReceiver()
  const config = readConfig({
    DATABASE_URL: databaseUrl(cluster.url, 'postgres'),
    ADMIN_API_KEY: 'key-of-the-bench',
    MASTER_KEY: randomBytes(32).toString('base64'),
  })
  const { context, close } = await openContext(config, { log: createLog('error') })
  try {
    const [soon, many] = [await latency(context, receiver), await throughput(context, receiver)]
    return [...many, ...soon, ...(await million(context, receiver))]
  } finally {
    await close()
    receiver.stop()
    await cluster.stop()
  }
}

type BenchReceiver = Awaited<ReturnType<typeof startReceiver>>

async function startReceiver() {
  const child = fork(new URL('support/webhook-receiver.ts', import.meta.url).pathname)
  const [port] = (await once(child, 'message')) as [number]
  const ask = async <T>(question: string): Promise<T> => {
    const answered = once(child, 'message')
    child.send(question)
    return (await answered)[0] as T
  }
  return {
    url: (path: string) => `http://127.0.0.1:${port}/${path}`,
    count: () => ask<number>('count'),
    reset: () => ask<number>('reset'),
    arrivals: () => ask<[string, number][]>('arrivals'),
    stop: () => child.kill(),
  }
}

async function endpoint(context: Context, url: string): Promise<OwnerScope & { webhookId: string }> {
  return context.db.transaction(async (tx) => {
    const { org_id: orgId } = await createOrganisation(tx, 'Bench', context.clock)
    const { webhook } = await createWebhook(tx, { orgId, mode: 'test' }, context, { url })
    return { orgId, mode: 'test', webhookId: webhook.webhook_id }
  })
}

async function throughput(context: Context, receiver: BenchReceiver): Promise<Row[]> {
  const rates = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round < 2; round++) {
    rates.bare.push(await bareLoop(receiver))
    const scope = await endpoint(context, receiver.url('plain'))
    for (let made = 0; made < EVENTS; made += 1000) {
      const data = Array.from({ length: 1000 }, (_, i) => ({ number: made + i, filler }))
      await context.db.transaction((tx) => recordEvents(tx, scope, context.clock, 'result.completed', data))
    }
    await context.events.place()
    await receiver.reset()
    const started = performance.now()
    const delivery = startDelivery(context)
    while ((await waitingFor(context, scope.webhookId)) > 0) await pause(50)
    rates.ours.push(EVENTS / ((performance.now() - started) / 1000))
    await delivery.stop()
    if ((await receiver.count()) !== EVENTS) throw new Error('not every event came exactly once')
  }
  const [ours, bare] = [Math.max(...rates.ours), Math.max(...rates.bare)]
  return [
    { name: 'deliveries, 1 KB, each attempt written down', value: ours, unit: 'a second' },
    { name: 'bare undici.request loop of signed posts', value: bare, unit: 'a second', note: `${AT_ONCE} at once` },
    { name: 'against the bare loop', value: (100 * ours) / bare, unit: '%', note: 'aim: at least 20' },
  ]
}

async function waitingFor({ db }: Context, webhookId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from webhook_deliveries where webhook_id = ${webhookId} and status = 'pending' limit 1
    ) as waiting`.execute(db.queries)
  return rows[0]!.count
}

async function bareLoop(receiver: BenchReceiver): Promise<number> {
  const url = new URL(receiver.url('plain'))
  const pool = new Pool(url.origin, { connections: AT_ONCE })
  const key = createSecretKey(randomBytes(32))
  let next = 0
  const post = async () => {
    while (next < EVENTS) {
      const number = next++
      const id = `EV_${number}`
      const timestamp = Math.floor(Date.now() / 1000)
      const body = JSON.stringify({ event_id: id, type: 'result.completed', data: { number, filler } })
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
      const { body: answer } = await pool.request({
        path: url.pathname,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': `v1,${signature}`,
        },
        body,
      })
      await answer.dump()
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: AT_ONCE }, post))
  const rate = EVENTS / ((performance.now() - started) / 1000)
  await pool.close()
  return rate
}

async function latency(context: Context, receiver: BenchReceiver): Promise<Row[]> {
  const scope = await endpoint(context, receiver.url('timed'))
  const delivery = startDelivery(context)
  const times = await steadily(context, receiver, scope)
  await delivery.stop()
  const note = `${PER_SECOND} events a second`
  return [
    {
      name: 'commit to arrival, median',
      value: times[Math.floor(times.length / 2)]!,
      unit: 'ms',
      note: `${note}; aim: under 25`,
    },
    {
      name: 'commit to arrival, 99th percentile',
      value: times[Math.floor(times.length * 0.99)]!,
      unit: 'ms',
      note: 'aim: under 150',
    },
  ]
}

/** Milliseconds from commit to arrival, sorted; without the first second, in which statements are planned and connections made. */
async function steadily(context: Context, receiver: BenchReceiver, scope: OwnerScope): Promise<number[]> {
  await receiver.arrivals()
  const committed = new Map<string, number>()
  const warmUp = new Set<string>()
  const writes: Promise<void>[] = []
  const started = performance.now()
  for (let number = 0; number < PER_SECOND * SECONDS; number++) {
    const wait = started + (number * 1000) / PER_SECOND - performance.now()
    if (wait > 1) await pause(wait)
    writes.push(
      context.db
        .transaction((tx) => recordEvent(tx, scope, context.clock, 'result.completed', { number, filler }))
        .then((id) => {
          committed.set(id, performance.timeOrigin + performance.now())
          if (number < PER_SECOND) warmUp.add(id)
        }),
    )
  }
  await Promise.all(writes)
  const arrived = new Map<string, number>()
  while (arrived.size < committed.size) {
    for (const [id, at] of await receiver.arrivals()) if (committed.has(id) && !arrived.has(id)) arrived.set(id, at)
    await pause(20)
  }
  return [...arrived]
    .filter(([id]) => !warmUp.has(id))
    .map(([id, at]) => at - committed.get(id)!)
    .sort((a, b) => a - b)
}

async function million(context: Context, receiver: BenchReceiver): Promise<Row[]> {
  const dead = await endpoint(context, receiver.url('failing'))
  const alive = await endpoint(context, receiver.url('timed'))
  await fill(context, dead)
  const before = inUse()
  const delivery = startDelivery(context)
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, inUse())
  }, 1000)
  const times = await steadily(context, receiver, alive)
  clearInterval(watch)
  await delivery.stop()
  const note = `beside an endpoint that fails, with ${WAITING.toLocaleString('en')} waiting`
  return [
    {
      name: 'memory that a million waiting deliveries add',
      value: most - before,
      unit: 'MB',
      note: 'in use after collection, most of 8 samples; aim: flat',
    },
    { name: 'commit to arrival, median', value: times[Math.floor(times.length / 2)]!, unit: 'ms', note },
    { name: 'commit to arrival, 99th percentile', value: times[Math.floor(times.length * 0.99)]!, unit: 'ms', note },
  ]
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Megabytes; resident memory would tell more of what the benches before left behind. */
function inUse() {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / MEGABYTE
}

async function fill({ db, clock }: Context, { orgId, mode, webhookId }: OwnerScope & { webhookId: string }) {
  const now = new Date(clock.now())
  const day = dayOf(clock.now())
  await sql`insert into events (day, org_id, mode, sequence, event_id, type, data, created_at)
    select ${day}::date, ${orgId}, ${mode}, nextval('event_sequence'), 'EV_' || lpad(n::text, 26, '0'), 'result.completed', '{}', ${now}
    from generate_series(1, ${WAITING}::int) as n`.execute(db.queries)
  await sql`insert into webhook_deliveries (day, event_id, webhook_id, event_type, sequence, next_attempt_at, created_at)
    select day, event_id, ${webhookId}, type, sequence, ${now}, ${now} from events where org_id = ${orgId}`.execute(
    db.queries,
  )
}

if (import.meta.main) {
  printRows('webhook-delivery', await run())
  process.exit(0)
}
