/**
 * What one decision of the rate limits costs, over three buckets of three meters each, against rate-limiter-flexible counting the
 * same nine in the same run. Prints a table, or JSON with --json.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { MemoryLimiter } from '../server/access/limits/memory.ts'
import { RedisLimiter } from '../server/access/limits/redis.ts'
import { limitsFor } from '../server/access/limits/table.ts'
import { noRedis, startRedis } from '../test/limits/private-redis.ts'
import { printRows, type Row } from './support/rows.ts'

const ROUNDS = 9
const ROUND_MS = 400
const CONCURRENT = 50
const FEW_KEYS = 1000
const MANY_KEYS = 100_000

/** High enough that every call passes and all nine meters are charged. */
const HIGH = { rate: 1e6, burst: 1e6, minute: 1e9, day: 1e9 }
const limits = limitsFor('live', { buckets: { key: HIGH, reads: HIGH, recruiter: HIGH } })

const keyName = (i: number) => `VFN_LIVE_01KAQ0Z8M4T6${String(i).padStart(12, '0')}`
const recruiterName = (i: number) => `recruiter-${i}@example.com`

export async function run(): Promise<Row[]> {
  // In this order, because the peer's memory limiters leave many timers behind.
  return [...(await inRedis()), ...held(), ...(await inTheProcess())]
}

async function inTheProcess(): Promise<Row[]> {
  const few = await throughput(FEW_KEYS)
  const many = await throughput(MANY_KEYS)
  return [
    { name: 'in the process', value: many.ours, unit: 'decisions/s', note: `${MANY_KEYS.toLocaleString('en')} keys` },
    { name: 'in the process, counters kept for a restart', value: many.saving, unit: 'decisions/s' },
    { name: 'rate-limiter-flexible, memory', value: many.theirs, unit: 'decisions/s' },
    { name: 'in the process against it', value: many.ours / many.theirs, unit: 'times', note: 'aim: at least 15' },
    {
      name: 'in the process, few keys',
      value: few.ours,
      unit: 'decisions/s',
      note: `${FEW_KEYS.toLocaleString('en')} keys`,
    },
    { name: 'rate-limiter-flexible, memory, few keys', value: few.theirs, unit: 'decisions/s' },
    { name: 'in the process against it, few keys', value: few.ours / few.theirs, unit: 'times' },
  ]
}

async function throughput(count: number) {
  const theirs = peer((options) => new RateLimiterMemory(options))
  const [keys, recruiters] = [names(count, keyName), names(count, recruiterName)]
  const decider = (limiter: MemoryLimiter) => {
    const next = walk(count)
    return () => {
      const at = next()
      limiter.decide(keys[at]!, limits, 'reads', recruiters[at]!, Date.now())
    }
  }
  const saving = new MemoryLimiter({ saving: true })
  const decideAndNote = decider(saving)
  let snapshotDue = 0
  const next = walk(count)
  return {
    ours: await medianOf(alone(decider(new MemoryLimiter()))),
    saving: await medianOf(
      alone((i) => {
        decideAndNote()
        // As often as the server writes behind.
        if (i % 1000 === 0 && performance.now() > snapshotDue) {
          snapshotDue = performance.now() + 250
          saving.snapshot(Date.now())
        }
      }),
    ),
    // Last, so that only it meets the garbage it leaves.
    theirs: await medianOf(
      alone(() => {
        const at = next()
        return theirs(keys[at]!, recruiters[at]!)
      }),
    ),
  }
}

/** Goes through all keys so that neighbours in time are not neighbours in memory. */
function walk(count: number): () => number {
  let at = 0
  return () => {
    at = (at + 7919) % count
    return at
  }
}

async function inRedis(): Promise<Row[]> {
  const missing = noRedis()
  if (missing) {
    console.error(missing)
    return []
  }
  await using server = await startRedis()
  const ours = new RedisLimiter(server.url)
  await ours.connect()
  const storeClient = new Redis(server.url)
  const theirs = peer((options) => new RateLimiterRedis({ ...options, storeClient }))
  const [keys, recruiters] = [names(FEW_KEYS, keyName), names(FEW_KEYS, recruiterName)]
  const [mine, its] = await inTurns(
    concurrently(async (i) => {
      await ours.decide(keys[i % FEW_KEYS]!, limits, 'reads', recruiters[i % FEW_KEYS]!, Date.now())
    }),
    concurrently((i) => theirs(keys[i % FEW_KEYS]!, recruiters[i % FEW_KEYS]!)),
  )
  ours.close()
  storeClient.disconnect()
  return [
    { name: 'Redis', value: mine, unit: 'decisions/s', note: `${CONCURRENT} concurrent, one round trip each` },
    {
      name: 'rate-limiter-flexible, Redis',
      value: its,
      unit: 'decisions/s',
      note: 'nine round trips each, at once',
    },
    { name: 'Redis against it', value: mine / its, unit: 'times', note: 'aim: at least 4' },
  ]
}

/** Memory held for many keys, each with three buckets in use. */
function held(): Row[] {
  const [keys, recruiters] = [names(MANY_KEYS, keyName), names(MANY_KEYS, recruiterName)]
  const ours = new MemoryLimiter()
  const before = bytesInUse()
  for (let i = 0; i < MANY_KEYS; i++) ours.decide(keys[i]!, limits, 'reads', recruiters[i]!, Date.now())
  const used = bytesInUse() - before

  // One bucket a key, and no meter so short that it ends while memory is measured.
  const theirs = [60, 60, 86_400].map(
    (duration, i) => new RateLimiterMemory({ points: 1e9, duration, keyPrefix: `${i}` }),
  )
  const beforeTheirs = bytesInUse()
  for (const key of keys) for (const limiter of theirs) void limiter.consume(key)
  const usedTheirs = bytesInUse() - beforeTheirs
  for (const key of keys) for (const limiter of theirs) void limiter.delete(key)
  return [
    {
      name: `memory at ${MANY_KEYS.toLocaleString('en')} keys`,
      value: used / ours.usage.buckets,
      unit: 'bytes/bucket',
      note: `${ours.usage.buckets.toLocaleString('en')} buckets; aim: at most 150`,
    },
    { name: 'rate-limiter-flexible, memory', value: usedTheirs / MANY_KEYS, unit: 'bytes/bucket' },
  ]
}

/** The same three buckets of three meters; all nine are asked at once, as its documentation combines limiters. */
function peer(
  make: (options: { points: number; duration: number; keyPrefix: string }) => RateLimiterMemory | RateLimiterRedis,
) {
  const meters = (bucket: string) =>
    [1, 60, 86_400].map((duration) => make({ points: 1e9, duration, keyPrefix: `${bucket}${duration}` }))
  const [whole, reads, recruiter] = [meters('key'), meters('reads'), meters('recruiter')]
  return async (key: string, person: string) => {
    const own = `${key}:${person}`
    await Promise.all([
      ...whole.map((limiter) => limiter.consume(key)),
      ...reads.map((limiter) => limiter.consume(key)),
      ...recruiter.map((limiter) => limiter.consume(own)),
    ])
  }
}

/** Something done over and over for a while; answers how often a second. */
type Load = () => Promise<number>

/** By the processor time of the process, garbage collection included: what else the machine does then matters little. */
function alone(act: (i: number) => void | Promise<void>): Load {
  let i = 0
  return async () => {
    const [began, first, cpu] = [performance.now(), i, process.cpuUsage()]
    while (performance.now() - began < ROUND_MS) {
      for (let n = 0; n < 100; n++) {
        const done = act(i++)
        if (done) await done
      }
    }
    const { user, system } = process.cpuUsage(cpu)
    return ((i - first) * 1e6) / (user + system)
  }
}

/** So many at a time, by the clock on the wall. */
function concurrently(act: (i: number) => Promise<void>): Load {
  let i = 0
  return async () => {
    const [began, first] = [performance.now(), i]
    const work = async () => {
      while (performance.now() - began < ROUND_MS) await act(i++)
    }
    await Promise.all(Array.from({ length: CONCURRENT }, work))
    return ((i - first) * 1000) / (performance.now() - began)
  }
}

/** The median of several rounds, after one that warms up. */
async function medianOf(load: Load): Promise<number> {
  bytesInUse()
  await load()
  const rounds: number[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await load())
  return rounds.sort((a, b) => a - b)[ROUNDS >> 1]!
}

/** The best rounds of two loads that take turns: by the clock on the wall, a slow round tells of a busy machine. */
async function inTurns(one: Load, other: Load): Promise<[number, number]> {
  let best: [number, number] = [0, 0]
  for (let round = 0; round <= ROUNDS; round++)
    best = [Math.max(best[0], await one()), Math.max(best[1], await other())]
  return best
}

/** Flat strings, as the HTTP parser makes them. */
function names(count: number, name: (i: number) => string): string[] {
  return Array.from({ length: count }, (_, i) => Buffer.from(name(i)).toString('latin1'))
}

function bytesInUse(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

if (import.meta.main) {
  const rows = await run()
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
  else printRows('rate limits', rows)
}
