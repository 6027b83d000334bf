import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { ModelLimiter } from '../../../test/limits/model.ts'
import { redisSkipReason, startRedis } from '../../../test/limits/private-redis.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import type { Limiter, Rule } from './limiter.ts'
import { MemoryLimiter } from './memory.ts'
import { RedisLimiter } from './redis.ts'
import { combineLimits, type KeyLimits, LIMIT_CLASSES, limitsFor } from './table.ts'

const skip = redisSkipReason()
const redis = skip ? undefined : await startRedis()
after(() => redis?.[Symbol.asyncDispose]())

/** Small limits, so that random traffic reaches all of them. */
const smallLimits = {
  ...limitsFor('test', {
    buckets: {
      key: { rate: 7, burst: 12, minute: 60, day: 90 },
      reads: { rate: 1.3, burst: 6, minute: 40 },
      campaignWrites: { rate: 0.2, burst: 3, minute: 5, day: 12 },
      recruiter: { rate: 0.5, burst: 2, minute: 9, day: 15 },
    },
  }),
  skillsPerDay: 12,
  browsePagesPerHour: 7,
}

/** Little more than the limits of one key, so that two keys reach them. */
const sharedLimits = {
  ...combineLimits([smallLimits], 1),
  skillsPerDay: 15,
  browsePagesPerHour: 9,
  rejectionsBeforeCooldown: 130,
}

/** The first two keys belong to one organisation; the third shares no limits. */
const LIMITS: Record<string, KeyLimits> = {
  VFN_TEST_A: { ...smallLimits, shared: { id: 'ORG_A test', limits: sharedLimits } },
  VFN_TEST_B: { ...smallLimits, shared: { id: 'ORG_A test', limits: sharedLimits } },
  VFN_TEST_C: smallLimits,
}

const RULES: Rule[] = [
  { name: 'global', kind: 'fixed', limit: 9, seconds: 900, listed: true },
  { name: 'search', kind: 'fixed', limit: 3, seconds: 60, listed: true },
  { name: 'scraping', kind: 'rolling', limit: 5, seconds: 300, listed: true },
  { name: 'session', kind: 'tokens', limit: 3, seconds: 1 },
]

type RunAction = (engine: Limiter, now: number) => unknown[]
const repeat = (n: number, call: () => unknown) => Array.from({ length: n }, call)

const keyId = fc.constantFrom(...Object.keys(LIMITS))
const caller = fc.constantFrom('203.0.113.7', '2001:db8::/64')
const ruleSubset = fc.subarray(RULES, { minLength: 1 })

const action: fc.Arbitrary<{ name: string; elapsed: number; run: RunAction }> = fc
  .tuple(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc
          .tuple(
            keyId,
            fc.constantFrom(...LIMIT_CLASSES),
            fc.option(fc.constantFrom('ann', 'bo}b'), { nil: undefined }),
            fc.constantFrom(1, 1, 2, 7, 60),
          )
          .map(([key, limitClass, recruiter, n]) => ({
            name: `${n} x ${limitClass} of ${key} for ${recruiter}`,
            run: (engine: Limiter, now: number) =>
              repeat(n, () => engine.decide(key, LIMITS[key]!, limitClass, recruiter, now)),
          })),
      },
      {
        weight: 2,
        arbitrary: fc.tuple(keyId, fc.constantFrom(1, 3)).map(([key, n]) => ({
          name: `${n} pages of ${key}`,
          run: (engine: Limiter, now: number) => repeat(n, () => engine.recordPage(key, LIMITS[key]!, now)),
        })),
      },
      {
        weight: 2,
        arbitrary: fc.tuple(keyId, fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 6 })).map(([key, ids]) => ({
          name: `skills ${ids} of ${key}`,
          run: (engine: Limiter, now: number) => [engine.recordSkills(key, LIMITS[key]!, ids, now)],
        })),
      },
      {
        weight: 5,
        arbitrary: fc
          .tuple(
            caller,
            ruleSubset,
            fc.constantFrom('take' as const, 'take' as const, 'peek' as const, 'charge' as const),
            fc.constantFrom(1, 2, 6),
          )
          .map(([caller, rules, mode, n]) => ({
            name: `${n} x ${mode} of ${caller} under ${rules.map(({ name }) => name)}`,
            run: (engine: Limiter, now: number) => repeat(n, () => engine[mode](caller, rules, now)),
          })),
      },
      {
        weight: 1,
        arbitrary: fc.constant({ name: 'list', run: (engine: Limiter, now: number) => [engine.listLimited(now)] }),
      },
    ),
    // Mostly small jumps forward; sometimes by a window, exactly to its edge, or backwards by little or much.
    fc.oneof(
      { weight: 6, arbitrary: fc.nat(1500) },
      { weight: 2, arbitrary: fc.nat(2 * MINUTE) },
      { weight: 1, arbitrary: fc.nat(2 * HOUR) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(0, 1, 999, 1000, 5000, MINUTE - 1, MINUTE, HOUR - 1, HOUR, 12 * HOUR, DAY),
      },
      { weight: 1, arbitrary: fc.nat(6000).map((ms) => -ms) },
      { weight: 1, arbitrary: fc.nat(26 * HOUR).map((ms) => -ms) },
      { weight: 1, arbitrary: fc.constantFrom(-5000, -5001, -MINUTE, -2 * HOUR, -2 * HOUR - 1) },
    ),
  )
  .map(([call, elapsed]) => ({ ...call, elapsed, toString: () => `${elapsed} ms, ${call.name}` }))

// Near midnight in India and near a full minute, when windows change.
const startTime = fc.constantFrom(
  Date.UTC(2026, 2, 1, 18, 29, 58),
  Date.UTC(2026, 2, 1, 9, 0, 0),
  Date.UTC(2026, 2, 1, 9, 0, 59, 500),
)

/** Does not sweep, because the model does not either; the difference would show after the clock is set back. */
const createMemoryLimiter = () => new MemoryLimiter({ callsPerSweep: Infinity })

let runs = 0

async function assertSameAsModel(
  engines: Limiter[],
  actions: { name: string; elapsed: number; run: RunAction }[],
  now: number,
) {
  const model = new ModelLimiter()
  for (const { name, elapsed, run } of actions) {
    now += elapsed
    const expected = sortLists(run(model, now))
    for (const engine of engines) {
      const actual = sortLists(await Promise.all(run(engine, now)))
      assert.deepEqual(actual, expected, `${engine.constructor.name} at ${new Date(now).toISOString()}: ${name}`)
    }
  }
}

/** Sorts the lists of limited callers, which have no order. */
function sortLists(results: unknown[]): unknown[] {
  return results.map((result) => (Array.isArray(result) ? result.map((one) => JSON.stringify(one)).sort() : result))
}

test('the in-process engine decides like the model, for any traffic and clock', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 80, size: 'max' }), startTime, (actions, now) =>
      assertSameAsModel([createMemoryLimiter()], actions, now),
    ),
    { numRuns: 600 },
  )
})

test('sweeping changes no decision while the clock runs forwards', async () => {
  const withForwardClock = (actions: { name: string; elapsed: number; run: RunAction }[]) =>
    actions.map((action) => ({ ...action, elapsed: Math.abs(action.elapsed) }))
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60, size: 'max' }), startTime, (actions, now) =>
      assertSameAsModel([new MemoryLimiter({ callsPerSweep: 1 })], withForwardClock(actions), now),
    ),
    { numRuns: 200 },
  )
})

test('both engines decide like the model, for any traffic and clock', { skip }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60, size: 'max' }), startTime, async (actions, now) => {
      const redisLimiter = new RedisLimiter(redis!.url, `run${runs++}:`)
      try {
        await redisLimiter.connect()
        await assertSameAsModel([createMemoryLimiter(), redisLimiter], actions, now)
      } finally {
        redisLimiter.close()
      }
    }),
    { numRuns: 150 },
  )
})
