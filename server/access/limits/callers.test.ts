import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ModelLimiter } from '../../../test/limits/model.ts'
import { redisSkipReason, startRedis, type TestRedis } from '../../../test/limits/private-redis.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import type { Limiter, Rule } from './limiter.ts'
import { MemoryLimiter } from './memory.ts'
import { RedisLimiter } from './redis.ts'

const NOW = Date.UTC(2026, 4, 4, 9, 30, 17)
const GLOBAL: Rule = { name: 'global', kind: 'fixed', limit: 100, seconds: 900, listed: true }
const SEARCH: Rule = { name: 'search', kind: 'fixed', limit: 15, seconds: 60, listed: true }
const SCRAPING: Rule = { name: 'scraping', kind: 'rolling', limit: 30, seconds: 300, listed: true }
const SESSION_KEY: Rule = { name: 'session-key', kind: 'tokens', limit: 50, seconds: 1 }
const FAILED: Rule = { name: 'failed', kind: 'fixed', limit: 60, seconds: 60 }

function suite(name: string, open: () => Limiter, skip: string | false = false) {
  describe(name, { skip }, () => {
    let limiter: Limiter
    let callers = 0
    before(() => {
      limiter = open()
    })
    /** Returns a new caller. */
    function newCaller() {
      const caller = `198.51.100.${callers++}`
      const takeMany = async (times: number, rules: Rule[], now: number) => {
        const results = await Promise.all(Array.from({ length: times }, () => limiter.take(caller, rules, now)))
        return results.filter(({ rejectedBy }) => !rejectedBy).length
      }
      const take = async (rules: Rule[], now: number) => limiter.take(caller, rules, now)
      const peek = async (rules: Rule[], now: number) => limiter.peek(caller, rules, now)
      const charge = async (rules: Rule[], now: number) => limiter.charge(caller, rules, now)
      return { caller, takeMany, take, peek, charge }
    }

    test('a fixed window starts with the first call', async () => {
      const { takeMany, take } = newCaller()
      assert.deepEqual(await take([SEARCH], NOW), {
        rejectedBy: undefined,
        retryAfter: 0,
        states: [{ rule: 'search', limit: 15, remaining: 14, reset: 60 }],
      })
      assert.equal(await takeMany(50, [SEARCH], NOW + 59_000), 14)
      assert.deepEqual(await take([SEARCH], NOW + 59_500), {
        rejectedBy: 'search',
        retryAfter: 1,
        states: [{ rule: 'search', limit: 15, remaining: 0, reset: 1 }],
      })
      assert.equal(await takeMany(50, [SEARCH], NOW + 61_000), 15)
      assert.equal((await take([SEARCH], NOW + 61_000)).retryAfter, 60)
    })

    test('a rolling window counts the calls of the last seconds', async () => {
      const { takeMany, take } = newCaller()
      for (let i = 0; i < 30; i++) assert.equal((await take([SCRAPING], NOW + i * SECOND)).rejectedBy, undefined)
      assert.equal((await take([SCRAPING], NOW + 100 * SECOND)).retryAfter, 200)
      assert.equal((await take([SCRAPING], NOW + 300 * SECOND - 1)).rejectedBy, 'scraping')
      assert.equal(await takeMany(5, [SCRAPING], NOW + 300 * SECOND), 1)
      assert.equal(await takeMany(5, [SCRAPING], NOW + 303 * SECOND), 3)
      assert.equal(await takeMany(50, [SCRAPING], NOW + HOUR), 30)
    })

    test('a token bucket refills by the second', async () => {
      const { takeMany, take } = newCaller()
      assert.equal(await takeMany(60, [SESSION_KEY], NOW), 50)
      assert.equal((await take([SESSION_KEY], NOW)).retryAfter, 1)
      assert.equal(await takeMany(60, [SESSION_KEY], NOW + 100), 5)
      assert.equal(await takeMany(60, [SESSION_KEY], NOW + 10_000), 50)
    })

    test('a call rejected by one rule is not charged to any rule', async () => {
      const { takeMany, take, peek } = newCaller()
      assert.equal(await takeMany(40, [GLOBAL, SCRAPING, SEARCH], NOW), 15)
      const rejected = await take([GLOBAL, SCRAPING, SEARCH], NOW)
      assert.equal(rejected.rejectedBy, 'search')
      assert.deepEqual(
        rejected.states.map(({ remaining }) => remaining),
        [85, 15, 0],
      )
      assert.equal(await takeMany(40, [GLOBAL, SCRAPING], NOW), 15)
      // The result has the rule with the longest wait.
      assert.deepEqual((await peek([SEARCH, SCRAPING, GLOBAL], NOW)).rejectedBy, 'scraping')
      assert.equal((await peek([SEARCH, SCRAPING, GLOBAL], NOW)).retryAfter, 300)
      assert.equal(await takeMany(99, [GLOBAL], NOW + MINUTE), 70)
    })

    test('peek charges nothing, and charge ignores exhausted rules', async () => {
      const { peek, charge } = newCaller()
      for (let i = 0; i < 60; i++) {
        assert.equal((await peek([FAILED], NOW)).rejectedBy, undefined)
        assert.equal((await charge([FAILED], NOW)).rejectedBy, undefined)
      }
      assert.deepEqual(await peek([FAILED], NOW + 1), {
        rejectedBy: 'failed',
        retryAfter: 60,
        states: [{ rule: 'failed', limit: 60, remaining: 0, reset: 60 }],
      })
      for (let i = 0; i < 100; i++) await charge([FAILED, SCRAPING, SESSION_KEY], NOW + 30_000)
      assert.equal((await peek([FAILED], NOW + MINUTE)).rejectedBy, undefined)
      assert.equal((await peek([SESSION_KEY], NOW + 30_020)).rejectedBy, undefined)
      assert.equal((await peek([SCRAPING], NOW + 329_999)).rejectedBy, 'scraping')
      assert.equal((await peek([SCRAPING], NOW + 330_000)).rejectedBy, undefined)
    })

    test('limited callers are listed until their next call is allowed', async () => {
      const { caller, takeMany } = newCaller()
      const mine = async (now: number) => (await limiter.listLimited(now)).filter((entry) => entry.caller === caller)
      await takeMany(14, [GLOBAL, SEARCH], NOW)
      assert.deepEqual(await mine(NOW), [])
      await takeMany(1, [GLOBAL, SEARCH, SCRAPING], NOW)
      assert.deepEqual(await mine(NOW), [{ caller, rule: 'search', until: NOW + MINUTE }])
      await takeMany(29, [SCRAPING, FAILED, SESSION_KEY], NOW + SECOND)
      await takeMany(99, [FAILED, SESSION_KEY], NOW + SECOND)
      const both = await mine(NOW + SECOND)
      assert.deepEqual(
        both.sort((a, b) => a.until - b.until),
        [
          { caller, rule: 'search', until: NOW + MINUTE },
          { caller, rule: 'scraping', until: NOW + 5 * MINUTE },
        ],
      )
      assert.deepEqual(await mine(NOW + MINUTE), [{ caller, rule: 'scraping', until: NOW + 5 * MINUTE }])
      assert.deepEqual(await mine(NOW + 5 * MINUTE), [])
    })

    test('a clock that is set back slightly does not refill meters', async () => {
      const { takeMany } = newCaller()
      assert.equal(await takeMany(99, [SEARCH], NOW), 15)
      assert.equal(await takeMany(99, [SEARCH], NOW - 4000), 0)
      assert.equal(await takeMany(99, [SCRAPING], NOW), 30)
      assert.equal(await takeMany(99, [SCRAPING], NOW - 20_000), 0)
      assert.equal(await takeMany(99, [SESSION_KEY], NOW), 50)
      for (let i = 0; i < 9; i++) assert.equal(await takeMany(9, [SESSION_KEY], NOW - (i % 3) * 2000), 0)
    })

    test('after a clock is set far back, callers wait at most one window', async () => {
      const { takeMany, take } = newCaller()
      const back = NOW - 30 * HOUR
      assert.equal(await takeMany(99, [SEARCH], NOW), 15)
      assert.equal((await take([SEARCH], back)).retryAfter, 60)
      assert.equal(await takeMany(99, [SEARCH], back + 59_999), 0)
      assert.equal(await takeMany(99, [SEARCH], back + MINUTE), 15)
      assert.equal(await takeMany(99, [SCRAPING], NOW), 30)
      assert.equal((await take([SCRAPING], back)).retryAfter, 300)
      assert.equal(await takeMany(99, [SCRAPING], back + 300 * SECOND), 30)
      assert.equal(await takeMany(99, [SESSION_KEY], NOW), 50)
      assert.equal(await takeMany(99, [SESSION_KEY], back), 0)
      assert.equal(await takeMany(99, [SESSION_KEY], back + 20), 1)
    })
  })
}

suite('the model', () => new ModelLimiter())
suite('the in-process engine', () => new MemoryLimiter())

const skip = redisSkipReason()
for (const cluster of [false, true]) {
  describe(cluster ? 'in cluster mode' : 'with one server', { skip }, () => {
    let server: TestRedis
    let limiter: RedisLimiter
    before(async () => {
      server = await startRedis({ cluster })
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
