import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ModelLimiter } from '../../../test/limits/model.ts'
import { noRedis, type PrivateRedis, startRedis } from '../../../test/limits/private-redis.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import type { Decision, Limiter } from './limiter.ts'
import { MemoryLimiter } from './memory.ts'
import { RedisLimiter } from './redis.ts'
import { type KeyOverrides, LIMIT_CLASSES, type LimitClass, limitsFor } from './table.ts'

// The start of a minute, nine hours before midnight in India.
const NOW = Date.UTC(2026, 4, 4, 9, 30)
const live = limitsFor('live')
const MODEL = 'the model'

/** Every test against every engine: each call of `open` gives one that has counted nothing. */
function suite(name: string, open: () => Limiter, skip: string | false = false) {
  describe(name, { skip }, () => {
    let keys = 0
    /** A key of its own for each test, asked for by `times` calls at once. */
    function keyOf(limiter: Limiter, overrides?: KeyOverrides, mode: 'live' | 'test' = 'live') {
      const id = `VFN_${keys++}`
      const limits = limitsFor(mode, overrides)
      const call = async (limitClass: LimitClass, now: number, recruiter?: string): Promise<Decision> =>
        limiter.decide(id, limits, limitClass, recruiter, now)
      const many = (times: number, limitClass: LimitClass, now: number, recruiter?: string): Promise<Decision[]> =>
        Promise.all(Array.from({ length: times }, () => call(limitClass, now, recruiter)))
      const page = async (now: number) => limiter.browsePage(id, limits, now)
      const see = async (ids: number[], now: number) => limiter.seeSkills(id, limits, ids, now)
      return { id, limits, call, many, page, see }
    }
    const passed = (decisions: Decision[]) => decisions.filter(({ refused }) => !refused).length
    const counts = (decisions: Decision[]) => {
      const codes = decisions.map(({ refused }) => refused ?? 'passed')
      const groups = [...Map.groupBy(codes, (code) => code)]
      return Object.fromEntries(groups.map(([code, all]) => [code, all.length]))
    }
    /** Spends what gets a key refused, then gets it refused so often. */
    async function refuse(key: ReturnType<typeof keyOf>, times: number, now: number) {
      await key.many(key.limits.buckets.reads.burst, 'reads', now)
      return key.many(times, 'reads', now)
    }

    let limiter: Limiter
    before(() => {
      limiter = open()
    })

    for (const limitClass of LIMIT_CLASSES) {
      test(`10,000 calls of ${limitClass} at once: exactly the burst passes, then 100 refusals, then the cooldown`, async () => {
        const decisions = await keyOf(limiter).many(10_000, limitClass, NOW)
        const { burst } = live.buckets[limitClass]
        assert.deepEqual(counts(decisions), { passed: burst, RATE_LIMITED: 100, COOLDOWN: 9900 - burst })
      })
    }

    test('calls spread over minutes pass at the rate of the second, and no more than the minute allows', async () => {
      const key = keyOf(limiter, { buckets: { reads: { burst: 1, rate: 8, minute: 470 } } })
      const passedIn = [0, 0, 0]
      for (let ms = 0; ms < 3 * MINUTE; ms += 125)
        if (!(await key.call('reads', NOW + ms)).refused) passedIn[Math.floor(ms / MINUTE)]!++
      assert.deepEqual(passedIn, [470, 470, 470])
    })

    test('the minute window can be looked at without charging it', async () => {
      const key = keyOf(limiter)
      await key.many(3, 'mandateWrites', NOW)
      const seen = await limiter.minute(key.id, key.limits, 'mandateWrites', NOW)
      assert.deepEqual([seen.limit, seen.remaining], [300, 297])
      assert.deepEqual(await limiter.minute(key.id, key.limits, 'mandateWrites', NOW), seen)
      assert.equal((await key.call('mandateWrites', NOW)).remaining, 296)
      assert.equal((await limiter.minute(key.id, key.limits, 'reads', NOW)).remaining, 1200)
      assert.equal((await limiter.minute(key.id, key.limits, 'mandateWrites', NOW + MINUTE)).remaining, 300)
      const early = await limiter.minute(key.id, key.limits, 'mandateWrites', NOW - 500)
      assert.deepEqual([early.remaining, early.reset], [296, 61])
      const corrected = await limiter.minute(key.id, key.limits, 'mandateWrites', NOW - HOUR - 500)
      assert.deepEqual([corrected.remaining, corrected.reset], [296, 1])
    })

    test('the whole key has a bucket: what it refuses charges no other', async () => {
      const key = keyOf(limiter)
      const all = await Promise.all(
        LIMIT_CLASSES.map((limitClass) => key.many(live.buckets[limitClass].burst, limitClass, NOW)),
      )
      assert.equal(passed(all.flat()), 300)
      const before = await key.call('campaignWrites', NOW)
      assert.equal(before.refused, 'RATE_LIMITED')
      assert.equal(before.remaining, 30)
      // A token of the whole key comes back after 6.67 ms.
      assert.equal((await key.call('campaignWrites', NOW + 6)).refused, 'RATE_LIMITED')
      assert.equal((await key.call('campaignWrites', NOW + 7)).refused, undefined)
    })

    test('each recruiter has a bucket; who names none has none', async () => {
      const key = keyOf(limiter)
      assert.equal(passed(await key.many(9, 'reads', NOW, 'ann')), 5)
      assert.equal(passed(await key.many(9, 'reads', NOW, 'bob')), 5)
      assert.equal((await key.call('reads', NOW)).remaining, 1200 - 11)
      assert.equal((await key.call('reads', NOW + 199, 'ann')).refused, 'RATE_LIMITED')
      assert.equal((await key.call('reads', NOW + 200, 'ann')).refused, undefined)
      assert.equal(passed(await keyOf(limiter).many(9, 'reads', NOW, 'ann')), 5)
    })

    test('recruiters may have names of any length and kind', async () => {
      const key = keyOf(limiter)
      for (const name of ['{', '}', '}{', 'x'.repeat(16_000), 'Zoë', ' '])
        assert.equal(passed(await key.many(6, 'reads', NOW, name)), 5, name.slice(0, 9))
    })

    test('a TEST key has one tenth, and fractions refill', async () => {
      const key = keyOf(limiter, {}, 'test')
      assert.equal((await key.call('campaignWrites', NOW)).refused, undefined)
      const second = await key.call('campaignWrites', NOW + 1)
      assert.deepEqual([second.refused, second.retryAfter, second.limit, second.remaining], ['RATE_LIMITED', 5, 3, 2])
      assert.equal((await key.call('campaignWrites', NOW + 4999)).refused, 'RATE_LIMITED')
      assert.equal((await key.call('campaignWrites', NOW + 5000)).refused, undefined)
    })

    test('headers tell of the minute window of the class, refused or not', async () => {
      const key = keyOf(limiter, { buckets: { campaignWrites: { burst: 100 } } })
      assert.deepEqual(await key.call('campaignWrites', NOW + 100), {
        refused: undefined,
        over: undefined,
        retryAfter: 0,
        limit: 30,
        remaining: 29,
        reset: 60,
      })
      await key.many(29, 'campaignWrites', NOW + 2000)
      const over = { bucket: 'campaignWrites', meter: 'minute', rests: false }
      const refused = { refused: 'RATE_LIMITED', over, limit: 30, remaining: 0 }
      assert.deepEqual(await key.call('campaignWrites', NOW + 2000), { ...refused, retryAfter: 58, reset: 58 })
      assert.deepEqual(await key.call('campaignWrites', NOW + 59_999), { ...refused, retryAfter: 1, reset: 1 })
      assert.equal((await key.call('campaignWrites', NOW + MINUTE)).remaining, 29)
      assert.equal((await key.call('reads', NOW + MINUTE)).limit, 1200)
    })

    test('a day ends at midnight in India, and is answered with RATE_LIMITED', async () => {
      const key = keyOf(limiter, { buckets: { workflowWrites: { day: 3 } } })
      assert.equal(passed(await key.many(4, 'workflowWrites', NOW)), 3)
      const midnight = Date.UTC(2026, 4, 4, 18, 30)
      const late = await key.call('workflowWrites', midnight - 1500)
      assert.deepEqual([late.refused, late.retryAfter, late.reset], ['RATE_LIMITED', 2, 2])
      assert.equal((await key.call('workflowWrites', NOW)).retryAfter, 9 * 3600)
      assert.equal(passed(await key.many(4, 'workflowWrites', midnight)), 3)
      assert.equal((await key.call('workflowWrites', midnight)).retryAfter, 24 * 3600)
    })

    test('the whole key and recruiters can be given days', async () => {
      const key = keyOf(limiter, { buckets: { key: { day: 7 }, recruiter: { day: 3 } } })
      assert.equal(passed(await key.many(5, 'reads', NOW, 'ann')), 3)
      assert.equal(passed(await key.many(9, 'skillsMatch', NOW)), 4)
      assert.equal((await key.call('reads', NOW + HOUR)).retryAfter, 8 * 3600)
      assert.equal(passed(await key.many(5, 'reads', NOW + 9 * HOUR, 'ann')), 3)
    })

    test('Retry-After is the longest wait of all meters: a second less is too early, then it passes', async () => {
      const overrides = {
        buckets: {
          reads: { burst: 20, rate: 1, minute: 30 },
          recruiter: { burst: 3, rate: 0.25 },
          key: { burst: 25, rate: 2 },
        },
      }
      const key = keyOf(limiter, overrides)
      let now = NOW + 17_250
      for (let i = 0; i < 60; i++) {
        const { refused, retryAfter } = await key.call('reads', now, i % 3 ? 'ann' : undefined)
        if (!refused) continue
        assert.ok(retryAfter >= 1)
        if (retryAfter > 1)
          assert.equal(
            (await key.call('reads', now + (retryAfter - 1) * SECOND, i % 3 ? 'ann' : undefined)).refused,
            refused,
          )
        now += retryAfter * SECOND
        assert.equal((await key.call('reads', now, i % 3 ? 'ann' : undefined)).refused, undefined)
      }
    })

    test('the 100th refusal within a minute starts the cooldown, for TEST keys too', async () => {
      for (const mode of ['live', 'test'] as const) {
        const key = keyOf(limiter, {}, mode)
        assert.deepEqual(counts(await refuse(key, 99, NOW)), { RATE_LIMITED: 99 })
        const last = await key.call('reads', NOW)
        // The call itself could pass in a moment, but the key cannot.
        assert.deepEqual([last.refused, last.retryAfter], ['RATE_LIMITED', 60])
        assert.deepEqual(last.over, { bucket: 'reads', meter: 'second', rests: true })
        const { burst, minute } = key.limits.buckets.reads
        const next = await key.call('reads', NOW + 1)
        assert.deepEqual(next, {
          refused: 'COOLDOWN',
          over: undefined,
          retryAfter: 60,
          limit: minute,
          remaining: minute - burst,
          reset: 60,
        })
        assert.equal(await limiter.cooldown(key.id, NOW + 1000), 59_000)
        assert.equal((await key.call('campaignWrites', NOW + 59_001)).retryAfter, 1)
        assert.equal((await key.call('reads', NOW + MINUTE)).refused, undefined)
        assert.equal(await limiter.cooldown(key.id, NOW + MINUTE), 0)
        assert.equal(await limiter.cooldown('VFN_NOBODYS', NOW), 0)
      }
    })

    test('refusals count for a rolling minute', async () => {
      const key = keyOf(limiter, { buckets: { reads: { day: 1 } } })
      await key.call('reads', NOW)
      await key.many(50, 'reads', NOW)
      await key.many(49, 'reads', NOW + 30_000)
      // The first fifty have just left the minute.
      assert.deepEqual(counts(await key.many(50, 'reads', NOW + MINUTE)), { RATE_LIMITED: 50 })
      assert.equal((await key.call('reads', NOW + MINUTE)).refused, 'RATE_LIMITED')
      assert.equal((await key.call('reads', NOW + MINUTE)).refused, 'COOLDOWN')
    })

    test('a cooldown is neither extended by calls nor fed by them', async () => {
      const key = keyOf(limiter)
      await refuse(key, 100, NOW)
      assert.deepEqual(counts(await key.many(300, 'reads', NOW + 30_000)), { COOLDOWN: 300 })
      assert.equal((await key.call('reads', NOW + 59_999)).retryAfter, 1)
      assert.deepEqual(counts(await refuse(key, 99, NOW + MINUTE)), { RATE_LIMITED: 99 })
    })

    test('a cooldown within an hour of the last is twice as long, up to 15 minutes', async () => {
      const key = keyOf(limiter)
      let now = NOW
      for (const length of [60, 120, 240, 480, 900, 900]) {
        const decisions = await refuse(key, 100, now)
        assert.equal(decisions.at(-1)!.retryAfter, length)
        now += (length - 1) * SECOND
        assert.equal((await key.call('reads', now)).refused, 'COOLDOWN')
        now += SECOND
        assert.equal((await key.call('reads', now)).refused, undefined)
        now += MINUTE
      }
      // The last one started 16 minutes ago.
      assert.equal((await refuse(key, 100, now + 44 * MINUTE)).at(-1)!.retryAfter, 900)
      assert.equal((await refuse(key, 100, now + 44 * MINUTE + HOUR + 1)).at(-1)!.retryAfter, 60)
    })

    test('one browsed page too many within a rolling hour starts the cooldown', async () => {
      const key = keyOf(limiter)
      for (let i = 0; i < 200; i++) assert.equal(await key.page(NOW + i * SECOND), undefined)
      const later = NOW + 30 * MINUTE
      assert.deepEqual(await key.page(later), { code: 'COOLDOWN', retryAfter: 60 })
      assert.deepEqual(await key.page(later + 1), { code: 'COOLDOWN', retryAfter: 60 })
      assert.equal((await key.call('reads', later + 1500)).refused, 'COOLDOWN')
      assert.equal((await key.call('reads', later + MINUTE)).refused, undefined)
      assert.deepEqual(await key.page(later + MINUTE), { code: 'COOLDOWN', retryAfter: 120 })
      // Refused pages did not count: the first page has left the hour, so one may be browsed.
      assert.equal(await key.page(NOW + HOUR), undefined)
      assert.equal((await key.page(NOW + HOUR))?.code, 'COOLDOWN')
      const test = keyOf(limiter, {}, 'test')
      for (let i = 0; i < 20; i++) assert.equal(await test.page(NOW), undefined)
      assert.equal((await test.page(NOW))?.code, 'COOLDOWN')
    })

    test('different skills a day: who would exceed the cap sees none, what was seen stays free', async () => {
      const key = keyOf(limiter)
      for (let id = 0; id < 14_950; id += 50) {
        const ids = Array.from({ length: 50 }, (_, i) => 7 * (id + i) + 1)
        assert.equal(await key.see([...ids, ...ids], NOW), undefined)
      }
      assert.equal(await key.see([1, 8, 15], NOW), undefined)
      assert.equal(
        await key.see(
          Array.from({ length: 49 }, (_, i) => 999_999_999 - i),
          NOW,
        ),
        undefined,
      )
      assert.deepEqual(await key.see([1, 2, 3], NOW), { code: 'DAILY_CAP', retryAfter: 9 * 3600 })
      assert.equal(await key.see([2], NOW), undefined)
      assert.equal((await key.see([3, 2], NOW))?.code, 'DAILY_CAP')
      assert.equal(await key.see([2, 1, 999_999_999], NOW), undefined)
      assert.equal(await key.see([], NOW), undefined)
      assert.equal(await key.see([3, 4], Date.UTC(2026, 4, 4, 18, 30)), undefined)
    })

    test('a clock that runs back a little refills nothing twice', async () => {
      const key = keyOf(limiter)
      assert.equal(passed(await key.many(41, 'reads', NOW + 4000)), 40)
      // To and fro over the same second and over the start of the minute: nothing comes back.
      for (let i = 0; i < 20; i++) {
        assert.equal((await key.call('reads', NOW + 3000)).refused, 'RATE_LIMITED')
        assert.equal((await key.call('reads', NOW - 500)).refused, 'RATE_LIMITED')
        assert.equal((await key.call('reads', NOW + 4000)).refused, 'RATE_LIMITED')
      }
      const early = await key.call('reads', NOW - 500)
      assert.deepEqual([early.retryAfter, early.reset], [5, 61])
      assert.equal((await key.call('reads', NOW + 4050)).refused, undefined)
    })

    test('two servers whose clocks differ by seconds share one minute and one day', async () => {
      const midnight = Date.UTC(2026, 4, 4, 18, 30)
      const key = keyOf(limiter, { buckets: { reads: { minute: 10, day: 15 } } })
      let together = 0
      for (let i = 0; i < 40; i++) {
        const behind = i % 2 ? 4000 : 0
        if (!(await key.call('reads', midnight + i - behind)).refused) together++
      }
      assert.equal(together, 10)
    })

    test('a clock that runs back over midnight stays in the new day', async () => {
      const midnight = Date.UTC(2026, 4, 4, 18, 30)
      const key = keyOf(limiter, { buckets: { workflowWrites: { day: 3 } } })
      assert.equal(passed(await key.many(4, 'workflowWrites', midnight + 1000)), 3)
      assert.equal(await key.see([1], midnight + 1000), undefined)
      // The night before is over: it is not opened again, and going to and fro brings nothing back.
      const before = await key.call('workflowWrites', midnight - HOUR)
      assert.deepEqual([before.refused, before.retryAfter], ['RATE_LIMITED', 25 * 3600])
      assert.equal((await key.call('workflowWrites', midnight + 2000)).refused, 'RATE_LIMITED')
      const full = Array.from({ length: 15_000 }, (_, i) => i + 1)
      for (let i = 0; i < full.length; i += 500) await key.see(full.slice(i, i + 500), midnight - HOUR)
      assert.deepEqual(await key.see([15_001], midnight - HOUR), { code: 'DAILY_CAP', retryAfter: 25 * 3600 })
      assert.equal((await key.see([15_001], midnight + 2000))?.code, 'DAILY_CAP')
    })

    test('a clock set far back locks nobody out for longer than a window, and gives nothing back', async () => {
      const key = keyOf(limiter, { buckets: { reads: { burst: 30, minute: 30 }, workflowWrites: { day: 3 } } })
      await key.many(30, 'reads', NOW)
      await key.many(3, 'workflowWrites', NOW)
      const back = NOW - 3 * DAY + 20 * SECOND
      const jumped = await key.call('reads', back)
      assert.deepEqual([jumped.refused, jumped.retryAfter], ['RATE_LIMITED', 40])
      assert.equal((await key.call('reads', back + 39_999)).refused, 'RATE_LIMITED')
      assert.equal((await key.call('reads', back + 40_000)).refused, undefined)
      const write = await key.call('workflowWrites', back)
      assert.deepEqual([write.refused, write.retryAfter], ['RATE_LIMITED', 9 * 3600 - 20])
      assert.equal((await key.call('workflowWrites', back + 9 * HOUR)).refused, undefined)
    })

    test('a clock set far back ends a cooldown', async () => {
      const key = keyOf(limiter)
      await refuse(key, 100, NOW)
      assert.equal((await key.call('skillsSearch', NOW - HOUR)).refused, undefined)
      // It is remembered that there was one.
      const again = await refuse(key, 101, NOW - HOUR)
      assert.equal(again.find(({ refused }) => refused === 'COOLDOWN')?.retryAfter, 120)
    })

    // The model is told its limits once.
    test('limits raised for a key hold at once, and what it used stays used', { skip: name === MODEL }, async () => {
      const key = keyOf(limiter)
      await key.many(5, 'campaignWrites', NOW)
      assert.equal((await key.call('campaignWrites', NOW)).refused, 'RATE_LIMITED')
      const raised = limitsFor('live', { buckets: { campaignWrites: { burst: 9, minute: 100 } } })
      const decisions = await Promise.all(
        Array.from({ length: 9 }, () => limiter.decide(key.id, raised, 'campaignWrites', undefined, NOW)),
      )
      assert.equal(passed(decisions), 4)
      assert.equal(decisions[0]!.remaining, 94)
      // A day that had no limit was not counted.
      await key.many(5, 'reads', NOW)
      const daily = limitsFor('live', { buckets: { reads: { day: 2 } } })
      const reads = await Promise.all(
        Array.from({ length: 4 }, () => limiter.decide(key.id, daily, 'reads', undefined, NOW)),
      )
      assert.equal(passed(reads), 2)
    })
  })
}

suite(MODEL, () => new ModelLimiter())
// The tests share it and jump to and fro in time: what one of them lets be swept, an earlier moment would miss.
suite('the engine in the process', () => new MemoryLimiter({ sweepEvery: Number.MAX_SAFE_INTEGER }))

const skip = noRedis()
for (const cluster of [false, true]) {
  describe(cluster ? 'under the rules of a cluster' : 'with one server', { skip }, () => {
    let server: PrivateRedis
    let limiter: RedisLimiter
    before(async () => {
      server = await startRedis({ cluster })
      // The same node twice: several URLs make a cluster.
      limiter = new RedisLimiter(cluster ? `${server.url},${server.url}` : server.url)
      await limiter.connect()
    })
    after(async () => {
      limiter.close()
      await server[Symbol.asyncDispose]()
    })
    suite('the engine in Redis', () => limiter, skip)
  })
}
