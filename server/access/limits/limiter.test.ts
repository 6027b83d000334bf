import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ModelLimiter } from '../../../test/limits/model.ts'
import { redisSkipReason, startRedis, type TestRedis } from '../../../test/limits/private-redis.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import type { Limiter, RateLimitDecision } from './limiter.ts'
import { MemoryLimiter } from './memory.ts'
import { RedisLimiter } from './redis.ts'
import { type KeyOverrides, LIMIT_CLASSES, type LimitClass, limitsFor } from './table.ts'

// The start of a minute, nine hours before midnight in India.
const NOW = Date.UTC(2026, 4, 4, 9, 30)
const live = limitsFor('live')
const MODEL = 'the model'

/** Runs all tests against one engine. `open` returns an engine without counts. */
function suite(name: string, open: () => Limiter, skip: string | false = false) {
  describe(name, { skip }, () => {
    let keys = 0
    /** Returns a new key. `many` makes concurrent calls. */
    function newKey(limiter: Limiter, overrides?: KeyOverrides, mode: 'live' | 'test' = 'live') {
      const id = `VFN_${keys++}`
      const limits = limitsFor(mode, overrides)
      const call = async (limitClass: LimitClass, now: number, recruiter?: string): Promise<RateLimitDecision> =>
        limiter.decide(id, limits, limitClass, recruiter, now)
      const many = (
        times: number,
        limitClass: LimitClass,
        now: number,
        recruiter?: string,
      ): Promise<RateLimitDecision[]> =>
        Promise.all(Array.from({ length: times }, () => call(limitClass, now, recruiter)))
      const recordPage = async (now: number) => limiter.recordPage(id, limits, now)
      const recordSkills = async (ids: number[], now: number) => limiter.recordSkills(id, limits, ids, now)
      return { id, limits, call, many, recordPage, recordSkills }
    }
    const allowedCount = (decisions: RateLimitDecision[]) => decisions.filter(({ errorCode }) => !errorCode).length
    const counts = (decisions: RateLimitDecision[]) => {
      const codes = decisions.map(({ errorCode }) => errorCode ?? 'allowed')
      const groups = [...Map.groupBy(codes, (code) => code)]
      return Object.fromEntries(groups.map(([code, all]) => [code, all.length]))
    }
    /** Uses up the burst, then gets `times` calls rejected. */
    async function provokeRejections(key: ReturnType<typeof newKey>, times: number, now: number) {
      await key.many(key.limits.buckets.reads.burst, 'reads', now)
      return key.many(times, 'reads', now)
    }

    let limiter: Limiter
    before(() => {
      limiter = open()
    })

    for (const limitClass of LIMIT_CLASSES) {
      test(`10,000 concurrent calls of ${limitClass}: exactly the burst is allowed, then 100 are rejected, then the cooldown starts`, async () => {
        const decisions = await newKey(limiter).many(10_000, limitClass, NOW)
        const { burst } = live.buckets[limitClass]
        assert.deepEqual(counts(decisions), { allowed: burst, RATE_LIMITED: 100, COOLDOWN: 9900 - burst })
      })
    }

    test('calls spread over minutes are allowed at the rate per second, up to the limit per minute', async () => {
      const key = newKey(limiter, { buckets: { reads: { burst: 1, rate: 8, minute: 470 } } })
      const allowedIn = [0, 0, 0]
      for (let ms = 0; ms < 3 * MINUTE; ms += 125)
        if (!(await key.call('reads', NOW + ms)).errorCode) allowedIn[Math.floor(ms / MINUTE)]!++
      assert.deepEqual(allowedIn, [470, 470, 470])
    })

    test('the minute window can be read without charging it', async () => {
      const key = newKey(limiter)
      await key.many(3, 'mandateWrites', NOW)
      const window = await limiter.minuteWindow(key.id, key.limits, 'mandateWrites', NOW)
      assert.deepEqual([window.limit, window.remaining], [300, 297])
      assert.deepEqual(await limiter.minuteWindow(key.id, key.limits, 'mandateWrites', NOW), window)
      assert.equal((await key.call('mandateWrites', NOW)).remaining, 296)
      assert.equal((await limiter.minuteWindow(key.id, key.limits, 'reads', NOW)).remaining, 1200)
      assert.equal((await limiter.minuteWindow(key.id, key.limits, 'mandateWrites', NOW + MINUTE)).remaining, 300)
      const early = await limiter.minuteWindow(key.id, key.limits, 'mandateWrites', NOW - 500)
      assert.deepEqual([early.remaining, early.reset], [296, 61])
      const corrected = await limiter.minuteWindow(key.id, key.limits, 'mandateWrites', NOW - HOUR - 500)
      assert.deepEqual([corrected.remaining, corrected.reset], [296, 1])
    })

    test('the whole key has a bucket, and a call that it rejects is charged to no other', async () => {
      const key = newKey(limiter)
      const all = await Promise.all(
        LIMIT_CLASSES.map((limitClass) => key.many(live.buckets[limitClass].burst, limitClass, NOW)),
      )
      assert.equal(allowedCount(all.flat()), 300)
      const before = await key.call('campaignWrites', NOW)
      assert.equal(before.errorCode, 'RATE_LIMITED')
      assert.equal(before.remaining, 30)
      // The bucket of the whole key refills one token in 6.67 ms.
      assert.equal((await key.call('campaignWrites', NOW + 6)).errorCode, 'RATE_LIMITED')
      assert.equal((await key.call('campaignWrites', NOW + 7)).errorCode, undefined)
    })

    test('each recruiter has a bucket, and calls without a recruiter use none', async () => {
      const key = newKey(limiter)
      assert.equal(allowedCount(await key.many(9, 'reads', NOW, 'ann')), 5)
      assert.equal(allowedCount(await key.many(9, 'reads', NOW, 'bob')), 5)
      assert.equal((await key.call('reads', NOW)).remaining, 1200 - 11)
      assert.equal((await key.call('reads', NOW + 199, 'ann')).errorCode, 'RATE_LIMITED')
      assert.equal((await key.call('reads', NOW + 200, 'ann')).errorCode, undefined)
      assert.equal(allowedCount(await newKey(limiter).many(9, 'reads', NOW, 'ann')), 5)
    })

    test('recruiter names can have any length and any characters', async () => {
      const key = newKey(limiter)
      for (const name of ['{', '}', '}{', 'x'.repeat(16_000), 'Zoë', ' '])
        assert.equal(allowedCount(await key.many(6, 'reads', NOW, name)), 5, name.slice(0, 9))
    })

    test('a TEST key has one tenth of the limits, with fractional refill rates', async () => {
      const key = newKey(limiter, {}, 'test')
      assert.equal((await key.call('campaignWrites', NOW)).errorCode, undefined)
      const second = await key.call('campaignWrites', NOW + 1)
      assert.deepEqual([second.errorCode, second.retryAfter, second.limit, second.remaining], ['RATE_LIMITED', 5, 3, 2])
      assert.equal((await key.call('campaignWrites', NOW + 4999)).errorCode, 'RATE_LIMITED')
      assert.equal((await key.call('campaignWrites', NOW + 5000)).errorCode, undefined)
    })

    test('every decision has the minute window of the class', async () => {
      const key = newKey(limiter, { buckets: { campaignWrites: { burst: 100 } } })
      assert.deepEqual(await key.call('campaignWrites', NOW + 100), {
        errorCode: undefined,
        exceeded: undefined,
        retryAfter: 0,
        limit: 30,
        remaining: 29,
        reset: 60,
      })
      await key.many(29, 'campaignWrites', NOW + 2000)
      const exceeded = { bucket: 'campaignWrites', meter: 'minute', startsCooldown: false }
      const rejected = { errorCode: 'RATE_LIMITED', exceeded, limit: 30, remaining: 0 }
      assert.deepEqual(await key.call('campaignWrites', NOW + 2000), { ...rejected, retryAfter: 58, reset: 58 })
      assert.deepEqual(await key.call('campaignWrites', NOW + 59_999), { ...rejected, retryAfter: 1, reset: 1 })
      assert.equal((await key.call('campaignWrites', NOW + MINUTE)).remaining, 29)
      assert.equal((await key.call('reads', NOW + MINUTE)).limit, 1200)
    })

    test('the daily limit returns RATE_LIMITED and resets at midnight in India', async () => {
      const key = newKey(limiter, { buckets: { workflowWrites: { day: 3 } } })
      assert.equal(allowedCount(await key.many(4, 'workflowWrites', NOW)), 3)
      const midnight = Date.UTC(2026, 4, 4, 18, 30)
      const late = await key.call('workflowWrites', midnight - 1500)
      assert.deepEqual([late.errorCode, late.retryAfter, late.reset], ['RATE_LIMITED', 2, 2])
      assert.equal((await key.call('workflowWrites', NOW)).retryAfter, 9 * 3600)
      assert.equal(allowedCount(await key.many(4, 'workflowWrites', midnight)), 3)
      assert.equal((await key.call('workflowWrites', midnight)).retryAfter, 24 * 3600)
    })

    test('the whole key and recruiters can have daily limits', async () => {
      const key = newKey(limiter, { buckets: { key: { day: 7 }, recruiter: { day: 3 } } })
      assert.equal(allowedCount(await key.many(5, 'reads', NOW, 'ann')), 3)
      assert.equal(allowedCount(await key.many(9, 'skillsMatch', NOW)), 4)
      assert.equal((await key.call('reads', NOW + HOUR)).retryAfter, 8 * 3600)
      assert.equal(allowedCount(await key.many(5, 'reads', NOW + 9 * HOUR, 'ann')), 3)
    })

    test('Retry-After is the longest wait of all meters: a second less is too early', async () => {
      const overrides = {
        buckets: {
          reads: { burst: 20, rate: 1, minute: 30 },
          recruiter: { burst: 3, rate: 0.25 },
          key: { burst: 25, rate: 2 },
        },
      }
      const key = newKey(limiter, overrides)
      let now = NOW + 17_250
      for (let i = 0; i < 60; i++) {
        const { errorCode, retryAfter } = await key.call('reads', now, i % 3 ? 'ann' : undefined)
        if (!errorCode) continue
        assert.ok(retryAfter >= 1)
        if (retryAfter > 1)
          assert.equal(
            (await key.call('reads', now + (retryAfter - 1) * SECOND, i % 3 ? 'ann' : undefined)).errorCode,
            errorCode,
          )
        now += retryAfter * SECOND
        assert.equal((await key.call('reads', now, i % 3 ? 'ann' : undefined)).errorCode, undefined)
      }
    })

    test('the 100th rejection within a minute starts a cooldown, also for TEST keys', async () => {
      for (const mode of ['live', 'test'] as const) {
        const key = newKey(limiter, {}, mode)
        assert.deepEqual(counts(await provokeRejections(key, 99, NOW)), { RATE_LIMITED: 99 })
        const last = await key.call('reads', NOW)
        // The rate limit would allow the call earlier, but the key is in cooldown.
        assert.deepEqual([last.errorCode, last.retryAfter], ['RATE_LIMITED', 60])
        assert.deepEqual(last.exceeded, { bucket: 'reads', meter: 'second', startsCooldown: true })
        const { burst, minute } = key.limits.buckets.reads
        const next = await key.call('reads', NOW + 1)
        assert.deepEqual(next, {
          errorCode: 'COOLDOWN',
          exceeded: undefined,
          retryAfter: 60,
          limit: minute,
          remaining: minute - burst,
          reset: 60,
        })
        assert.equal(await limiter.cooldown(key.id, NOW + 1000), 59_000)
        assert.equal((await key.call('campaignWrites', NOW + 59_001)).retryAfter, 1)
        assert.equal((await key.call('reads', NOW + MINUTE)).errorCode, undefined)
        assert.equal(await limiter.cooldown(key.id, NOW + MINUTE), 0)
        assert.equal(await limiter.cooldown('VFN_UNKNOWN', NOW), 0)
      }
    })

    test('rejections count for a rolling minute', async () => {
      const key = newKey(limiter, { buckets: { reads: { day: 1 } } })
      await key.call('reads', NOW)
      await key.many(50, 'reads', NOW)
      await key.many(49, 'reads', NOW + 30_000)
      // The first fifty rejections have just left the window.
      assert.deepEqual(counts(await key.many(50, 'reads', NOW + MINUTE)), { RATE_LIMITED: 50 })
      assert.equal((await key.call('reads', NOW + MINUTE)).errorCode, 'RATE_LIMITED')
      assert.equal((await key.call('reads', NOW + MINUTE)).errorCode, 'COOLDOWN')
    })

    test('calls during a cooldown neither extend it nor count towards the next', async () => {
      const key = newKey(limiter)
      await provokeRejections(key, 100, NOW)
      assert.deepEqual(counts(await key.many(300, 'reads', NOW + 30_000)), { COOLDOWN: 300 })
      assert.equal((await key.call('reads', NOW + 59_999)).retryAfter, 1)
      assert.deepEqual(counts(await provokeRejections(key, 99, NOW + MINUTE)), { RATE_LIMITED: 99 })
    })

    test('a cooldown within an hour of the previous one is twice as long, up to 15 minutes', async () => {
      const key = newKey(limiter)
      let now = NOW
      for (const length of [60, 120, 240, 480, 900, 900]) {
        const decisions = await provokeRejections(key, 100, now)
        assert.equal(decisions.at(-1)!.retryAfter, length)
        now += (length - 1) * SECOND
        assert.equal((await key.call('reads', now)).errorCode, 'COOLDOWN')
        now += SECOND
        assert.equal((await key.call('reads', now)).errorCode, undefined)
        now += MINUTE
      }
      // The last one started 16 minutes ago.
      assert.equal((await provokeRejections(key, 100, now + 44 * MINUTE)).at(-1)!.retryAfter, 900)
      assert.equal((await provokeRejections(key, 100, now + 44 * MINUTE + HOUR + 1)).at(-1)!.retryAfter, 60)
    })

    test('exceeding the browse pages of a rolling hour starts a cooldown', async () => {
      const key = newKey(limiter)
      for (let i = 0; i < 200; i++) assert.equal(await key.recordPage(NOW + i * SECOND), undefined)
      const later = NOW + 30 * MINUTE
      assert.deepEqual(await key.recordPage(later), { code: 'COOLDOWN', retryAfter: 60 })
      assert.deepEqual(await key.recordPage(later + 1), { code: 'COOLDOWN', retryAfter: 60 })
      assert.equal((await key.call('reads', later + 1500)).errorCode, 'COOLDOWN')
      assert.equal((await key.call('reads', later + MINUTE)).errorCode, undefined)
      assert.deepEqual(await key.recordPage(later + MINUTE), { code: 'COOLDOWN', retryAfter: 120 })
      // Rejected pages did not count. The first page has left the window, so one more is allowed.
      assert.equal(await key.recordPage(NOW + HOUR), undefined)
      assert.equal((await key.recordPage(NOW + HOUR))?.code, 'COOLDOWN')
      const testKey = newKey(limiter, {}, 'test')
      for (let i = 0; i < 20; i++) assert.equal(await testKey.recordPage(NOW), undefined)
      assert.equal((await testKey.recordPage(NOW))?.code, 'COOLDOWN')
    })

    test('skills that would exceed the daily cap are all rejected, and seen skills stay available', async () => {
      const key = newKey(limiter)
      for (let id = 0; id < 14_950; id += 50) {
        const ids = Array.from({ length: 50 }, (_, i) => 7 * (id + i) + 1)
        assert.equal(await key.recordSkills([...ids, ...ids], NOW), undefined)
      }
      assert.equal(await key.recordSkills([1, 8, 15], NOW), undefined)
      assert.equal(
        await key.recordSkills(
          Array.from({ length: 49 }, (_, i) => 999_999_999 - i),
          NOW,
        ),
        undefined,
      )
      assert.deepEqual(await key.recordSkills([1, 2, 3], NOW), { code: 'DAILY_CAP', retryAfter: 9 * 3600 })
      assert.equal(await key.recordSkills([2], NOW), undefined)
      assert.equal((await key.recordSkills([3, 2], NOW))?.code, 'DAILY_CAP')
      assert.equal(await key.recordSkills([2, 1, 999_999_999], NOW), undefined)
      assert.equal(await key.recordSkills([], NOW), undefined)
      assert.equal(await key.recordSkills([3, 4], Date.UTC(2026, 4, 4, 18, 30)), undefined)
    })

    test('a clock that is set back slightly does not refill buckets twice', async () => {
      const key = newKey(limiter)
      assert.equal(allowedCount(await key.many(41, 'reads', NOW + 4000)), 40)
      // Moving back and forth within a second and across the start of the minute refills nothing.
      for (let i = 0; i < 20; i++) {
        assert.equal((await key.call('reads', NOW + 3000)).errorCode, 'RATE_LIMITED')
        assert.equal((await key.call('reads', NOW - 500)).errorCode, 'RATE_LIMITED')
        assert.equal((await key.call('reads', NOW + 4000)).errorCode, 'RATE_LIMITED')
      }
      const early = await key.call('reads', NOW - 500)
      assert.deepEqual([early.retryAfter, early.reset], [5, 61])
      assert.equal((await key.call('reads', NOW + 4050)).errorCode, undefined)
    })

    test('servers whose clocks differ by seconds share one minute and one day', async () => {
      const midnight = Date.UTC(2026, 4, 4, 18, 30)
      const key = newKey(limiter, { buckets: { reads: { minute: 10, day: 15 } } })
      let allowed = 0
      for (let i = 0; i < 40; i++) {
        const behind = i % 2 ? 4000 : 0
        if (!(await key.call('reads', midnight + i - behind)).errorCode) allowed++
      }
      assert.equal(allowed, 10)
    })

    test('after the clock is set back over midnight, the new day continues', async () => {
      const midnight = Date.UTC(2026, 4, 4, 18, 30)
      const key = newKey(limiter, { buckets: { workflowWrites: { day: 3 } } })
      assert.equal(allowedCount(await key.many(4, 'workflowWrites', midnight + 1000)), 3)
      assert.equal(await key.recordSkills([1], midnight + 1000), undefined)
      // The previous day does not start again, and moving back and forth resets nothing.
      const before = await key.call('workflowWrites', midnight - HOUR)
      assert.deepEqual([before.errorCode, before.retryAfter], ['RATE_LIMITED', 25 * 3600])
      assert.equal((await key.call('workflowWrites', midnight + 2000)).errorCode, 'RATE_LIMITED')
      const full = Array.from({ length: 15_000 }, (_, i) => i + 1)
      for (let i = 0; i < full.length; i += 500) await key.recordSkills(full.slice(i, i + 500), midnight - HOUR)
      assert.deepEqual(await key.recordSkills([15_001], midnight - HOUR), { code: 'DAILY_CAP', retryAfter: 25 * 3600 })
      assert.equal((await key.recordSkills([15_001], midnight + 2000))?.code, 'DAILY_CAP')
    })

    test('after the clock is set far back, callers wait at most one window, and nothing is refilled', async () => {
      const key = newKey(limiter, { buckets: { reads: { burst: 30, minute: 30 }, workflowWrites: { day: 3 } } })
      await key.many(30, 'reads', NOW)
      await key.many(3, 'workflowWrites', NOW)
      const back = NOW - 3 * DAY + 20 * SECOND
      const jumped = await key.call('reads', back)
      assert.deepEqual([jumped.errorCode, jumped.retryAfter], ['RATE_LIMITED', 40])
      assert.equal((await key.call('reads', back + 39_999)).errorCode, 'RATE_LIMITED')
      assert.equal((await key.call('reads', back + 40_000)).errorCode, undefined)
      const write = await key.call('workflowWrites', back)
      assert.deepEqual([write.errorCode, write.retryAfter], ['RATE_LIMITED', 9 * 3600 - 20])
      assert.equal((await key.call('workflowWrites', back + 9 * HOUR)).errorCode, undefined)
    })

    test('a clock set far back ends a cooldown', async () => {
      const key = newKey(limiter)
      await provokeRejections(key, 100, NOW)
      assert.equal((await key.call('skillsSearch', NOW - HOUR)).errorCode, undefined)
      // The level is still known.
      const again = await provokeRejections(key, 101, NOW - HOUR)
      assert.equal(again.find(({ errorCode }) => errorCode === 'COOLDOWN')?.retryAfter, 120)
    })

    // The model does not support changed limits.
    test('raised limits take effect immediately, and keep the counts', { skip: name === MODEL }, async () => {
      const key = newKey(limiter)
      await key.many(5, 'campaignWrites', NOW)
      assert.equal((await key.call('campaignWrites', NOW)).errorCode, 'RATE_LIMITED')
      const raised = limitsFor('live', { buckets: { campaignWrites: { burst: 9, minute: 100 } } })
      const decisions = await Promise.all(
        Array.from({ length: 9 }, () => limiter.decide(key.id, raised, 'campaignWrites', undefined, NOW)),
      )
      assert.equal(allowedCount(decisions), 4)
      assert.equal(decisions[0]!.remaining, 94)
      // Calls of a day without a limit were not counted.
      await key.many(5, 'reads', NOW)
      const daily = limitsFor('live', { buckets: { reads: { day: 2 } } })
      const reads = await Promise.all(
        Array.from({ length: 4 }, () => limiter.decide(key.id, daily, 'reads', undefined, NOW)),
      )
      assert.equal(allowedCount(reads), 2)
    })
  })
}

suite(MODEL, () => new ModelLimiter())
// No sweeping: the tests share the engine and move back and forth in time.
suite('the in-process engine', () => new MemoryLimiter({ callsPerSweep: Number.MAX_SAFE_INTEGER }))

const skip = redisSkipReason()
for (const cluster of [false, true]) {
  describe(cluster ? 'in cluster mode' : 'with one server', { skip }, () => {
    let server: TestRedis
    let limiter: RedisLimiter
    before(async () => {
      server = await startRedis({ cluster })
      // The same node twice, because several URLs mean a cluster.
      limiter = new RedisLimiter(cluster ? `${server.url},${server.url}` : server.url)
      await limiter.connect()
    })
    after(async () => {
      limiter.close()
      await server[Symbol.asyncDispose]()
    })
    suite('the Redis engine', () => limiter, skip)
  })
}
