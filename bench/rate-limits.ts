/**
 * Measures one rate-limit decision over three buckets with three meters each, compared with rate-limiter-flexible, which counts
 * the same nine meters in the same run.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { MemoryLimiter } from '../server/access/limits/memory.ts'
import { RedisLimiter } from '../server/access/limits/redis.ts'
import { limitsFor } from '../server/access/limits/table.ts'
import { redisSkipReason, startRedis } from '../test/limits/private-redis.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  median,
  runFromCommandLine,
  skippedRow,
} from './support/benchmark.ts'

const CONCURRENCY = 50
const SMALL_KEY_COUNT = 1000
/** The interval at which the server writes changed counters. */
const SNAPSHOT_INTERVAL_MS = 250

interface Sizes {
  rounds: number
  roundMs: number
  manyKeys: number
}

const FULL: Sizes = { rounds: 9, roundMs: 400, manyKeys: 100_000 }
const SHORT: Sizes = { rounds: 1, roundMs: 50, manyKeys: 5_000 }

/** High enough that every call is allowed and all nine meters are charged. */
const HIGH = { rate: 1e6, burst: 1e6, minute: 1e9, day: 1e9 }
const limits = limitsFor('live', { buckets: { key: HIGH, reads: HIGH, recruiter: HIGH } })

const keyName = (i: number) => `VFN_LIVE_01KAQ0Z8M4T6${String(i).padStart(12, '0')}`
const recruiterName = (i: number) => `recruiter-${i}@example.com`

export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  // In this order, because the memory limiters of rate-limiter-flexible leave many timers behind.
  return [...(await measureRedis(sizes)), ...measureMemory(sizes), ...(await measureInProcess(sizes))]
}

async function measureInProcess(sizes: Sizes): Promise<BenchmarkRow[]> {
  const few = await throughput(SMALL_KEY_COUNT, sizes)
  const many = await throughput(sizes.manyKeys, sizes)
  const format = (count: number) => `${count.toLocaleString('en')} keys`
  return [
    { name: 'in-process', value: many.ours, unit: 'decisions/s', note: format(sizes.manyKeys) },
    { name: 'in-process, counters saved for restarts', value: many.saving, unit: 'decisions/s' },
    { name: 'rate-limiter-flexible, memory', value: many.theirs, unit: 'decisions/s' },
    { name: 'compared with it', value: many.ours / many.theirs, unit: 'times', note: 'target: at least 15' },
    { name: 'in-process, few keys', value: few.ours, unit: 'decisions/s', note: format(SMALL_KEY_COUNT) },
    { name: 'rate-limiter-flexible, memory, few keys', value: few.theirs, unit: 'decisions/s' },
    { name: 'compared with it, few keys', value: few.ours / few.theirs, unit: 'times' },
  ]
}

async function throughput(count: number, sizes: Sizes) {
  const theirs = peer((options) => new RateLimiterMemory(options))
  const [keys, recruiters] = [names(count, keyName), names(count, recruiterName)]
  const decider = (limiter: MemoryLimiter) => {
    const next = scatteredIndexes(count)
    return () => {
      const index = next()
      limiter.decide(keys[index]!, limits, 'reads', recruiters[index]!, Date.now())
    }
  }
  const saving = new MemoryLimiter({ trackChanges: true })
  const decideAndSave = decider(saving)
  let snapshotDue = 0
  const next = scatteredIndexes(count)
  return {
    ours: await medianRate(byCpuTime(decider(new MemoryLimiter()), sizes), sizes),
    saving: await medianRate(
      byCpuTime((i) => {
        decideAndSave()
        if (i % 1000 === 0 && performance.now() > snapshotDue) {
          snapshotDue = performance.now() + SNAPSHOT_INTERVAL_MS
          saving.snapshot(Date.now())
        }
      }, sizes),
      sizes,
    ),
    // Last, so that its garbage does not slow down the others.
    theirs: await medianRate(
      byCpuTime(() => {
        const index = next()
        return theirs(keys[index]!, recruiters[index]!)
      }, sizes),
      sizes,
    ),
  }
}

/** Returns all indexes in an order in which consecutive ones are far from each other in memory. */
function scatteredIndexes(count: number): () => number {
  let index = 0
  return () => {
    index = (index + 7919) % count
    return index
  }
}

async function measureRedis(sizes: Sizes): Promise<BenchmarkRow[]> {
  const missing = redisSkipReason()
  if (missing) return [skippedRow('Redis', missing)]
  await using server = await startRedis()
  const ours = new RedisLimiter(server.url)
  await ours.connect()
  const storeClient = new Redis(server.url)
  const theirs = peer((options) => new RateLimiterRedis({ ...options, storeClient }))
  const [keys, recruiters] = [names(SMALL_KEY_COUNT, keyName), names(SMALL_KEY_COUNT, recruiterName)]
  const [ourRate, theirRate] = await bestRatesInTurns(
    concurrently(async (i) => {
      await ours.decide(keys[i % SMALL_KEY_COUNT]!, limits, 'reads', recruiters[i % SMALL_KEY_COUNT]!, Date.now())
    }, sizes),
    concurrently((i) => theirs(keys[i % SMALL_KEY_COUNT]!, recruiters[i % SMALL_KEY_COUNT]!), sizes),
    sizes,
  )
  ours.close()
  storeClient.disconnect()
  return [
    { name: 'Redis', value: ourRate, unit: 'decisions/s', note: `${CONCURRENCY} concurrent, one round trip each` },
    {
      name: 'rate-limiter-flexible, Redis',
      value: theirRate,
      unit: 'decisions/s',
      note: 'nine concurrent round trips each',
    },
    { name: 'compared with it', value: ourRate / theirRate, unit: 'times', note: 'target: at least 4' },
  ]
}

/** Measures the memory for many keys, each with three buckets in use. */
function measureMemory({ manyKeys }: Sizes): BenchmarkRow[] {
  const [keys, recruiters] = [names(manyKeys, keyName), names(manyKeys, recruiterName)]
  const ours = new MemoryLimiter()
  const before = bytesInUse()
  for (let i = 0; i < manyKeys; i++) ours.decide(keys[i]!, limits, 'reads', recruiters[i]!, Date.now())
  const used = bytesInUse() - before

  // One bucket per key, and no meter so short that it expires during the measurement.
  const theirs = [60, 60, 86_400].map(
    (duration, i) => new RateLimiterMemory({ points: 1e9, duration, keyPrefix: `${i}` }),
  )
  const beforeTheirs = bytesInUse()
  for (const key of keys) for (const limiter of theirs) void limiter.consume(key)
  const usedTheirs = bytesInUse() - beforeTheirs
  for (const key of keys) for (const limiter of theirs) void limiter.delete(key)
  return [
    {
      name: `memory with ${manyKeys.toLocaleString('en')} keys`,
      value: used / ours.usage.buckets,
      unit: 'bytes/bucket',
      note: `${ours.usage.buckets.toLocaleString('en')} buckets; target: at most 150`,
    },
    { name: 'rate-limiter-flexible, memory', value: usedTheirs / manyKeys, unit: 'bytes/bucket' },
  ]
}

/** The same three buckets of three meters, all nine consumed concurrently, as the documentation of the package combines limiters. */
function peer(
  make: (options: { points: number; duration: number; keyPrefix: string }) => RateLimiterMemory | RateLimiterRedis,
) {
  const meters = (bucket: string) =>
    [1, 60, 86_400].map((duration) => make({ points: 1e9, duration, keyPrefix: `${bucket}${duration}` }))
  const [key, reads, recruiter] = [meters('key'), meters('reads'), meters('recruiter')]
  return async (keyId: string, recruiterId: string) => {
    await Promise.all([
      ...key.map((limiter) => limiter.consume(keyId)),
      ...reads.map((limiter) => limiter.consume(keyId)),
      ...recruiter.map((limiter) => limiter.consume(`${keyId}:${recruiterId}`)),
    ])
  }
}

/** Repeats an action for one round and returns its rate per second. */
type Round = () => Promise<number>

/** Measures the rate by the CPU time of the process, including garbage collection, which hardly depends on other load. */
function byCpuTime(act: (i: number) => void | Promise<void>, { roundMs }: Sizes): Round {
  let i = 0
  return async () => {
    const [startedAt, first, cpu] = [performance.now(), i, process.cpuUsage()]
    while (performance.now() - startedAt < roundMs) {
      for (let n = 0; n < 100; n++) {
        const pending = act(i++)
        if (pending) await pending
      }
    }
    const { user, system } = process.cpuUsage(cpu)
    return ((i - first) * 1e6) / (user + system)
  }
}

/** Measures the rate of concurrent actions by wall-clock time. */
function concurrently(act: (i: number) => Promise<void>, { roundMs }: Sizes): Round {
  let i = 0
  return async () => {
    const [startedAt, first] = [performance.now(), i]
    const work = async () => {
      while (performance.now() - startedAt < roundMs) await act(i++)
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    return ((i - first) * 1000) / (performance.now() - startedAt)
  }
}

/** Returns the median of several rounds, after a warm-up round. */
async function medianRate(round: Round, { rounds }: Sizes): Promise<number> {
  bytesInUse()
  await round()
  const rates: number[] = []
  for (let i = 0; i < rounds; i++) rates.push(await round())
  return median(rates)
}

/** Returns the best rates of two loads that take turns: by wall-clock time, slow rounds only show a busy machine. */
async function bestRatesInTurns(one: Round, other: Round, { rounds }: Sizes): Promise<[number, number]> {
  let best: [number, number] = [0, 0]
  for (let i = 0; i <= rounds; i++) best = [Math.max(best[0], await one()), Math.max(best[1], await other())]
  return best
}

/** Returns flat strings, as the HTTP parser creates them. */
function names(count: number, name: (i: number) => string): string[] {
  return Array.from({ length: count }, (_, i) => Buffer.from(name(i)).toString('latin1'))
}

/** Returns the bytes in use after a garbage collection. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

if (import.meta.main) await runFromCommandLine('rate-limits', run)
