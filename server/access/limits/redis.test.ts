import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { noRedis, type PrivateRedis, startRedis } from '../../../test/limits/private-redis.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { RedisLimiter } from './redis.ts'
import { limitsFor } from './table.ts'

const NOW = Date.UTC(2026, 4, 4, 9, 30)
const live = limitsFor('live')
const skip = noRedis()

describe('the engine in Redis', { skip }, () => {
  let server: PrivateRedis
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

  /** How often a command came from a client; what scripts call is counted under its own name. */
  async function calls(command: string) {
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await admin.info('commandstats'))?.[1] ?? 0)
  }

  test('a decision is one round trip', async () => {
    await limiter.decide('trips', live, 'reads', 'ann', NOW)
    await admin.config('RESETSTAT')
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => limiter.decide('trips', live, 'reads', i % 2 ? 'ann' : undefined, NOW)),
    )
    assert.deepEqual([await calls('evalsha'), await calls('eval')], [500, 0])
  })

  test('a server that has lost its scripts is given them again', async () => {
    await limiter.decide('lost', live, 'campaignWrites', undefined, NOW)
    await admin.script('FLUSH')
    const decisions = await Promise.all(
      Array.from({ length: 9 }, () => limiter.decide('lost', live, 'campaignWrites', undefined, NOW)),
    )
    assert.equal(decisions.filter(({ refused }) => !refused).length, 4)
  })

  test('concurrent calls of several processes pass exactly what the table allows', async () => {
    const processes = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const own = new RedisLimiter(server.url)
        await own.connect()
        return own
      }),
    )
    const decisions = await Promise.all(
      Array.from({ length: 400 }, (_, i) => processes[i % 8]!.decide('shared', live, 'mandateWrites', `${i % 3}`, NOW)),
    )
    for (const own of processes) own.close()
    assert.equal(decisions.filter(({ refused }) => !refused).length, 15)
    assert.equal(decisions.filter(({ refused }) => refused === 'RATE_LIMITED').length, 100)
  })

  test('everything expires, and what lasts an hour or a day is kept as long', async () => {
    await admin.flushall()
    for (let i = 0; i < 9; i++) await limiter.decide('expiry', live, 'campaignWrites', 'ann', NOW)
    await limiter.browsePage('expiry', live, NOW)
    await limiter.seeSkills('expiry', live, [1, 2, 3], NOW)
    const rules = (['fixed', 'rolling', 'tokens'] as const).map((kind) => ({
      name: kind,
      kind,
      limit: 1,
      seconds: 60,
      listed: true,
    }))
    await limiter.take('192.0.2.1', rules, NOW)
    await limiter.limited(NOW)
    const lives = new Map<string, number>()
    for (const key of await admin.keys('*')) lives.set(key.replace('attestry:limits:', ''), await admin.pttl(key))
    assert.deepEqual([...lives.keys()].sort(), [
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
    for (const [key, ms] of lives) assert.ok(ms > 30_000 && ms <= DAY + 2 * HOUR, `${key} lives ${ms} ms`)
    for (const key of ['{expiry}', '{expiry}:day', '{expiry}:skills']) assert.ok(lives.get(key)! > DAY, key)
    assert.ok(lives.get('{expiry}:pages')! > HOUR)
  })

  test('counts survive a restart of the process, and bytes that nobody can read count as none', async () => {
    for (let i = 0; i < 5; i++) await limiter.decide('restart', live, 'campaignWrites', undefined, NOW)
    const next = new RedisLimiter(server.url)
    await next.connect()
    assert.equal((await next.decide('restart', live, 'campaignWrites', undefined, NOW)).refused, 'RATE_LIMITED')
    await admin.set('attestry:limits:{restart}', 'from another version')
    assert.equal((await next.decide('restart', live, 'campaignWrites', undefined, NOW)).refused, undefined)
    next.close()
  })
})
