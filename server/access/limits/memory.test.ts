import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { Fingerprint } from './fingerprint.ts'
import type { SavedRow } from './key-state.ts'
import type { Rule } from './limiter.ts'
import { MemoryLimiter } from './memory.ts'
import { limitsFor } from './table.ts'

const NOW = Date.UTC(2026, 4, 4, 9, 30)
const live = limitsFor('live')
const SEARCH: Rule = { name: 'search', kind: 'fixed', limit: 15, seconds: 60 }

test('a million recruiters need little memory, and it is freed', () => {
  const limiter = new MemoryLimiter()
  const wide = limitsFor('live', { buckets: { key: { burst: 6000 }, reads: { burst: 6000, minute: 6000 } } })
  for (let i = 0; i < 1_000_000; i++) limiter.decide(`key ${i % 200}`, wide, 'reads', `recruiter ${i}`, NOW)
  const { buckets, bytes } = limiter.usage
  assert.equal(buckets, 1_000_400)
  assert.ok(bytes / buckets < 150, `${bytes / buckets} bytes per bucket`)
  // When their minute is over, ordinary traffic sweeps them.
  for (let i = 0; i < 80_000; i++) limiter.decide('another', live, 'reads', undefined, NOW + 3 * MINUTE + i)
  assert.ok(limiter.usage.bytes < 300_000, `${limiter.usage.bytes} bytes left`)
})

test('a key that invents recruiters adds no more buckets than its own limit allows', () => {
  const limiter = new MemoryLimiter()
  for (let i = 0; i < 1_000_000; i++) limiter.decide('key', live, 'skillsSearch', `recruiter ${i}`, NOW + (i >> 1))
  assert.ok(limiter.usage.buckets < 12_000, `${limiter.usage.buckets} buckets`)
})

test('beyond the cap, new callers evict new callers, not those near their limit, and never a key', () => {
  const limiter = new MemoryLimiter({ maxRecruiters: 10_000, maxCallers: 10_000 })
  const wide = limitsFor('live', {
    buckets: { key: { burst: 500_000, minute: 500_000 }, reads: { burst: 500_000, minute: 500_000 } },
  })
  for (let n = 0; n < 100; n++)
    for (let i = 0; i < 5; i++)
      assert.equal(limiter.decide('key', wide, 'reads', `busy ${n}`, NOW).errorCode, undefined)
  for (let n = 0; n < 100; n++) for (let i = 0; i < 15; i++) limiter.take(`busy ${n}`, [SEARCH], NOW)

  for (let i = 0; i < 100_000; i++) {
    limiter.decide('key', wide, 'reads', `made up ${i}`, NOW)
    limiter.take(`2001:db8:${i >> 16}:${i & 0xffff}::/64`, [SEARCH], NOW)
  }
  assert.ok(limiter.usage.buckets <= 10_002)
  for (let n = 0; n < 100; n++) {
    assert.equal(limiter.decide('key', wide, 'reads', `busy ${n}`, NOW).errorCode, 'RATE_LIMITED')
    assert.equal(limiter.take(`busy ${n}`, [SEARCH], NOW).rejectedBy, 'search')
  }
  assert.equal(limiter.decide('key', wide, 'reads', undefined, NOW).errorCode, 'COOLDOWN')
})

test('sweeping deletes only records that no longer affect decisions', () => {
  const limiter = new MemoryLimiter({ callsPerSweep: 1 })
  const sweepAll = (now: number) => {
    for (let i = 0; i < 100; i++) limiter.sweep(now)
  }
  // A bucket that takes ten minutes to refill.
  const slow = limitsFor('live', { buckets: { recruiter: { rate: 0.1, burst: 60 } } })
  for (let i = 0; i < 2; i++) {
    for (let n = 0; n < 30; n++) limiter.decide('key', slow, 'reads', 'ann', NOW + 57_000 + i * SECOND)
  }
  sweepAll(NOW + 5 * MINUTE)
  const passed = Array.from({ length: 40 }, () => limiter.decide('key', slow, 'reads', 'ann', NOW + 5 * MINUTE))
  assert.equal(passed.filter(({ errorCode }) => !errorCode).length, 24, '24 of 60 tokens are refilled in 242 seconds')
  // The minute is over, but a clock set back slightly would return to it.
  const full = limitsFor('live', { buckets: { reads: { burst: 99, minute: 9 } } })
  const end = NOW + 10 * MINUTE
  for (let i = 0; i < 9; i++) limiter.decide('minute', full, 'reads', undefined, end - SECOND)
  sweepAll(end + SECOND)
  assert.equal(limiter.decide('minute', full, 'reads', undefined, end - 2 * SECOND).errorCode, 'RATE_LIMITED')
})

test('the memory of a flood of addresses is freed after its windows', () => {
  const limiter = new MemoryLimiter()
  for (let i = 0; i < 300_000; i++) limiter.take(`address ${i}`, [SEARCH], NOW)
  const { bytes } = limiter.usage
  for (let i = 0; i < 70_000; i++) limiter.take('one', [SEARCH], NOW + 10 * MINUTE)
  assert.ok(limiter.usage.bytes < bytes / 100, `${limiter.usage.bytes} of ${bytes} bytes left`)
})

test('a million names have no fingerprint collision', () => {
  const fingerprint = new Fingerprint()
  const seen = new Set<bigint>()
  const record = ({ a, b }: Fingerprint) => seen.add((BigInt(a >>> 0) << 32n) | BigInt(b >>> 0))
  for (let i = 0; i < 400_000; i++) {
    record(fingerprint.of(`VFN_LIVE_${i}`))
    record(fingerprint.within(i, 7, 'recruiter'))
    record(fingerprint.part(i, 7, i % 9))
  }
  assert.equal(seen.size, 1_200_000)
})

/** Returns the rows of the database table after these snapshots. */
function stored(...snapshots: SavedRow[][]): SavedRow[] {
  const table = new Map(snapshots.flat().map((row) => [`${row.key} ${row.name}`, row]))
  return JSON.parse(JSON.stringify([...table.values()])).reverse()
}

test('windows of an hour and longer survive a restart', () => {
  const limits = limitsFor('live', { buckets: { workflowWrites: { day: 8 }, key: { day: 30 }, recruiter: { day: 3 } } })
  const before = new MemoryLimiter({ trackChanges: true })
  for (let i = 0; i < 8; i++) before.decide('days', limits, 'workflowWrites', undefined, NOW)
  for (const recruiter of ['ann', '{a}n}', 'x'.repeat(5000)])
    for (let i = 0; i < 3; i++) before.decide('days', limits, 'reads', recruiter, NOW)
  for (let i = 0; i < 200; i++) before.recordPage('pages', live, NOW + i * SECOND)
  for (let i = 0; i < 150; i++) before.decide('cooldown', live, 'campaignWrites', undefined, NOW)
  for (let i = 0; i < 150; i++)
    before.recordSkills(
      'skills',
      live,
      Array.from({ length: 100 }, (_, j) => i * 100 + j),
      NOW,
    )
  const rows = stored(before.snapshot(NOW + 199 * SECOND))
  assert.ok(rows.every(({ name }) => name.length < 200))

  const later = NOW + 200 * SECOND
  const after = new MemoryLimiter({ trackChanges: true })
  after.restore(rows, later)
  assert.deepEqual(after.snapshot(later), [], 'restored rows are not written again')
  assert.equal(after.decide('days', limits, 'workflowWrites', undefined, later).errorCode, 'RATE_LIMITED')
  for (const recruiter of ['ann', '{a}n}', 'x'.repeat(5000)])
    assert.equal(after.decide('days', limits, 'reads', recruiter, later).errorCode, 'RATE_LIMITED')
  assert.equal(after.decide('days', limits, 'reads', 'bob', later).errorCode, undefined)
  const free = Array.from({ length: 25 }, () => after.decide('days', limits, 'reads', undefined, later))
  assert.equal(free.filter(({ errorCode }) => !errorCode).length, 12, '18 of 30 calls per day were used')
  assert.equal(after.recordPage('pages', live, later)?.code, 'COOLDOWN')
  assert.equal(after.recordPage('pages', live, NOW + HOUR + 9 * SECOND), undefined)
  assert.equal(after.recordSkills('skills', live, [0, 14_999], later), undefined)
  assert.equal(after.recordSkills('skills', live, [15_000], later)?.code, 'DAILY_CAP')
  // The first cooldown is over; the next one is twice as long.
  for (let i = 0; i < 105; i++) after.decide('cooldown', live, 'campaignWrites', undefined, later)
  assert.deepEqual(after.decide('cooldown', live, 'reads', undefined, later).retryAfter, 120)
})

test('a cooldown continues after a restart', () => {
  const before = new MemoryLimiter({ trackChanges: true })
  for (let i = 0; i < 200; i++) before.decide('key', live, 'campaignWrites', undefined, NOW)
  const after = new MemoryLimiter()
  after.restore(before.snapshot(NOW), NOW + 10 * SECOND)
  const { errorCode, retryAfter } = after.decide('key', live, 'reads', undefined, NOW + 10 * SECOND)
  assert.deepEqual([errorCode, retryAfter], ['COOLDOWN', 50])
})

test('snapshots contain small rows, and only those that changed', () => {
  const limiter = new MemoryLimiter({ trackChanges: true })
  const names = () => limiter.snapshot(NOW).map(({ name }) => name)
  limiter.decide('key', live, 'reads', 'ann', NOW)
  assert.deepEqual(names(), [], 'no window of an hour or longer changed')
  for (let i = 0; i < 3; i++) limiter.decide('key', live, 'mandateWrites', 'ann', NOW)
  assert.deepEqual(limiter.snapshot(NOW), [
    { key: 'key', name: 'day:mandateWrites', value: [20_577, 3], expiresAt: Date.UTC(2026, 4, 4, 20, 30) },
  ])
  assert.deepEqual(names(), [])

  limiter.recordSkills(
    'key',
    live,
    Array.from({ length: 1000 }, (_, i) => i),
    NOW,
  )
  assert.equal(names().length, 8)
  limiter.recordSkills('key', live, [5000, 5001, 3], NOW)
  const [row, ...others] = limiter.snapshot(NOW)
  assert.deepEqual([row!.name, row!.value.length, others], ['skills:20577:7', 106, []])
  limiter.recordSkills('key', live, [3], NOW)
  assert.deepEqual(names(), [])

  for (let i = 0; i < 60; i++) limiter.recordPage('key', live, NOW)
  assert.deepEqual(names(), ['pages:0', 'pages:1', 'pages:2'])
  limiter.recordPage('key', live, NOW)
  assert.deepEqual(names(), ['pages:2'])
})

test('snapshots taken at any time restore the full state, also over several restarts', () => {
  let limiter = new MemoryLimiter({ trackChanges: true })
  const uninterrupted = new MemoryLimiter()
  const snapshots: SavedRow[][] = []
  const limits = limitsFor('live', { buckets: { skillsMatch: { day: 400 } } })
  let seed = 42
  const random = (n: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % n
  }
  let now = NOW
  for (let round = 0; round < 3000; round++) {
    now += random(20_000)
    // New IDs until the cap is reached, after some restarts.
    const ids = Array.from({ length: random(30) }, () => random(40_000))
    assert.deepEqual(limiter.recordSkills('key', limits, ids, now), uninterrupted.recordSkills('key', limits, ids, now))
    assert.deepEqual(limiter.recordPage('pages', limits, now), uninterrupted.recordPage('pages', limits, now))
    const calls = [limiter, uninterrupted].map(
      (one) => one.decide('key', limits, 'skillsMatch', undefined, now).errorCode,
    )
    assert.equal(calls[0], calls[1])
    if (round % 7 === 0) snapshots.push(limiter.snapshot(now))
    if (round % 280 !== 0) continue
    const rows = stored(...snapshots).filter(({ expiresAt }) => expiresAt > now)
    assert.ok(rows.every(({ value }) => value.length <= 128))
    // Long enough for the counts that a restart loses, of a minute at most, to expire in the uninterrupted limiter.
    now += 3 * MINUTE
    limiter = new MemoryLimiter({ trackChanges: true })
    limiter.restore(rows, now)
  }
})
