import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ModelLimiter } from '../../../test/limits/model.ts'
import { redisSkipReason, startRedis, type TestRedis } from '../../../test/limits/private-redis.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import type { Limiter, Rule } from './limiter.ts'
import { MemoryLimiter } from './memory.ts'
import { RedisLimiter } from './redis.ts'

const NOW = Date.UTC(2026, 4, 4, 9, 30, 17)
const GLOBAL_RULE: Rule = { name: 'global', kind: 'fixed', limit: 100, seconds: 900, listed: true }
const SEARCH_RULE: Rule = { name: 'search', kind: 'fixed', limit: 15, seconds: 60, listed: true }
const SCRAPING_RULE: Rule = { name: 'scraping', kind: 'rolling', limit: 30, seconds: 300, listed: true }
const SESSION_KEY_RULE: Rule = { name: 'session-key', kind: 'tokens', limit: 50, seconds: 1 }
const FAILED_CALL_RULE: Rule = { name: 'failed', kind: 'fixed', limit: 60, seconds: 60 }

function defineTests(name: string, open: () => Limiter, skip: string | false = false) {
  describe(name, { skip }, () => {
    let limiter: Limiter
    let callers = 0
    before(() => {
      limiter = open()
    })
    /** Returns a new caller and functions that call the limiter for it. `takeConcurrently` returns the number of allowed calls. */
    function newCaller() {
      const caller = `198.51.100.${callers++}`
      const takeConcurrently = async (times: number, rules: Rule[], now: number) => {
        const results = await Promise.all(Array.from({ length: times }, () => limiter.take(caller, rules, now)))
        return results.filter(({ rejectedBy }) => !rejectedBy).length
      }
      const take = async (rules: Rule[], now: number) => limiter.take(caller, rules, now)
      const peek = async (rules: Rule[], now: number) => limiter.peek(caller, rules, now)
      const charge = async (rules: Rule[], now: number) => limiter.charge(caller, rules, now)
      return { caller, takeConcurrently, take, peek, charge }
    }

    test('a fixed window starts with the first call', async () => {
      const { takeConcurrently, take } = newCaller()
      assert.deepEqual(await take([SEARCH_RULE], NOW), {
        rejectedBy: undefined,
        retryAfter: 0,
        states: [{ rule: 'search', limit: 15, remaining: 14, reset: 60 }],
      })
      assert.equal(await takeConcurrently(50, [SEARCH_RULE], NOW + 59_000), 14)
      assert.deepEqual(await take([SEARCH_RULE], NOW + 59_500), {
        rejectedBy: 'search',
        retryAfter: 1,
        states: [{ rule: 'search', limit: 15, remaining: 0, reset: 1 }],
      })
      assert.equal(await takeConcurrently(50, [SEARCH_RULE], NOW + 61_000), 15)
      assert.equal((await take([SEARCH_RULE], NOW + 61_000)).retryAfter, 60)
    })

    test('a rolling window counts the calls of its last seconds, here 300', async () => {
      const { takeConcurrently, take } = newCaller()
      for (let i = 0; i < 30; i++) assert.equal((await take([SCRAPING_RULE], NOW + i * SECOND)).rejectedBy, undefined)
      assert.equal((await take([SCRAPING_RULE], NOW + 100 * SECOND)).retryAfter, 200)
      assert.equal((await take([SCRAPING_RULE], NOW + 300 * SECOND - 1)).rejectedBy, 'scraping')
      assert.equal(await takeConcurrently(5, [SCRAPING_RULE], NOW + 300 * SECOND), 1)
      assert.equal(await takeConcurrently(5, [SCRAPING_RULE], NOW + 303 * SECOND), 3)
      assert.equal(await takeConcurrently(50, [SCRAPING_RULE], NOW + HOUR), 30)
    })

    test('a token bucket refills by the second', async () => {
      const { takeConcurrently, take } = newCaller()
      assert.equal(await takeConcurrently(60, [SESSION_KEY_RULE], NOW), 50)
      assert.equal((await take([SESSION_KEY_RULE], NOW)).retryAfter, 1)
      assert.equal(await takeConcurrently(60, [SESSION_KEY_RULE], NOW + 100), 5)
      assert.equal(await takeConcurrently(60, [SESSION_KEY_RULE], NOW + 10_000), 50)
    })

    test('a call rejected by one rule is not charged to any rule', async () => {
      const { takeConcurrently, take, peek } = newCaller()
      assert.equal(await takeConcurrently(40, [GLOBAL_RULE, SCRAPING_RULE, SEARCH_RULE], NOW), 15)
      const decision = await take([GLOBAL_RULE, SCRAPING_RULE, SEARCH_RULE], NOW)
      assert.equal(decision.rejectedBy, 'search')
      assert.deepEqual(
        decision.states.map(({ remaining }) => remaining),
        [85, 15, 0],
      )
      assert.equal(await takeConcurrently(40, [GLOBAL_RULE, SCRAPING_RULE], NOW), 15)
      // `rejectedBy` is the exhausted rule with the longest wait.
      assert.deepEqual((await peek([SEARCH_RULE, SCRAPING_RULE, GLOBAL_RULE], NOW)).rejectedBy, 'scraping')
      assert.equal((await peek([SEARCH_RULE, SCRAPING_RULE, GLOBAL_RULE], NOW)).retryAfter, 300)
      assert.equal(await takeConcurrently(99, [GLOBAL_RULE], NOW + MINUTE), 70)
    })

    test('peek charges nothing, and charge ignores exhausted rules', async () => {
      const { peek, charge } = newCaller()
      for (let i = 0; i < 60; i++) {
        assert.equal((await peek([FAILED_CALL_RULE], NOW)).rejectedBy, undefined)
        assert.equal((await charge([FAILED_CALL_RULE], NOW)).rejectedBy, undefined)
      }
      assert.deepEqual(await peek([FAILED_CALL_RULE], NOW + 1), {
        rejectedBy: 'failed',
        retryAfter: 60,
        states: [{ rule: 'failed', limit: 60, remaining: 0, reset: 60 }],
      })
      for (let i = 0; i < 100; i++) await charge([FAILED_CALL_RULE, SCRAPING_RULE, SESSION_KEY_RULE], NOW + 30_000)
      assert.equal((await peek([FAILED_CALL_RULE], NOW + MINUTE)).rejectedBy, undefined)
      assert.equal((await peek([SESSION_KEY_RULE], NOW + 30_020)).rejectedBy, undefined)
      assert.equal((await peek([SCRAPING_RULE], NOW + 329_999)).rejectedBy, 'scraping')
      assert.equal((await peek([SCRAPING_RULE], NOW + 330_000)).rejectedBy, undefined)
    })

    test('limited callers are listed until their next call is allowed', async () => {
      const { caller, takeConcurrently } = newCaller()
      const ownEntries = async (now: number) =>
        (await limiter.listLimited(now)).filter((entry) => entry.caller === caller)
      await takeConcurrently(14, [GLOBAL_RULE, SEARCH_RULE], NOW)
      assert.deepEqual(await ownEntries(NOW), [])
      await takeConcurrently(1, [GLOBAL_RULE, SEARCH_RULE, SCRAPING_RULE], NOW)
      assert.deepEqual(await ownEntries(NOW), [{ caller, rule: 'search', until: NOW + MINUTE }])
      await takeConcurrently(29, [SCRAPING_RULE, FAILED_CALL_RULE, SESSION_KEY_RULE], NOW + SECOND)
      await takeConcurrently(99, [FAILED_CALL_RULE, SESSION_KEY_RULE], NOW + SECOND)
      const entriesOfBothRules = await ownEntries(NOW + SECOND)
      assert.deepEqual(
        entriesOfBothRules.sort((a, b) => a.until - b.until),
        [
          { caller, rule: 'search', until: NOW + MINUTE },
          { caller, rule: 'scraping', until: NOW + 5 * MINUTE },
        ],
      )
      assert.deepEqual(await ownEntries(NOW + MINUTE), [{ caller, rule: 'scraping', until: NOW + 5 * MINUTE }])
      assert.deepEqual(await ownEntries(NOW + 5 * MINUTE), [])
    })

    test('a clock that is set back slightly does not refill meters', async () => {
      const { takeConcurrently } = newCaller()
      assert.equal(await takeConcurrently(99, [SEARCH_RULE], NOW), 15)
      assert.equal(await takeConcurrently(99, [SEARCH_RULE], NOW - 4000), 0)
      assert.equal(await takeConcurrently(99, [SCRAPING_RULE], NOW), 30)
      assert.equal(await takeConcurrently(99, [SCRAPING_RULE], NOW - 20_000), 0)
      assert.equal(await takeConcurrently(99, [SESSION_KEY_RULE], NOW), 50)
      for (let i = 0; i < 9; i++) assert.equal(await takeConcurrently(9, [SESSION_KEY_RULE], NOW - (i % 3) * 2000), 0)
    })

    test('after a clock is set far back, callers wait at most one window', async () => {
      const { takeConcurrently, take } = newCaller()
      const earlierTime = NOW - 30 * HOUR
      assert.equal(await takeConcurrently(99, [SEARCH_RULE], NOW), 15)
      assert.equal((await take([SEARCH_RULE], earlierTime)).retryAfter, 60)
      assert.equal(await takeConcurrently(99, [SEARCH_RULE], earlierTime + 59_999), 0)
      assert.equal(await takeConcurrently(99, [SEARCH_RULE], earlierTime + MINUTE), 15)
      assert.equal(await takeConcurrently(99, [SCRAPING_RULE], NOW), 30)
      assert.equal((await take([SCRAPING_RULE], earlierTime)).retryAfter, 300)
      assert.equal(await takeConcurrently(99, [SCRAPING_RULE], earlierTime + 300 * SECOND), 30)
      assert.equal(await takeConcurrently(99, [SESSION_KEY_RULE], NOW), 50)
      assert.equal(await takeConcurrently(99, [SESSION_KEY_RULE], earlierTime), 0)
      assert.equal(await takeConcurrently(99, [SESSION_KEY_RULE], earlierTime + 20), 1)
    })
  })
}

defineTests('the model', () => new ModelLimiter())
defineTests('the in-process engine', () => new MemoryLimiter())

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
    defineTests('the Redis engine', () => limiter, skip)
  })
}
