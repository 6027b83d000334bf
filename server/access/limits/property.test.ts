import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { ModelLimiter } from '../../../test/limits/model.ts'
import { noRedis, startRedis } from '../../../test/limits/private-redis.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import type { Limiter, Rule } from './limiter.ts'
import { MemoryLimiter } from './memory.ts'
import { RedisLimiter } from './redis.ts'
import { LIMIT_CLASSES, limitsFor } from './table.ts'

const skip = noRedis()
const redis = skip ? undefined : await startRedis()
after(() => redis?.[Symbol.asyncDispose]())

/** Small numbers, so that random traffic meets every limit. */
const limits = {
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

const RULES: Rule[] = [
  { name: 'global', kind: 'fixed', limit: 9, seconds: 900, listed: true },
  { name: 'search', kind: 'fixed', limit: 3, seconds: 60, listed: true },
  { name: 'scraping', kind: 'rolling', limit: 5, seconds: 300, listed: true },
  { name: 'session', kind: 'tokens', limit: 3, seconds: 1 },
]

type Step = (engine: Limiter, now: number) => unknown[]
const times = (n: number, call: () => unknown) => Array.from({ length: n }, call)

const key = fc.constantFrom('VFN_TEST_A', 'VFN_TEST_B')
const caller = fc.constantFrom('203.0.113.7', '2001:db8::/64')
const rules = fc.subarray(RULES, { minLength: 1 })

const step: fc.Arbitrary<{ does: string; elapsed: number; run: Step }> = fc
  .tuple(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc
          .tuple(
            key,
            fc.constantFrom(...LIMIT_CLASSES),
            fc.option(fc.constantFrom('ann', 'bo}b'), { nil: undefined }),
            fc.constantFrom(1, 1, 2, 7, 60),
          )
          .map(([key, cls, who, n]) => ({
            does: `${n} x ${cls} of ${key} for ${who}`,
            run: (engine: Limiter, now: number) => times(n, () => engine.decide(key, limits, cls, who, now)),
          })),
      },
      {
        weight: 2,
        arbitrary: fc.tuple(key, fc.constantFrom(1, 3)).map(([key, n]) => ({
          does: `${n} pages of ${key}`,
          run: (engine: Limiter, now: number) => times(n, () => engine.browsePage(key, limits, now)),
        })),
      },
      {
        weight: 2,
        arbitrary: fc.tuple(key, fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 6 })).map(([key, ids]) => ({
          does: `skills ${ids} of ${key}`,
          run: (engine: Limiter, now: number) => [engine.seeSkills(key, limits, ids, now)],
        })),
      },
      {
        weight: 5,
        arbitrary: fc
          .tuple(
            caller,
            rules,
            fc.constantFrom('take' as const, 'take' as const, 'peek' as const, 'charge' as const),
            fc.constantFrom(1, 2, 6),
          )
          .map(([caller, rules, mode, n]) => ({
            does: `${n} x ${mode} of ${caller} under ${rules.map(({ name }) => name)}`,
            run: (engine: Limiter, now: number) => times(n, () => engine[mode](caller, rules, now)),
          })),
      },
      {
        weight: 1,
        arbitrary: fc.constant({ does: 'list', run: (engine: Limiter, now: number) => [engine.limited(now)] }),
      },
    ),
    // Mostly forwards by little; now and then by a window, to its very edge, or backwards by little or much.
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
  .map(([what, elapsed]) => ({ ...what, elapsed, toString: () => `${elapsed} ms, ${what.does}` }))

// Near midnight in India and near a full minute, where windows change.
const start = fc.constantFrom(
  Date.UTC(2026, 2, 1, 18, 29, 58),
  Date.UTC(2026, 2, 1, 9, 0, 0),
  Date.UTC(2026, 2, 1, 9, 0, 59, 500),
)

/** Forgets nothing: the model does not either, and a clock set back could tell. */
const inTheProcess = () => new MemoryLimiter({ sweepEvery: Infinity })

let runs = 0

async function check(engines: Limiter[], steps: { does: string; elapsed: number; run: Step }[], now: number) {
  const model = new ModelLimiter()
  for (const { does, elapsed, run } of steps) {
    now += elapsed
    const expected = sorted(run(model, now))
    for (const engine of engines) {
      const got = sorted(await Promise.all(run(engine, now)))
      assert.deepEqual(got, expected, `${engine.constructor.name} at ${new Date(now).toISOString()}: ${does}`)
    }
  }
}

/** Lists of limited callers have no order. */
function sorted(answers: unknown[]): unknown[] {
  return answers.map((answer) => (Array.isArray(answer) ? answer.map((one) => JSON.stringify(one)).sort() : answer))
}

test('the engine in the process decides as the model does, whatever the traffic and the clock', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), start, (steps, now) =>
      check([inTheProcess()], steps, now),
    ),
    { numRuns: 600 },
  )
})

test('sweeping what is idle changes no decision while the clock runs forwards', async () => {
  const forwards = (steps: { does: string; elapsed: number; run: Step }[]) =>
    steps.map((step) => ({ ...step, elapsed: Math.abs(step.elapsed) }))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), start, (steps, now) =>
      check([new MemoryLimiter({ sweepEvery: 1 })], forwards(steps), now),
    ),
    { numRuns: 200 },
  )
})

test('both engines decide as the model does, whatever the traffic and the clock', { skip }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), start, async (steps, now) => {
      const shared = new RedisLimiter(redis!.url, `run${runs++}:`)
      try {
        await shared.connect()
        await check([inTheProcess(), shared], steps, now)
      } finally {
        shared.close()
      }
    }),
    { numRuns: 150 },
  )
})
