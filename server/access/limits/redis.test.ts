import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { redisSkipReason, startRedis, type TestRedis } from '../../../test/limits/private-redis.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { RedisLimiter } from './redis.ts'
import { limitsFor } from './table.ts'

const NOW = Date.UTC(2026, 4, 4, 9, 30)
const liveLimits = limitsFor('live')
const skip = redisSkipReason()

describe('the Redis engine', { skip }, () => {
  let server: TestRedis
  let limiter: RedisLimiter
  let admin: Redis
  before(async () => {
    server = await startRedis()
    admin = new Redis(server.url)
    limiter = new RedisLimiter(server.url)
    await limiter.connect()
  })
  after(async () => {
    limiter.close()
    admin.disconnect()
    await server[Symbol.asyncDispose]()
  })

  /** Returns how often clients have sent this Redis command. */
  async function countCommand(command: string) {
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await admin.info('commandstats'))?.[1] ?? 0)
  }

  test('a decision takes one round trip to Redis', async () => {
    await limiter.decide('trips', liveLimits, 'reads', 'ann', NOW)
    await admin.config('RESETSTAT')
    await Promise.all(
      Array.from({ length: 500 }, (_, i) =>
        limiter.decide('trips', liveLimits, 'reads', i % 2 ? 'ann' : undefined, NOW),
      ),
    )
    assert.deepEqual([await countCommand('evalsha'), await countCommand('eval')], [500, 0])
  })

  test('scripts are sent again to a server that has lost them', async () => {
    await limiter.decide('lost', liveLimits, 'campaignWrites', undefined, NOW)
    await admin.script('FLUSH')
    const decisions = await Promise.all(
      Array.from({ length: 9 }, () => limiter.decide('lost', liveLimits, 'campaignWrites', undefined, NOW)),
    )
    assert.equal(decisions.filter(({ errorCode }) => !errorCode).length, 4)
  })

  test('concurrent calls of several processes are allowed exactly up to the limits', async () => {
    const limiters = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const limiter = new RedisLimiter(server.url)
        await limiter.connect()
        return limiter
      }),
    )
    const decisions = await Promise.all(
      Array.from({ length: 400 }, (_, i) =>
        limiters[i % 8]!.decide('shared', liveLimits, 'mandateWrites', `${i % 3}`, NOW),
      ),
    )
    for (const limiter of limiters) limiter.close()
    assert.equal(decisions.filter(({ errorCode }) => !errorCode).length, 15)
    assert.equal(decisions.filter(({ errorCode }) => errorCode === 'RATE_LIMITED').length, 100)
  })

  test('all Redis keys expire, those of hourly and daily limits not before their window ends', async () => {
    await admin.flushall()
    for (let i = 0; i < 9; i++) await limiter.decide('expiry', liveLimits, 'campaignWrites', 'ann', NOW)
    await limiter.recordPage('expiry', liveLimits, NOW)
    await limiter.recordSkills('expiry', liveLimits, [1, 2, 3], NOW)
    const rules = (['fixed', 'rolling', 'tokens'] as const).map((kind) => ({
      name: kind,
      kind,
      limit: 1,
      seconds: 60,
      listed: true,
    }))
    await limiter.take('192.0.2.1', rules, NOW)
    await limiter.listLimited(NOW)
    const ttls = new Map<string, number>()
    for (const key of await admin.keys('*')) ttls.set(key.replace('attestry:limits:', ''), await admin.pttl(key))
    assert.deepEqual([...ttls.keys()].sort(), [
      '{192.0.2.1}:fixed',
      '{192.0.2.1}:rolling',
      '{192.0.2.1}:tokens',
      '{expiry}',
      '{expiry}:day',
      '{expiry}:for:ann',
      '{expiry}:pages',
      '{expiry}:refusals',
      '{expiry}:skills',
      '{limited}',
    ])
    for (const [key, ms] of ttls) assert.ok(ms > 30_000 && ms <= DAY + 2 * HOUR, `${key} expires in ${ms} ms`)
    for (const key of ['{expiry}', '{expiry}:day', '{expiry}:skills']) assert.ok(ttls.get(key)! > DAY, key)
    assert.ok(ttls.get('{expiry}:pages')! > HOUR)
  })

  test('counts survive a restart of the process, and unreadable values count as empty', async () => {
    for (let i = 0; i < 5; i++) await limiter.decide('restart', liveLimits, 'campaignWrites', undefined, NOW)
    const nextLimiter = new RedisLimiter(server.url)
    await nextLimiter.connect()
    assert.equal(
      (await nextLimiter.decide('restart', liveLimits, 'campaignWrites', undefined, NOW)).errorCode,
      'RATE_LIMITED',
    )
    await admin.set('attestry:limits:{restart}', 'from another version')
    assert.equal(
      (await nextLimiter.decide('restart', liveLimits, 'campaignWrites', undefined, NOW)).errorCode,
      undefined,
    )
    nextLimiter.close()
  })
})
