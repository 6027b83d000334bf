import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { redisSkipReason, startRedis, type TestRedis } from '../../../test/limits/private-redis.ts'
import { until } from '../../../test/support/until.ts'
import { FallbackLimiter, type SharedLimiter } from './fallback.ts'
import { MemoryLimiter } from './memory.ts'
import { RedisLimiter } from './redis.ts'
import { limitsFor } from './table.ts'

const NOW = Date.UTC(2026, 4, 4, 9, 30)
const liveLimits = limitsFor('live')

/** Fake shared engine that counts in memory, fails, or never responds. */
class FakeSharedLimiter extends MemoryLimiter {
  behaviour: 'works' | 'fails' | 'hangs' = 'works'
  decisions = 0

  override decide(...args: Parameters<MemoryLimiter['decide']>): never {
    this.decisions++
    return this.#respond(() => super.decide(...args)) as never
  }

  connect = () => this.#respond(() => {})
  probe = () => this.#respond(() => {})

  async #respond<T>(value: () => T): Promise<T> {
    if (this.behaviour === 'fails') throw new Error('connection lost')
    if (this.behaviour === 'hangs') await new Promise(() => {})
    return value()
  }
}

function openLimiter(
  shared: SharedLimiter,
  options: { timeoutMs?: number; probeIntervalMs?: number; now?: () => number } = {},
) {
  const switches: string[] = []
  const limiter = new FallbackLimiter(shared, new MemoryLimiter(), {
    onSwitch: (to, reason) => switches.push(reason ? `${to}: ${reason}` : to),
    timeoutMs: 30,
    probeIntervalMs: 10,
    ...options,
  })
  const call = async () => limiter.decide('key', liveLimits, 'campaignWrites', undefined, NOW)
  return { limiter, switches, call }
}

test('while the shared engine responds, it makes all decisions and nothing is reported', async () => {
  const shared = new FakeSharedLimiter()
  const { limiter, switches, call } = openLimiter(shared as SharedLimiter)
  await limiter.ready
  for (let i = 0; i < 6; i++) await call()
  assert.equal(shared.decisions, 6)
  assert.equal((await call()).errorCode, 'RATE_LIMITED')
  assert.deepEqual(switches, [])
  await limiter.close()
})

test('calls during a failure are decided in the process, and the switch is reported once', async () => {
  const shared = new FakeSharedLimiter()
  const { limiter, switches, call } = openLimiter(shared as SharedLimiter, { probeIntervalMs: 10_000 })
  await limiter.ready
  shared.behaviour = 'fails'
  const decisions = await Promise.all(Array.from({ length: 9 }, call))
  assert.equal(decisions.filter(({ errorCode }) => !errorCode).length, 5)
  assert.deepEqual(switches, ['memory: connection lost'])
  shared.decisions = 0
  await call()
  assert.equal(shared.decisions, 0, 'later calls do not wait for it')
  await limiter.close()
})

test('a call waits for a hanging engine no longer than the timeout', async (t) => {
  const shared = new FakeSharedLimiter()
  const { limiter, switches, call } = openLimiter(shared as SharedLimiter, { now: () => 0 })
  await limiter.ready
  shared.behaviour = 'hangs'
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let decided = false
  const decision = call().finally(() => (decided = true))
  t.mock.timers.tick(29)
  await new Promise(setImmediate)
  assert.equal(decided, false)
  t.mock.timers.tick(1)
  assert.equal((await decision).errorCode, undefined)
  assert.deepEqual(switches, ['memory: no response within 30 ms'])
  await limiter.close()
})

test('a stall of this process does not count as a failure of the shared engine', async () => {
  const shared = new FakeSharedLimiter()
  const { limiter, switches, call } = openLimiter(shared as SharedLimiter)
  await limiter.ready
  const decide = shared.decide.bind(shared)
  // Like a response from a socket, this one is read after the timers that are due.
  shared.decide = ((...args: Parameters<typeof decide>) =>
    new Promise((resolve) => setImmediate(() => setImmediate(() => resolve(decide(...args)))))) as never
  const decision = call()
  const stalledUntil = performance.now() + 100
  while (performance.now() < stalledUntil);
  assert.equal((await decision).errorCode, undefined)
  assert.deepEqual(switches, [])
  await limiter.close()
})

test('a call is counted once even if the engine fails after the timeout', async () => {
  const shared = new FakeSharedLimiter()
  const { limiter, switches, call } = openLimiter(shared as SharedLimiter, { probeIntervalMs: 10_000 })
  await limiter.ready
  let fail = (_: Error) => {}
  shared.decide = () => new Promise((_, reject) => (fail = reject)) as never
  assert.equal((await call()).remaining, 29)
  fail(new Error('too late'))
  await pause(5)
  assert.equal((await call()).remaining, 28)
  assert.deepEqual(switches, ['memory: no response within 30 ms'])
  await limiter.close()
})

test('when the shared engine recovers, it is used again, and the switch is reported', async () => {
  const shared = new FakeSharedLimiter()
  const { limiter, switches, call } = openLimiter(shared as SharedLimiter)
  await limiter.ready
  shared.behaviour = 'fails'
  await call()
  await pause(30)
  shared.behaviour = 'works'
  await until(() => switches.length === 2)
  assert.deepEqual(switches, ['memory: connection lost', 'redis'])
  shared.decisions = 0
  await call()
  assert.equal(shared.decisions, 1)
  await limiter.close()
})

test('a shared engine that is down at the start is reported, and used as soon as it is up', async () => {
  const shared = new FakeSharedLimiter()
  shared.behaviour = 'fails'
  const { limiter, switches, call } = openLimiter(shared as SharedLimiter)
  await limiter.ready
  assert.equal((await call()).errorCode, undefined)
  assert.deepEqual(switches, ['memory: connection lost'])
  shared.behaviour = 'works'
  await until(() => switches.length === 2)
  await limiter.close()
})

describe('with a Redis server that fails', { skip: redisSkipReason() }, () => {
  let server: TestRedis
  beforeEach(async () => {
    server = await startRedis()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  test('if Redis is killed under load, every call gets a decision, and counts are shared again after a restart', async () => {
    const { limiter, switches } = openLimiter(new RedisLimiter(server.url), { timeoutMs: 250, probeIntervalMs: 50 })
    await limiter.ready
    const highLimits = limitsFor('live', {
      buckets: { key: { burst: 1e9, minute: 1e9 }, reads: { burst: 1e9, minute: 1e9 } },
    })
    let running = true
    let decided = 0
    const worker = async () => {
      while (running) {
        const { errorCode } = await limiter.decide('load', highLimits, 'reads', undefined, NOW)
        assert.equal(errorCode, undefined)
        decided++
        if (decided % 50 === 0) await pause(1)
      }
    }
    const workers = Promise.all(Array.from({ length: 50 }, worker))
    await pause(100)
    await server.kill('SIGKILL')
    await until(() => switches.length === 1)
    const decidedBefore = decided
    await until(() => decided > decidedBefore + 1000)
    await server.start()
    await until(() => switches.length === 2)
    running = false
    await workers
    assert.match(switches[0]!, /^memory: /)
    assert.equal(switches[1], 'redis')
    // The restarted server is empty: it allows five calls, regardless of the calls counted in the process in the meantime.
    const decisions = await Promise.all(
      Array.from({ length: 9 }, () => limiter.decide('fresh', liveLimits, 'campaignWrites', undefined, NOW)),
    )
    assert.equal(decisions.filter(({ errorCode }) => !errorCode).length, 5)
    await limiter.close()
  })

  test('if Redis is down at the start, it is used as soon as it is up', async () => {
    await server.kill('SIGKILL')
    const { limiter, switches, call } = openLimiter(new RedisLimiter(server.url), { probeIntervalMs: 20 })
    await limiter.ready
    assert.equal((await call()).errorCode, undefined)
    assert.equal(switches.length, 1)
    await server.start()
    await until(() => switches.length === 2)
    await limiter.close()
  })

  test('if Redis is suspended, only the first call waits, and Redis is used again after it resumes', async () => {
    let decisions = 0
    class CountingLimiter extends RedisLimiter {
      override decide(...args: Parameters<RedisLimiter['decide']>) {
        decisions++
        return super.decide(...args)
      }
    }
    const { limiter, switches, call } = openLimiter(new CountingLimiter(server.url), {
      timeoutMs: 100,
      probeIntervalMs: 20,
    })
    await limiter.ready
    await call()
    await server.kill('SIGSTOP')
    await call()
    assert.deepEqual(switches, ['memory: no response within 100 ms'])
    assert.equal(decisions, 2)
    await call()
    assert.equal(decisions, 2, 'the next call is not sent to Redis')
    await server.kill('SIGCONT')
    await until(() => switches.length === 2)
    await limiter.close()
  })

  test('a server that rejects writes does not pass the probe', async () => {
    const fullLimiter = new RedisLimiter(server.url)
    const { Redis } = await import('ioredis')
    const admin = new Redis(server.url)
    await admin.config('SET', 'maxmemory', '1')
    const { limiter, switches, call } = openLimiter(fullLimiter)
    await limiter.ready
    assert.equal((await call()).errorCode, undefined)
    assert.match(switches[0]!, /^memory: .*OOM/)
    await pause(50)
    assert.equal(switches.length, 1)
    await admin.config('SET', 'maxmemory', '0')
    await until(() => switches.length === 2)
    admin.disconnect()
    await limiter.close()
  })
})
