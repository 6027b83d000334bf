import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ModelLimiter } from '../../../test/limits/model.ts'
import { redisSkipReason, startRedis, type TestRedis } from '../../../test/limits/private-redis.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import type { Limiter, RateLimitDecision } from './limiter.ts'
import { MemoryLimiter } from './memory.ts'
import { RedisLimiter } from './redis.ts'
import { combineLimits, type KeyOverrides, LIMIT_CLASSES, type LimitClass, limitsFor } from './table.ts'

// The start of a minute, nine hours before midnight in India.
const NOW = Date.UTC(2026, 4, 4, 9, 30)
const liveLimits = limitsFor('live')
const MODEL_NAME = 'the model'

/** Runs all tests against one engine. `open` returns an engine without counts. */
function defineTests(name: string, open: () => Limiter, skip: string | false = false) {
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
    const countByCode = (decisions: RateLimitDecision[]) => {
      const codes = decisions.map(({ errorCode }) => errorCode ?? 'allowed')
      const groups = [...Map.groupBy(codes, (code) => code)]
      return Object.fromEntries(groups.map(([code, all]) => [code, all.length]))
    }
    /** Uses up the burst, then makes `times` more calls, which are rejected. */
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
        const { burst } = liveLimits.buckets[limitClass]
        assert.deepEqual(countByCode(decisions), { allowed: burst, RATE_LIMITED: 100, COOLDOWN: 9900 - burst })
      })
    }

    test('calls spread over minutes are allowed at the rate per second, up to the limit per minute', async () => {
      const key = newKey(limiter, { buckets: { reads: { burst: 1, rate: 8, minute: 470 } } })
      const allowedIn = [0, 0, 0]
      for (let ms = 0; ms < 3 * MINUTE; ms += 125)
        if (!(await key.call('reads', NOW + ms)).errorCode) allowedIn[Math.floor(ms / MINUTE)]!++
      assert.deepEqual(allowedIn, [470, 470, 470])
    })

    test('the keys of an organisation share limits, which more keys do not multiply', async () => {
      const own = limitsFor('live')
      const limits = { ...own, shared: { id: `ORG_${keys++} live`, limits: combineLimits([own], 3) } }
      const callWith = (key: string, now: number) => limiter.decide(key, limits, 'campaignWrites', undefined, now)
      const decisions: RateLimitDecision[] = []
      for (let i = 0; i < 20; i++)
        for (let n = 0; n < own.buckets.campaignWrites.burst; n++)
          decisions.push(await callWith(`${limits.shared.id} ${i}`, NOW))
      assert.equal(allowedCount(decisions), 3 * own.buckets.campaignWrites.burst)
      assert.deepEqual(decisions.at(-1)!.exceeded, {
        bucket: 'campaignWrites',
        meter: 'second',
        shared: true,
        startsCooldown: false,
      })
      assert.equal((await callWith('another key', NOW)).remaining, 30, 'a rejected call is charged to no bucket')
    })

    test('300 rejections of the keys of an organisation start a cooldown of all its keys', async () => {
      const own = limitsFor('live')
      const limits = { ...own, shared: { id: `ORG_${keys++} live`, limits: combineLimits([own], 3) } }
      const codes: (string | undefined)[] = []
      let last: RateLimitDecision | undefined
      for (let i = 0; i < 12; i++)
        for (let n = 0; n < 40; n++) {
          last = await limiter.decide(`${limits.shared.id} ${i}`, limits, 'campaignWrites', undefined, NOW)
          codes.push(last.errorCode)
          if (last.exceeded?.startsSharedCooldown) break
        }
      assert.equal(codes.filter((code) => code === 'RATE_LIMITED').length, 300)
      assert.deepEqual([last!.errorCode, last!.isSharedCooldown], ['COOLDOWN', true])
      assert.equal(await limiter.cooldown('another key', limits, NOW + 1000), 59_000)
      const unrelated = await limiter.decide('another key', own, 'campaignWrites', undefined, NOW + 1000)
      assert.equal(unrelated.errorCode, undefined)
    })

    test('the keys of an organisation share the limits of browse pages and of skills per day', async () => {
      const own = { ...limitsFor('live'), browsePagesPerHour: 4, skillsPerDay: 4 }
      const limits = { ...own, shared: { id: `ORG_${keys++} live`, limits: combineLimits([own], 2) } }
      for (const key of ['A', 'B', 'C', 'D'])
        for (let page = 0; page < 2; page++)
          assert.equal(await limiter.recordPage(`${limits.shared.id} ${key}`, limits, NOW), undefined)
      assert.deepEqual(await limiter.recordPage(`${limits.shared.id} E`, limits, NOW), {
        code: 'COOLDOWN',
        retryAfter: 60,
        shared: true,
      })
      const skillsOf = async (key: string, ids: number[]) =>
        limiter.recordSkills(`${limits.shared.id} ${key}`, limits, ids, NOW)
      assert.equal(await skillsOf('A', [1, 2, 3, 4]), undefined)
      assert.equal(await skillsOf('B', [5, 6, 7, 8]), undefined)
      assert.deepEqual(await skillsOf('C', [9]), { code: 'DAILY_CAP', retryAfter: 9 * 3600, shared: true })
      assert.equal(await skillsOf('C', [1, 2]), undefined, 'skills that another key has seen are counted once')
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
      const earlyWindow = await limiter.minuteWindow(key.id, key.limits, 'mandateWrites', NOW - 500)
      assert.deepEqual([earlyWindow.remaining, earlyWindow.reset], [296, 61])
      const correctedWindow = await limiter.minuteWindow(key.id, key.limits, 'mandateWrites', NOW - HOUR - 500)
      assert.deepEqual([correctedWindow.remaining, correctedWindow.reset], [296, 1])
    })

    test('the whole key has a bucket, and a call that this bucket rejects is charged to no other bucket', async () => {
      const key = newKey(limiter)
      const decisions = await Promise.all(
        LIMIT_CLASSES.map((limitClass) => key.many(liveLimits.buckets[limitClass].burst, limitClass, NOW)),
      )
      assert.equal(allowedCount(decisions.flat()), 300)
      const firstRejection = await key.call('campaignWrites', NOW)
      assert.equal(firstRejection.errorCode, 'RATE_LIMITED')
      assert.equal(firstRejection.remaining, 30)
      // The bucket of the whole key refills one token in 6.67 ms.
      assert.equal((await key.call('campaignWrites', NOW + 6)).errorCode, 'RATE_LIMITED')
      assert.equal((await key.call('campaignWrites', NOW + 7)).errorCode, undefined)
    })

    test('of several meters with the same wait, the first of key, class, recruiter and organisation is reported', async () => {
      const rates = { burst: 1, rate: 1, minute: 100 }
      const exceededWith = async (overrides: KeyOverrides['buckets'], isShared = false) => {
        const own = limitsFor('live', { buckets: overrides! })
        const id = `VFN_${keys++}`
        const limits = isShared ? { ...own, shared: { id: `ORG ${id}`, limits: own } } : own
        await limiter.decide(id, limits, 'reads', 'ann', NOW)
        const { exceeded } = await limiter.decide(id, limits, 'reads', 'ann', NOW)
        return [exceeded?.bucket, exceeded?.shared ?? false]
      }
      assert.deepEqual(await exceededWith({ key: rates, reads: rates, recruiter: rates }, true), ['key', false])
      assert.deepEqual(await exceededWith({ key: rates, reads: rates }), ['key', false])
      assert.deepEqual(await exceededWith({ key: rates, recruiter: rates }), ['key', false])
      assert.deepEqual(await exceededWith({ reads: rates, recruiter: rates }, true), ['reads', false])
      assert.deepEqual(await exceededWith({ reads: rates, recruiter: rates }), ['reads', false])
      assert.deepEqual(await exceededWith({ recruiter: rates }), ['recruiter', false])
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
      const secondDecision = await key.call('campaignWrites', NOW + 1)
      assert.deepEqual(
        [secondDecision.errorCode, secondDecision.retryAfter, secondDecision.limit, secondDecision.remaining],
        ['RATE_LIMITED', 5, 3, 2],
      )
      assert.equal((await key.call('campaignWrites', NOW + 4999)).errorCode, 'RATE_LIMITED')
      assert.equal((await key.call('campaignWrites', NOW + 5000)).errorCode, undefined)
    })

    test('every decision has the minute window of its rate limit class', async () => {
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
      const rejection = { errorCode: 'RATE_LIMITED', exceeded, limit: 30, remaining: 0 }
      assert.deepEqual(await key.call('campaignWrites', NOW + 2000), { ...rejection, retryAfter: 58, reset: 58 })
      assert.deepEqual(await key.call('campaignWrites', NOW + 59_999), { ...rejection, retryAfter: 1, reset: 1 })
      assert.equal((await key.call('campaignWrites', NOW + MINUTE)).remaining, 29)
      assert.equal((await key.call('reads', NOW + MINUTE)).limit, 1200)
    })

    test('the daily limit returns RATE_LIMITED and resets at midnight in India', async () => {
      const key = newKey(limiter, { buckets: { workflowWrites: { day: 3 } } })
      assert.equal(allowedCount(await key.many(4, 'workflowWrites', NOW)), 3)
      const midnight = Date.UTC(2026, 4, 4, 18, 30)
      const lateDecision = await key.call('workflowWrites', midnight - 1500)
      assert.deepEqual([lateDecision.errorCode, lateDecision.retryAfter, lateDecision.reset], ['RATE_LIMITED', 2, 2])
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
        assert.deepEqual(countByCode(await provokeRejections(key, 99, NOW)), { RATE_LIMITED: 99 })
        const hundredthRejection = await key.call('reads', NOW)
        // The rate limit would allow the call earlier, but the key is in cooldown.
        assert.deepEqual([hundredthRejection.errorCode, hundredthRejection.retryAfter], ['RATE_LIMITED', 60])
        assert.deepEqual(hundredthRejection.exceeded, { bucket: 'reads', meter: 'second', startsCooldown: true })
        const { burst, minute } = key.limits.buckets.reads
        const nextDecision = await key.call('reads', NOW + 1)
        assert.deepEqual(nextDecision, {
          errorCode: 'COOLDOWN',
          exceeded: undefined,
          retryAfter: 60,
          limit: minute,
          remaining: minute - burst,
          reset: 60,
        })
        assert.equal(await limiter.cooldown(key.id, key.limits, NOW + 1000), 59_000)
        assert.equal((await key.call('campaignWrites', NOW + 59_001)).retryAfter, 1)
        assert.equal((await key.call('reads', NOW + MINUTE)).errorCode, undefined)
        assert.equal(await limiter.cooldown(key.id, key.limits, NOW + MINUTE), 0)
        assert.equal(await limiter.cooldown('VFN_UNKNOWN', liveLimits, NOW), 0)
      }
    })

    test('rejections count for a rolling minute', async () => {
      const key = newKey(limiter, { buckets: { reads: { day: 1 } } })
      await key.call('reads', NOW)
      await key.many(50, 'reads', NOW)
      await key.many(49, 'reads', NOW + 30_000)
      // The first 50 rejections have just left the window.
      assert.deepEqual(countByCode(await key.many(50, 'reads', NOW + MINUTE)), { RATE_LIMITED: 50 })
      assert.equal((await key.call('reads', NOW + MINUTE)).errorCode, 'RATE_LIMITED')
      assert.equal((await key.call('reads', NOW + MINUTE)).errorCode, 'COOLDOWN')
    })

    test('calls during a cooldown neither extend it nor count towards the next cooldown', async () => {
      const key = newKey(limiter)
      await provokeRejections(key, 100, NOW)
      assert.deepEqual(countByCode(await key.many(300, 'reads', NOW + 30_000)), { COOLDOWN: 300 })
      assert.equal((await key.call('reads', NOW + 59_999)).retryAfter, 1)
      assert.deepEqual(countByCode(await provokeRejections(key, 99, NOW + MINUTE)), { RATE_LIMITED: 99 })
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
      // The last cooldown started 16 minutes ago.
      assert.equal((await provokeRejections(key, 100, now + 44 * MINUTE)).at(-1)!.retryAfter, 900)
      assert.equal((await provokeRejections(key, 100, now + 44 * MINUTE + HOUR + 1)).at(-1)!.retryAfter, 60)
    })

    test('exceeding the browse pages of a rolling hour starts a cooldown', async () => {
      const key = newKey(limiter)
      for (let i = 0; i < 200; i++) assert.equal(await key.recordPage(NOW + i * SECOND), undefined)
      const laterTime = NOW + 30 * MINUTE
      assert.deepEqual(await key.recordPage(laterTime), { code: 'COOLDOWN', retryAfter: 60 })
      assert.deepEqual(await key.recordPage(laterTime + 1), { code: 'COOLDOWN', retryAfter: 60 })
      assert.equal((await key.call('reads', laterTime + 1500)).errorCode, 'COOLDOWN')
      assert.equal((await key.call('reads', laterTime + MINUTE)).errorCode, undefined)
      assert.deepEqual(await key.recordPage(laterTime + MINUTE), { code: 'COOLDOWN', retryAfter: 120 })
      // Rejected pages were not counted. The first page has left the window, so one more page is allowed.
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
      const earlyDecision = await key.call('reads', NOW - 500)
      assert.deepEqual([earlyDecision.retryAfter, earlyDecision.reset], [5, 61])
      assert.equal((await key.call('reads', NOW + 4050)).errorCode, undefined)
    })

    test('servers whose clocks differ by seconds share one minute and one day', async () => {
      const midnight = Date.UTC(2026, 4, 4, 18, 30)
      const key = newKey(limiter, { buckets: { reads: { minute: 10, day: 15 } } })
      let allowed = 0
      for (let i = 0; i < 40; i++) {
        const behindMs = i % 2 ? 4000 : 0
        if (!(await key.call('reads', midnight + i - behindMs)).errorCode) allowed++
      }
      assert.equal(allowed, 10)
    })

    test('after the clock is set back over midnight, the new day continues', async () => {
      const midnight = Date.UTC(2026, 4, 4, 18, 30)
      const key = newKey(limiter, { buckets: { workflowWrites: { day: 3 } } })
      assert.equal(allowedCount(await key.many(4, 'workflowWrites', midnight + 1000)), 3)
      assert.equal(await key.recordSkills([1], midnight + 1000), undefined)
      // The previous day does not start again, and moving back and forth resets nothing.
      const earlierDecision = await key.call('workflowWrites', midnight - HOUR)
      assert.deepEqual([earlierDecision.errorCode, earlierDecision.retryAfter], ['RATE_LIMITED', 25 * 3600])
      assert.equal((await key.call('workflowWrites', midnight + 2000)).errorCode, 'RATE_LIMITED')
      const skillIds = Array.from({ length: 15_000 }, (_, i) => i + 1)
      for (let i = 0; i < skillIds.length; i += 500) await key.recordSkills(skillIds.slice(i, i + 500), midnight - HOUR)
      assert.deepEqual(await key.recordSkills([15_001], midnight - HOUR), { code: 'DAILY_CAP', retryAfter: 25 * 3600 })
      assert.equal((await key.recordSkills([15_001], midnight + 2000))?.code, 'DAILY_CAP')
    })

    test('after the clock is set far back, callers wait at most one window, and nothing is refilled', async () => {
      const key = newKey(limiter, { buckets: { reads: { burst: 30, minute: 30 }, workflowWrites: { day: 3 } } })
      await key.many(30, 'reads', NOW)
      await key.many(3, 'workflowWrites', NOW)
      const earlierTime = NOW - 3 * DAY + 20 * SECOND
      const readDecision = await key.call('reads', earlierTime)
      assert.deepEqual([readDecision.errorCode, readDecision.retryAfter], ['RATE_LIMITED', 40])
      assert.equal((await key.call('reads', earlierTime + 39_999)).errorCode, 'RATE_LIMITED')
      assert.equal((await key.call('reads', earlierTime + 40_000)).errorCode, undefined)
      const writeDecision = await key.call('workflowWrites', earlierTime)
      assert.deepEqual([writeDecision.errorCode, writeDecision.retryAfter], ['RATE_LIMITED', 9 * 3600 - 20])
      assert.equal((await key.call('workflowWrites', earlierTime + 9 * HOUR)).errorCode, undefined)
    })

    test('a clock set far back ends a cooldown', async () => {
      const key = newKey(limiter)
      await provokeRejections(key, 100, NOW)
      assert.equal((await key.call('skillsSearch', NOW - HOUR)).errorCode, undefined)
      // The cooldown level is not reset.
      const decisions = await provokeRejections(key, 101, NOW - HOUR)
      assert.equal(decisions.find(({ errorCode }) => errorCode === 'COOLDOWN')?.retryAfter, 120)
    })

    // The model does not support changed limits.
    test('raised limits take effect immediately, and keep the counts', { skip: name === MODEL_NAME }, async () => {
      const key = newKey(limiter)
      await key.many(5, 'campaignWrites', NOW)
      assert.equal((await key.call('campaignWrites', NOW)).errorCode, 'RATE_LIMITED')
      const raisedLimits = limitsFor('live', { buckets: { campaignWrites: { burst: 9, minute: 100 } } })
      const decisions = await Promise.all(
        Array.from({ length: 9 }, () => limiter.decide(key.id, raisedLimits, 'campaignWrites', undefined, NOW)),
      )
      assert.equal(allowedCount(decisions), 4)
      assert.equal(decisions[0]!.remaining, 94)
      // Calls were not counted per day while there was no daily limit.
      await key.many(5, 'reads', NOW)
      const dailyLimits = limitsFor('live', { buckets: { reads: { day: 2 } } })
      const readDecisions = await Promise.all(
        Array.from({ length: 4 }, () => limiter.decide(key.id, dailyLimits, 'reads', undefined, NOW)),
      )
      assert.equal(allowedCount(readDecisions), 2)
    })
  })
}

defineTests(MODEL_NAME, () => new ModelLimiter())
// No sweeping: the tests share the engine and move back and forth in time.
defineTests('the in-process engine', () => new MemoryLimiter({ callsPerSweep: Number.MAX_SAFE_INTEGER }))

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
    defineTests('the Redis engine', () => limiter, skip)
  })
}
