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
import { combineLimits, type KeyLimits, limitsFor } from '../server/access/limits/table.ts'
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
/** The interval at which the server saves changed rate-limit counters. */
const SNAPSHOT_INTERVAL_MS = 250

interface Sizes {
  rounds: number
  roundMs: number
  keyCount: number
}

const FULL: Sizes = { rounds: 9, roundMs: 400, keyCount: 100_000 }
const SHORT: Sizes = { rounds: 1, roundMs: 50, keyCount: 5_000 }

/** Rates so high that every call is allowed and all nine meters are charged. */
const HIGH_RATES = { rate: 1e6, burst: 1e6, minute: 1e9, day: 1e9 }
const limits = limitsFor('live', { buckets: { key: HIGH_RATES, reads: HIGH_RATES, recruiter: HIGH_RATES } })
const KEYS_PER_ORGANISATION = 4

/** Returns the limits of each key, with the limits that the keys of an organisation share. */
function createLimits(keyCount: number): KeyLimits[] {
  const sharedLimits = combineLimits([limits], 3)
  const organisations = Array.from({ length: Math.ceil(keyCount / KEYS_PER_ORGANISATION) }, (_, i) => ({
    ...limits,
    shared: { id: `ORG_01HZX${i} live`, limits: sharedLimits },
  }))
  return Array.from({ length: keyCount }, (_, i) => organisations[Math.floor(i / KEYS_PER_ORGANISATION)]!)
}

const keyName = (i: number) => `VFN_LIVE_01KAQ0Z8M4T6${String(i).padStart(12, '0')}`
const recruiterName = (i: number) => `recruiter-${i}@example.com`

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  // The in-process measurement is last, because the memory limiters of rate-limiter-flexible leave many timers behind.
  return [...(await measureRedis(sizes)), ...measureMemory(sizes), ...(await measureInProcess(sizes))]
}

async function measureInProcess(sizes: Sizes): Promise<BenchmarkRow[]> {
  const withFewKeys = await measureThroughput(SMALL_KEY_COUNT, sizes)
  const withManyKeys = await measureThroughput(sizes.keyCount, sizes)
  const formatKeyCount = (count: number) => `${count.toLocaleString('en')} keys`
  return [
    { name: 'in-process', value: withManyKeys.ours, unit: 'decisions/s', note: formatKeyCount(sizes.keyCount) },
    { name: 'in-process, with counters saved for restarts', value: withManyKeys.saving, unit: 'decisions/s' },
    { name: 'rate-limiter-flexible, memory', value: withManyKeys.theirs, unit: 'decisions/s' },
    {
      name: 'compared with rate-limiter-flexible',
      value: withManyKeys.ours / withManyKeys.theirs,
      unit: 'times',
      note: 'target: at least 15',
    },
    {
      name: 'in-process, few keys',
      value: withFewKeys.ours,
      unit: 'decisions/s',
      note: formatKeyCount(SMALL_KEY_COUNT),
    },
    { name: 'rate-limiter-flexible, memory, few keys', value: withFewKeys.theirs, unit: 'decisions/s' },
    {
      name: 'compared with rate-limiter-flexible, few keys',
      value: withFewKeys.ours / withFewKeys.theirs,
      unit: 'times',
    },
  ]
}

async function measureThroughput(keyCount: number, sizes: Sizes) {
  const decideWithPeer = createPeer((options) => new RateLimiterMemory(options))
  const [keys, recruiters] = [createNames(keyCount, keyName), createNames(keyCount, recruiterName)]
  const limitsOfKeys = createLimits(keyCount)
  const createDecider = (limiter: MemoryLimiter) => {
    const nextIndex = scatteredIndexes(keyCount)
    return () => {
      const index = nextIndex()
      limiter.decide(keys[index]!, limitsOfKeys[index]!, 'reads', recruiters[index]!, Date.now())
    }
  }
  const savingLimiter = new MemoryLimiter({ trackChanges: true })
  const decideAndSave = createDecider(savingLimiter)
  let nextSnapshotAt = 0
  const nextPeerIndex = scatteredIndexes(keyCount)
  return {
    ours: await medianRate(createCpuTimeRound(createDecider(new MemoryLimiter()), sizes), sizes),
    saving: await medianRate(
      createCpuTimeRound((i) => {
        decideAndSave()
        if (i % 1000 === 0 && performance.now() > nextSnapshotAt) {
          nextSnapshotAt = performance.now() + SNAPSHOT_INTERVAL_MS
          savingLimiter.snapshot(Date.now())
        }
      }, sizes),
      sizes,
    ),
    // The peer is last, so that its garbage does not slow down the other measurements.
    theirs: await medianRate(
      createCpuTimeRound(() => {
        const index = nextPeerIndex()
        return decideWithPeer(keys[index]!, recruiters[index]!)
      }, sizes),
      sizes,
    ),
  }
}

/** A prime that divides none of the key counts, so that every index is visited. */
const INDEX_STEP = 7919

/** Returns a function that yields all indexes in an order in which consecutive ones are far from each other in memory. */
function scatteredIndexes(count: number): () => number {
  let index = 0
  return () => {
    index = (index + INDEX_STEP) % count
    return index
  }
}

async function measureRedis(sizes: Sizes): Promise<BenchmarkRow[]> {
  const skipReason = redisSkipReason()
  if (skipReason) return [skippedRow('Redis', skipReason)]
  await using server = await startRedis()
  const ourLimiter = new RedisLimiter(server.url)
  await ourLimiter.connect()
  const storeClient = new Redis(server.url)
  const decideWithPeer = createPeer((options) => new RateLimiterRedis({ ...options, storeClient }))
  const [keys, recruiters] = [createNames(SMALL_KEY_COUNT, keyName), createNames(SMALL_KEY_COUNT, recruiterName)]
  const limitsOfKeys = createLimits(SMALL_KEY_COUNT)
  const [ourRate, peerRate] = await bestRatesInTurns(
    createConcurrentRound(async (i) => {
      const index = i % SMALL_KEY_COUNT
      await ourLimiter.decide(keys[index]!, limitsOfKeys[index]!, 'reads', recruiters[index]!, Date.now())
    }, sizes),
    createConcurrentRound((i) => decideWithPeer(keys[i % SMALL_KEY_COUNT]!, recruiters[i % SMALL_KEY_COUNT]!), sizes),
    sizes,
  )
  ourLimiter.close()
  storeClient.disconnect()
  return [
    { name: 'Redis', value: ourRate, unit: 'decisions/s', note: `${CONCURRENCY} concurrent, one round trip each` },
    {
      name: 'rate-limiter-flexible, Redis',
      value: peerRate,
      unit: 'decisions/s',
      note: 'nine concurrent round trips each',
    },
    {
      name: 'compared with rate-limiter-flexible, Redis',
      value: ourRate / peerRate,
      unit: 'times',
      note: 'target: at least 6 times',
      operation: 'Rate limits with Redis',
    },
  ]
}

/** Measures the memory of the limiters for many keys, each with three buckets in use. */
function measureMemory({ keyCount }: Sizes): BenchmarkRow[] {
  const [keys, recruiters] = [createNames(keyCount, keyName), createNames(keyCount, recruiterName)]
  const ourLimiter = new MemoryLimiter()
  const bytesBefore = bytesInUse()
  for (let i = 0; i < keyCount; i++) ourLimiter.decide(keys[i]!, limits, 'reads', recruiters[i]!, Date.now())
  const bytesUsed = bytesInUse() - bytesBefore

  // One bucket per key, and no meter so short that it expires during the measurement.
  const peerLimiters = [60, 60, 86_400].map(
    (duration, i) => new RateLimiterMemory({ points: 1e9, duration, keyPrefix: `${i}` }),
  )
  const peerBytesBefore = bytesInUse()
  for (const key of keys) for (const limiter of peerLimiters) void limiter.consume(key)
  const peerBytesUsed = bytesInUse() - peerBytesBefore
  for (const key of keys) for (const limiter of peerLimiters) void limiter.delete(key)
  return [
    {
      name: `memory with ${keyCount.toLocaleString('en')} keys`,
      value: bytesUsed / ourLimiter.usage.buckets,
      unit: 'bytes/bucket',
      note: `${ourLimiter.usage.buckets.toLocaleString('en')} buckets; target: at most 150`,
    },
    { name: 'rate-limiter-flexible, memory', value: peerBytesUsed / keyCount, unit: 'bytes/bucket' },
  ]
}

/**
 * Creates a limiter of rate-limiter-flexible with the same three buckets of three meters. All nine meters are consumed concurrently,
 * as the documentation of the package recommends for combined limiters.
 */
function createPeer(
  createLimiter: (options: {
    points: number
    duration: number
    keyPrefix: string
  }) => RateLimiterMemory | RateLimiterRedis,
) {
  const createMeters = (bucket: string) =>
    [1, 60, 86_400].map((duration) => createLimiter({ points: 1e9, duration, keyPrefix: `${bucket}${duration}` }))
  const [key, reads, recruiter] = [createMeters('key'), createMeters('reads'), createMeters('recruiter')]
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

/** Creates a round that measures the rate by CPU time, including garbage collection. CPU time hardly depends on other load. */
function createCpuTimeRound(action: (i: number) => void | Promise<void>, { roundMs }: Sizes): Round {
  let i = 0
  return async () => {
    const [startedAt, first, cpu] = [performance.now(), i, process.cpuUsage()]
    while (performance.now() - startedAt < roundMs) {
      for (let n = 0; n < 100; n++) {
        const pending = action(i++)
        if (pending) await pending
      }
    }
    const { user, system } = process.cpuUsage(cpu)
    return ((i - first) * 1e6) / (user + system)
  }
}

/** Creates a round that measures the rate of concurrent actions by wall-clock time. */
function createConcurrentRound(action: (i: number) => Promise<void>, { roundMs }: Sizes): Round {
  let i = 0
  return async () => {
    const [startedAt, first] = [performance.now(), i]
    const repeatAction = async () => {
      while (performance.now() - startedAt < roundMs) await action(i++)
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, repeatAction))
    return ((i - first) * 1000) / (performance.now() - startedAt)
  }
}

/** Returns the median rate of several rounds, after a warm-up round. */
async function medianRate(round: Round, { rounds }: Sizes): Promise<number> {
  bytesInUse()
  await round()
  const rates: number[] = []
  for (let i = 0; i < rounds; i++) rates.push(await round())
  return median(rates)
}

/** Returns the best rates of two loads that take turns. The best one counts, because slow rounds only show a busy machine. */
async function bestRatesInTurns(firstRound: Round, secondRound: Round, { rounds }: Sizes): Promise<[number, number]> {
  let bestRates: [number, number] = [0, 0]
  for (let i = 0; i <= rounds; i++)
    bestRates = [Math.max(bestRates[0], await firstRound()), Math.max(bestRates[1], await secondRound())]
  return bestRates
}

/** Returns names as flat strings, as the HTTP parser creates them. */
function createNames(count: number, name: (i: number) => string): string[] {
  return Array.from({ length: count }, (_, i) => Buffer.from(name(i)).toString('latin1'))
}

/** Returns the memory in use after a garbage collection, in bytes. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

if (import.meta.main) await runFromCommandLine('rate-limits', runBenchmark)
