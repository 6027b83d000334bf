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
  /** Number of events per round; a multiple of 1,000. */
  eventCount: number
  rounds: number
  /** Duration of each latency measurement. */
  seconds: number
  warmUpSeconds: number
  pendingDeliveries: number
}

const FULL: Sizes = { eventCount: 20_000, rounds: 2, seconds: 8, warmUpSeconds: 1, pendingDeliveries: 1_000_000 }
const SHORT: Sizes = { eventCount: 1_000, rounds: 1, seconds: 1, warmUpSeconds: 0.2, pendingDeliveries: 2_000 }

/** Text that fills the body of an event up to about 1 KB. */
const filler = 'x'.repeat(820)

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  const receiver = await startReceiver()
  const { context, stop } = await startBenchApp()
  try {
    const latencyRows = await measureLatency(context, receiver, sizes)
    const throughputRows = await measureThroughput(context, receiver, sizes)
    return [...throughputRows, ...latencyRows, ...(await measureBacklog(context, receiver, sizes))]
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
  { eventCount, rounds }: Sizes,
): Promise<BenchmarkRow[]> {
  const rates = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    rates.bare.push(await measureBareLoop(receiver, eventCount))
    const scope = await createEndpoint(context, receiver.url('plain'))
    for (let recordedCount = 0; recordedCount < eventCount; recordedCount += 1000) {
      const data = Array.from({ length: 1000 }, (_, i) => ({ number: recordedCount + i, filler }))
      await context.db.transaction((tx) => recordEvents(tx, scope, context.clock, 'result.completed', data))
    }
    await context.events.sequence()
    await receiver.reset()
    const startedAt = performance.now()
    const delivery = startDelivery(context)
    while (await hasPendingDeliveries(context, scope.webhookId)) await pause(50)
    rates.ours.push(eventCount / ((performance.now() - startedAt) / 1000))
    await delivery.stop()
    if ((await receiver.count()) !== eventCount) throw new Error('not every event was received exactly once')
  }
  const [ourRate, bareRate] = [Math.max(...rates.ours), Math.max(...rates.bare)]
  return [
    { name: 'deliveries, 1 KB, each attempt recorded', value: ourRate, unit: 'per second' },
    {
      name: 'bare undici loop of signed requests',
      value: bareRate,
      unit: 'per second',
      note: `${CONCURRENCY} concurrent`,
    },
    {
      name: 'compared with the bare loop',
      value: (100 * ourRate) / bareRate,
      unit: '%',
      note: 'target: at least 80 %',
      operation: 'Delivering webhooks',
    },
  ]
}

async function hasPendingDeliveries({ db }: Context, webhookId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from webhook_deliveries where webhook_id = ${webhookId} and status = 'pending' limit 1`.execute(db.queries)
  return rows.length > 0
}

/** Returns the requests per second of a bare loop that sends signed requests. */
async function measureBareLoop(receiver: BenchReceiver, eventCount: number): Promise<number> {
  const url = new URL(receiver.url('plain'))
  const pool = new Pool(url.origin, { connections: CONCURRENCY })
  const key = createSecretKey(randomBytes(32))
  let nextNumber = 0
  const post = async () => {
    while (nextNumber < eventCount) {
      const eventNumber = nextNumber++
      const id = `EV_${eventNumber}`
      const timestamp = Math.floor(Date.now() / 1000)
      const body = JSON.stringify({ event_id: id, type: 'result.completed', data: { number: eventNumber, filler } })
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
  const rate = eventCount / ((performance.now() - startedAt) / 1000)
  await pool.close()
  return rate
}

async function measureLatency(context: Context, receiver: BenchReceiver, sizes: Sizes): Promise<BenchmarkRow[]> {
  const scope = await createEndpoint(context, receiver.url('timed'))
  const delivery = startDelivery(context)
  const latenciesMs = await measureLatencies(context, receiver, scope, sizes)
  await delivery.stop()
  const note = `${EVENTS_PER_SECOND} events per second`
  return [
    {
      name: 'commit to arrival, median',
      value: median(latenciesMs),
      unit: 'ms',
      note: `${note}; target: under 25`,
    },
    {
      name: 'commit to arrival, 99th percentile',
      value: percentile(latenciesMs, 0.99),
      unit: 'ms',
      note: 'target: under 150',
    },
  ]
}

/**
 * Records events at a steady rate and returns the milliseconds from commit to arrival of each. Omits the warm-up, in which
 * statements are planned and connections opened.
 */
async function measureLatencies(
  context: Context,
  receiver: BenchReceiver,
  scope: OrgScope,
  { seconds, warmUpSeconds }: Sizes,
): Promise<number[]> {
  await receiver.arrivals()
  const commitTimes = new Map<string, number>()
  const warmUpIds = new Set<string>()
  const writes: Promise<void>[] = []
  const startedAt = performance.now()
  for (let eventNumber = 0; eventNumber < EVENTS_PER_SECOND * seconds; eventNumber++) {
    const waitMs = startedAt + (eventNumber * 1000) / EVENTS_PER_SECOND - performance.now()
    if (waitMs > 1) await pause(waitMs)
    writes.push(
      context.db
        .transaction((tx) => recordEvent(tx, scope, context.clock, 'result.completed', { number: eventNumber, filler }))
        .then((id) => {
          commitTimes.set(id, performance.timeOrigin + performance.now())
          if (eventNumber < EVENTS_PER_SECOND * warmUpSeconds) warmUpIds.add(id)
        }),
    )
  }
  await Promise.all(writes)
  const arrivalTimes = new Map<string, number>()
  while (arrivalTimes.size < commitTimes.size) {
    for (const [id, at] of await receiver.arrivals())
      if (commitTimes.has(id) && !arrivalTimes.has(id)) arrivalTimes.set(id, at)
    await pause(20)
  }
  return [...arrivalTimes].filter(([id]) => !warmUpIds.has(id)).map(([id, at]) => at - commitTimes.get(id)!)
}

async function measureBacklog(context: Context, receiver: BenchReceiver, sizes: Sizes): Promise<BenchmarkRow[]> {
  const failingEndpoint = await createEndpoint(context, receiver.url('failing'))
  const workingEndpoint = await createEndpoint(context, receiver.url('timed'))
  await insertPendingDeliveries(context, failingEndpoint, sizes.pendingDeliveries)
  const megabytesBefore = megabytesInUse()
  const delivery = startDelivery(context)
  let peakMegabytes = megabytesBefore
  const samplingTimer = setInterval(() => {
    peakMegabytes = Math.max(peakMegabytes, megabytesInUse())
  }, 1000)
  const latenciesMs = await measureLatencies(context, receiver, workingEndpoint, sizes)
  clearInterval(samplingTimer)
  await delivery.stop()
  const note = `while ${sizes.pendingDeliveries.toLocaleString('en')} deliveries to a failing endpoint are pending`
  return [
    {
      name: `memory added by ${sizes.pendingDeliveries.toLocaleString('en')} pending deliveries`,
      value: peakMegabytes - megabytesBefore,
      unit: 'MB',
      note: 'in use after garbage collection, maximum of all samples; target: about 0',
    },
    {
      name: 'commit to arrival, median, while another endpoint fails',
      value: median(latenciesMs),
      unit: 'ms',
      note: `${note}; target: under 30 ms`,
      operation: 'Webhook latency while another endpoint fails',
    },
    {
      name: 'commit to arrival, 99th percentile, while another endpoint fails',
      value: percentile(latenciesMs, 0.99),
      unit: 'ms',
      note,
    },
  ]
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Returns the memory in use after a garbage collection. Resident memory would include leftovers of earlier benchmarks. */
function megabytesInUse() {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / MEGABYTE
}

/** Inserts pending deliveries to an endpoint. */
async function insertPendingDeliveries(
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

if (import.meta.main) await runFromCommandLine('webhook-delivery', runBenchmark)
