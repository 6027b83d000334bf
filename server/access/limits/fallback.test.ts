import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { noRedis, type PrivateRedis, startRedis } from '../../../test/limits/private-redis.ts'
import { FallbackLimiter, type SharedLimiter } from './fallback.ts'
import { MemoryLimiter } from './memory.ts'
import { RedisLimiter } from './redis.ts'
import { limitsFor } from './table.ts'

const NOW = Date.UTC(2026, 4, 4, 9, 30)
const live = limitsFor('live')

/** A shared engine that does as it is told: counts in its own memory, fails, or never answers. */
class Puppet extends MemoryLimiter {
  mood: 'works' | 'fails' | 'hangs' = 'works'
  asked = 0

  override decide(...args: Parameters<MemoryLimiter['decide']>): never {
    this.asked++
    return this.#answer(() => super.decide(...args)) as never
  }

  connect = () => this.#answer(() => {})
  probe = () => this.#answer(() => {})

  async #answer<T>(value: () => T): Promise<T> {
    if (this.mood === 'fails') throw new Error('connection lost')
    if (this.mood === 'hangs') await new Promise(() => {})
    return value()
  }
}

function open(shared: SharedLimiter, options: { patience?: number; probeEvery?: number } = {}) {
  const switches: string[] = []
  const limiter = new FallbackLimiter(shared, new MemoryLimiter(), {
    onSwitch: (to, reason) => switches.push(reason ? `${to}: ${reason}` : to),
    patience: 30,
    probeEvery: 10,
    ...options,
  })
  const call = async () => limiter.decide('key', live, 'campaignWrites', undefined, NOW)
  return { limiter, switches, call }
}

async function until(condition: () => boolean) {
  for (let i = 0; i < 1000 && !condition(); i++) await pause(5)
  assert.ok(condition())
}

test('while the shared engine answers, it alone decides, and nothing is reported', async () => {
  const shared = new Puppet()
  const { limiter, switches, call } = open(shared as SharedLimiter)
  await limiter.ready
  for (let i = 0; i < 6; i++) await call()
  assert.equal(shared.asked, 6)
  assert.equal((await call()).refused, 'RATE_LIMITED')
  assert.deepEqual(switches, [])
  await limiter.close()
})

test('calls that meet a failure are decided in the process; the switch is told once', async () => {
  const shared = new Puppet()
  const { limiter, switches, call } = open(shared as SharedLimiter, { probeEvery: 10_000 })
  await limiter.ready
  shared.mood = 'fails'
  const decisions = await Promise.all(Array.from({ length: 9 }, call))
  assert.equal(decisions.filter(({ refused }) => !refused).length, 5)
  assert.deepEqual(switches, ['memory: connection lost'])
  shared.asked = 0
  await call()
  assert.equal(shared.asked, 0, 'nobody waits for it again')
  await limiter.close()
})

test('a call waits for an engine that hangs no longer than its patience', async () => {
  const shared = new Puppet()
  const { limiter, switches, call } = open(shared as SharedLimiter)
  await limiter.ready
  shared.mood = 'hangs'
  const began = performance.now()
  assert.equal((await call()).refused, undefined)
  assert.ok(performance.now() - began < 200)
  assert.deepEqual(switches, ['memory: no answer within 30 ms'])
  await limiter.close()
})

test('a call is counted once, also where the failure becomes known after patience ran out', async () => {
  const shared = new Puppet()
  const { limiter, switches, call } = open(shared as SharedLimiter, { probeEvery: 10_000 })
  await limiter.ready
  let fail = (_: Error) => {}
  shared.decide = () => new Promise((_, reject) => (fail = reject)) as never
  assert.equal((await call()).remaining, 29)
  fail(new Error('too late'))
  await pause(5)
  assert.equal((await call()).remaining, 28)
  assert.deepEqual(switches, ['memory: no answer within 30 ms'])
  await limiter.close()
})

test('it returns by itself, and reports that', async () => {
  const shared = new Puppet()
  const { limiter, switches, call } = open(shared as SharedLimiter)
  await limiter.ready
  shared.mood = 'fails'
  await call()
  await pause(30)
  shared.mood = 'works'
  await until(() => switches.length === 2)
  assert.deepEqual(switches, ['memory: connection lost', 'redis'])
  shared.asked = 0
  await call()
  assert.equal(shared.asked, 1)
  await limiter.close()
})

test('a shared engine that is down at the start is reported and waited for', async () => {
  const shared = new Puppet()
  shared.mood = 'fails'
  const { limiter, switches, call } = open(shared as SharedLimiter)
  await limiter.ready
  assert.equal((await call()).refused, undefined)
  assert.deepEqual(switches, ['memory: connection lost'])
  shared.mood = 'works'
  await until(() => switches.length === 2)
  await limiter.close()
})

describe('with a Redis that dies', { skip: noRedis() }, () => {
  let server: PrivateRedis
  beforeEach(async () => {
    server = await startRedis()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  test('killed under load: every call is answered, and soon; counts are shared again when it is back', async () => {
    const { limiter, switches } = open(new RedisLimiter(server.url), { patience: 250, probeEvery: 50 })
    await limiter.ready
    const wide = limitsFor('live', {
      buckets: { key: { burst: 1e9, minute: 1e9 }, reads: { burst: 1e9, minute: 1e9 } },
    })
    let going = true
    let answered = 0
    let slowest = 0
    const worker = async () => {
      while (going) {
        const began = performance.now()
        const { refused } = await limiter.decide('load', wide, 'reads', undefined, NOW)
        assert.equal(refused, undefined)
        slowest = Math.max(slowest, performance.now() - began)
        answered++
        if (answered % 50 === 0) await pause(1)
      }
    }
    const workers = Promise.all(Array.from({ length: 50 }, worker))
    await pause(100)
    await server.kill('SIGKILL')
    await until(() => switches.length === 1)
    const sofar = answered
    await until(() => answered > sofar + 1000)
    await server.start()
    await until(() => switches.length === 2)
    going = false
    await workers
    assert.match(switches[0]!, /^memory: /)
    assert.equal(switches[1], 'redis')
    assert.ok(slowest < 1000, `the slowest call took ${slowest} ms`)
    // The server started empty: five pass there, whatever was counted in the process meanwhile.
    const decisions = await Promise.all(
      Array.from({ length: 9 }, () => limiter.decide('fresh', live, 'campaignWrites', undefined, NOW)),
    )
    assert.equal(decisions.filter(({ refused }) => !refused).length, 5)
    await limiter.close()
  })

  test('down at the start: it is found when it comes', async () => {
    await server.kill('SIGKILL')
    const { limiter, switches, call } = open(new RedisLimiter(server.url), { probeEvery: 20 })
    await limiter.ready
    assert.equal((await call()).refused, undefined)
    assert.equal(switches.length, 1)
    await server.start()
    await until(() => switches.length === 2)
    await limiter.close()
  })

  test('stopped in its tracks: calls wait once, then not at all, until it goes on', async () => {
    const { limiter, switches, call } = open(new RedisLimiter(server.url), { patience: 100, probeEvery: 20 })
    await limiter.ready
    await call()
    await server.kill('SIGSTOP')
    const began = performance.now()
    await call()
    const waited = performance.now() - began
    assert.ok(waited >= 95 && waited < 500, `waited ${waited} ms`)
    assert.deepEqual(switches, ['memory: no answer within 100 ms'])
    const again = performance.now()
    await call()
    assert.ok(performance.now() - again < 50)
    await server.kill('SIGCONT')
    await until(() => switches.length === 2)
    await limiter.close()
  })

  test('a server that only reads does not pass for working', async () => {
    const limiterOfFull = new RedisLimiter(server.url)
    const { Redis } = await import('ioredis')
    const admin = new Redis(server.url)
    await admin.config('SET', 'maxmemory', '1')
    const { limiter, switches, call } = open(limiterOfFull)
    await limiter.ready
    assert.equal((await call()).refused, undefined)
    assert.match(switches[0]!, /^memory: .*OOM/)
    await pause(50)
    assert.equal(switches.length, 1)
    await admin.config('SET', 'maxmemory', '0')
    await until(() => switches.length === 2)
    admin.disconnect()
    await limiter.close()
  })
})
