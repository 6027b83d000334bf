/**
 * Measures webhook deliveries, with every attempt recorded: how many per second, compared with a bare loop of signed requests to
 * the same receiver; the time from the commit of a change to the arrival of its event; and the cost of a million pending
 * deliveries.
 */
import { fork } from 'node:child_process'
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'kysely'
import { Pool } from 'undici'
import type { OrgScope } from '../server/access/caller.ts'
import { createOrganisation } from '../server/access/organisations.ts'
import type { Context } from '../server/context.ts'
import { dayOf } from '../server/events/partitions.ts'
import { recordEvent, recordEvents } from '../server/events/record.ts'
import { startDelivery } from '../server/webhooks/delivery/engine.ts'
import { createWebhook } from '../server/webhooks/webhooks.ts'
import { startBenchApp } from './support/app.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  median,
  percentile,
  runFromCommandLine,
} from './support/benchmark.ts'

const CONCURRENCY = 64
const EVENTS_PER_SECOND = 200
const MEGABYTE = 1024 * 1024

interface Sizes {
  /** Multiple of 1,000. */
  events: number
  rounds: number
  /** Duration of the latency measurements. */
  seconds: number
  warmUpSeconds: number
  pendingDeliveries: number
}

const FULL: Sizes = { events: 20_000, rounds: 2, seconds: 8, warmUpSeconds: 1, pendingDeliveries: 1_000_000 }
const SHORT: Sizes = { events: 1_000, rounds: 1, seconds: 1, warmUpSeconds: 0.2, pendingDeliveries: 2_000 }

/** Fills a body up to about 1 KB. */
const filler = 'x'.repeat(820)

export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  const receiver = await startReceiver()
  const { context, stop } = await startBenchApp()
  try {
    const latency = await measureLatency(context, receiver, sizes)
    const throughput = await measureThroughput(context, receiver, sizes)
    return [...throughput, ...latency, ...(await measureBacklog(context, receiver, sizes))]
  } finally {
    await stop()
    receiver.stop()
  }
}

type BenchReceiver = Awaited<ReturnType<typeof startReceiver>>

async function startReceiver() {
  const child = fork(new URL('support/webhook-receiver.ts', import.meta.url).pathname)
  const [port] = (await once(child, 'message')) as [number]
  const request = async <T>(command: string): Promise<T> => {
    const replied = once(child, 'message')
    child.send(command)
    return (await replied)[0] as T
  }
  return {
    url: (path: string) => `http://127.0.0.1:${port}/${path}`,
    count: () => request<number>('count'),
    reset: () => request<number>('reset'),
    arrivals: () => request<[string, number][]>('arrivals'),
    stop: () => child.kill(),
  }
}

async function createEndpoint(context: Context, url: string): Promise<OrgScope & { webhookId: string }> {
  return context.db.transaction(async (tx) => {
    const { org_id: orgId } = await createOrganisation(tx, 'Bench', context.clock)
    const { webhook } = await createWebhook(tx, { orgId, mode: 'test' }, context, { url })
    return { orgId, mode: 'test', webhookId: webhook.webhook_id }
  })
}

async function measureThroughput(
  context: Context,
  receiver: BenchReceiver,
  { events, rounds }: Sizes,
): Promise<BenchmarkRow[]> {
  const rates = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    rates.bare.push(await bareLoop(receiver, events))
    const scope = await createEndpoint(context, receiver.url('plain'))
    for (let recorded = 0; recorded < events; recorded += 1000) {
      const data = Array.from({ length: 1000 }, (_, i) => ({ number: recorded + i, filler }))
      await context.db.transaction((tx) => recordEvents(tx, scope, context.clock, 'result.completed', data))
    }
    await context.events.sequence()
    await receiver.reset()
    const startedAt = performance.now()
    const delivery = startDelivery(context)
    while (await hasPending(context, scope.webhookId)) await pause(50)
    rates.ours.push(events / ((performance.now() - startedAt) / 1000))
    await delivery.stop()
    if ((await receiver.count()) !== events) throw new Error('not every event was received exactly once')
  }
  const [ours, bare] = [Math.max(...rates.ours), Math.max(...rates.bare)]
  return [
    { name: 'deliveries, 1 KB, each attempt recorded', value: ours, unit: 'per second' },
    { name: 'bare undici loop of signed requests', value: bare, unit: 'per second', note: `${CONCURRENCY} concurrent` },
    { name: 'compared with the bare loop', value: (100 * ours) / bare, unit: '%', note: 'target: at least 20' },
  ]
}

async function hasPending({ db }: Context, webhookId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from webhook_deliveries where webhook_id = ${webhookId} and status = 'pending' limit 1`.execute(db.queries)
  return rows.length > 0
}

async function bareLoop(receiver: BenchReceiver, events: number): Promise<number> {
  const url = new URL(receiver.url('plain'))
  const pool = new Pool(url.origin, { connections: CONCURRENCY })
  const key = createSecretKey(randomBytes(32))
  let next = 0
  const post = async () => {
    while (next < events) {
      const number = next++
      const id = `EV_${number}`
      const timestamp = Math.floor(Date.now() / 1000)
      const body = JSON.stringify({ event_id: id, type: 'result.completed', data: { number, filler } })
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
      const { body: response } = await pool.request({
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
      await response.dump()
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: CONCURRENCY }, post))
  const rate = events / ((performance.now() - startedAt) / 1000)
  await pool.close()
  return rate
}

async function measureLatency(context: Context, receiver: BenchReceiver, sizes: Sizes): Promise<BenchmarkRow[]> {
  const scope = await createEndpoint(context, receiver.url('timed'))
  const delivery = startDelivery(context)
  const times = await recordSteadily(context, receiver, scope, sizes)
  await delivery.stop()
  const note = `${EVENTS_PER_SECOND} events per second`
  return [
    {
      name: 'commit to arrival, median',
      value: median(times),
      unit: 'ms',
      note: `${note}; target: under 25`,
    },
    {
      name: 'commit to arrival, 99th percentile',
      value: percentile(times, 0.99),
      unit: 'ms',
      note: 'target: under 150',
    },
  ]
}

/**
 * Records events at a steady rate and returns the milliseconds from commit to arrival of each. Omits the warm-up, in which
 * statements are planned and connections opened.
 */
async function recordSteadily(
  context: Context,
  receiver: BenchReceiver,
  scope: OrgScope,
  { seconds, warmUpSeconds }: Sizes,
): Promise<number[]> {
  await receiver.arrivals()
  const committed = new Map<string, number>()
  const warmUp = new Set<string>()
  const writes: Promise<void>[] = []
  const startedAt = performance.now()
  for (let number = 0; number < EVENTS_PER_SECOND * seconds; number++) {
    const wait = startedAt + (number * 1000) / EVENTS_PER_SECOND - performance.now()
    if (wait > 1) await pause(wait)
    writes.push(
      context.db
        .transaction((tx) => recordEvent(tx, scope, context.clock, 'result.completed', { number, filler }))
        .then((id) => {
          committed.set(id, performance.timeOrigin + performance.now())
          if (number < EVENTS_PER_SECOND * warmUpSeconds) warmUp.add(id)
        }),
    )
  }
  await Promise.all(writes)
  const arrived = new Map<string, number>()
  while (arrived.size < committed.size) {
    for (const [id, at] of await receiver.arrivals()) if (committed.has(id) && !arrived.has(id)) arrived.set(id, at)
    await pause(20)
  }
  return [...arrived].filter(([id]) => !warmUp.has(id)).map(([id, at]) => at - committed.get(id)!)
}

async function measureBacklog(context: Context, receiver: BenchReceiver, sizes: Sizes): Promise<BenchmarkRow[]> {
  const failing = await createEndpoint(context, receiver.url('failing'))
  const working = await createEndpoint(context, receiver.url('timed'))
  await fill(context, failing, sizes.pendingDeliveries)
  const before = megabytesInUse()
  const delivery = startDelivery(context)
  let peak = before
  const sampling = setInterval(() => {
    peak = Math.max(peak, megabytesInUse())
  }, 1000)
  const times = await recordSteadily(context, receiver, working, sizes)
  clearInterval(sampling)
  await delivery.stop()
  const note = `while ${sizes.pendingDeliveries.toLocaleString('en')} deliveries to a failing endpoint are pending`
  return [
    {
      name: `memory added by ${sizes.pendingDeliveries.toLocaleString('en')} pending deliveries`,
      value: peak - before,
      unit: 'MB',
      note: 'in use after garbage collection, maximum of all samples; target: about 0',
    },
    { name: 'commit to arrival, median', value: median(times), unit: 'ms', note },
    { name: 'commit to arrival, 99th percentile', value: percentile(times, 0.99), unit: 'ms', note },
  ]
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Memory after a garbage collection. Resident memory would include leftovers of earlier benchmarks. */
function megabytesInUse() {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / MEGABYTE
}

/** Inserts pending deliveries to an endpoint. */
async function fill(
  { db, clock }: Context,
  { orgId, mode, webhookId }: OrgScope & { webhookId: string },
  count: number,
) {
  const now = new Date(clock.now())
  const day = dayOf(clock.now())
  await sql`insert into events (day, org_id, mode, sequence, event_id, type, data, created_at)
    select ${day}::date, ${orgId}, ${mode}, nextval('event_sequence'), 'EV_' || lpad(n::text, 26, '0'), 'result.completed', '{}', ${now}
    from generate_series(1, ${count}::int) as n`.execute(db.queries)
  await sql`insert into webhook_deliveries (day, event_id, webhook_id, event_type, sequence, next_attempt_at, created_at)
    select day, event_id, ${webhookId}, type, sequence, ${now}, ${now} from events where org_id = ${orgId}`.execute(
    db.queries,
  )
}

if (import.meta.main) await runFromCommandLine('webhook-delivery', run)
