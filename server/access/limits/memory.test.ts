import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { Fingerprint } from './fingerprint.ts'
import type { SavedCounterRow } from './key-state.ts'
import type { Rule } from './limiter.ts'
import { MemoryLimiter } from './memory.ts'
import { limitsFor } from './table.ts'

const NOW = Date.UTC(2026, 4, 4, 9, 30)
const liveLimits = limitsFor('live')
const SEARCH_RULE: Rule = { name: 'search', kind: 'fixed', limit: 15, seconds: 60 }

test('the counts of a million recruiters need little memory, which is freed after their minute', () => {
  const limiter = new MemoryLimiter()
  const highLimits = limitsFor('live', { buckets: { key: { burst: 6000 }, reads: { burst: 6000, minute: 6000 } } })
  for (let i = 0; i < 1_000_000; i++) limiter.decide(`key ${i % 200}`, highLimits, 'reads', `recruiter ${i}`, NOW)
  const { buckets, bytes } = limiter.usage
  assert.equal(buckets, 1_000_400)
  assert.ok(bytes / buckets < 150, `${bytes / buckets} bytes per bucket`)
  // When their minute is over, calls of other keys trigger the sweeps that delete them.
  for (let i = 0; i < 80_000; i++) limiter.decide('another', liveLimits, 'reads', undefined, NOW + 3 * MINUTE + i)
  assert.ok(limiter.usage.bytes < 300_000, `${limiter.usage.bytes} bytes left`)
})

test('a key that invents recruiters adds no more buckets than its own limit allows', () => {
  const limiter = new MemoryLimiter()
  for (let i = 0; i < 1_000_000; i++)
    limiter.decide('key', liveLimits, 'skillsSearch', `recruiter ${i}`, NOW + (i >> 1))
  assert.ok(limiter.usage.buckets < 12_000, `${limiter.usage.buckets} buckets`)
})

test('beyond the maximum number of records, new callers evict new callers, not those near their limit, and never a key', () => {
  const limiter = new MemoryLimiter({ maxRecruiters: 10_000, maxCallers: 10_000 })
  const highLimits = limitsFor('live', {
    buckets: { key: { burst: 500_000, minute: 500_000 }, reads: { burst: 500_000, minute: 500_000 } },
  })
  for (let n = 0; n < 100; n++)
    for (let i = 0; i < 5; i++)
      assert.equal(limiter.decide('key', highLimits, 'reads', `busy ${n}`, NOW).errorCode, undefined)
  for (let n = 0; n < 100; n++) for (let i = 0; i < 15; i++) limiter.take(`busy ${n}`, [SEARCH_RULE], NOW)

  for (let i = 0; i < 100_000; i++) {
    limiter.decide('key', highLimits, 'reads', `made up ${i}`, NOW)
    limiter.take(`2001:db8:${i >> 16}:${i & 0xffff}::/64`, [SEARCH_RULE], NOW)
  }
  assert.ok(limiter.usage.buckets <= 10_002)
  for (let n = 0; n < 100; n++) {
    assert.equal(limiter.decide('key', highLimits, 'reads', `busy ${n}`, NOW).errorCode, 'RATE_LIMITED')
    assert.equal(limiter.take(`busy ${n}`, [SEARCH_RULE], NOW).rejectedBy, 'search')
  }
  assert.equal(limiter.decide('key', highLimits, 'reads', undefined, NOW).errorCode, 'COOLDOWN')
})

test('sweeping deletes only records that no longer affect decisions', () => {
  const limiter = new MemoryLimiter({ callsPerSweep: 1 })
  const sweepAll = (now: number) => {
    for (let i = 0; i < 100; i++) limiter.sweep(now)
  }
  // A bucket that takes ten minutes to refill.
  const slowRefillLimits = limitsFor('live', { buckets: { recruiter: { rate: 0.1, burst: 60 } } })
  for (let i = 0; i < 2; i++) {
    for (let n = 0; n < 30; n++) limiter.decide('key', slowRefillLimits, 'reads', 'ann', NOW + 57_000 + i * SECOND)
  }
  sweepAll(NOW + 5 * MINUTE)
  const decisions = Array.from({ length: 40 }, () =>
    limiter.decide('key', slowRefillLimits, 'reads', 'ann', NOW + 5 * MINUTE),
  )
  assert.equal(
    decisions.filter(({ errorCode }) => !errorCode).length,
    24,
    '24 of 60 tokens are refilled in 242 seconds',
  )
  // The minute is over, but the clock could still be set back into it.
  const minuteLimits = limitsFor('live', { buckets: { reads: { burst: 99, minute: 9 } } })
  const minuteEnd = NOW + 10 * MINUTE
  for (let i = 0; i < 9; i++) limiter.decide('minute', minuteLimits, 'reads', undefined, minuteEnd - SECOND)
  sweepAll(minuteEnd + SECOND)
  assert.equal(
    limiter.decide('minute', minuteLimits, 'reads', undefined, minuteEnd - 2 * SECOND).errorCode,
    'RATE_LIMITED',
  )
})

test('the memory for the counts of many addresses is freed after their windows end', () => {
  const limiter = new MemoryLimiter()
  for (let i = 0; i < 300_000; i++) limiter.take(`address ${i}`, [SEARCH_RULE], NOW)
  const { bytes } = limiter.usage
  for (let i = 0; i < 70_000; i++) limiter.take('one', [SEARCH_RULE], NOW + 10 * MINUTE)
  assert.ok(limiter.usage.bytes < bytes / 100, `${limiter.usage.bytes} of ${bytes} bytes left`)
})

test('a million names have no fingerprint collision', () => {
  const fingerprint = new Fingerprint()
  const seenHashes = new Set<bigint>()
  const addHash = ({ hashA, hashB }: Fingerprint) => seenHashes.add((BigInt(hashA >>> 0) << 32n) | BigInt(hashB >>> 0))
  for (let i = 0; i < 400_000; i++) {
    addHash(fingerprint.of(`VFN_LIVE_${i}`))
    addHash(fingerprint.within(i, 7, 'recruiter'))
    addHash(fingerprint.part(i, 7, i % 9))
  }
  assert.equal(seenHashes.size, 1_200_000)
})

/** Returns the rows of the database table after these snapshots. */
function storedRows(...snapshots: SavedCounterRow[][]): SavedCounterRow[] {
  const table = new Map(snapshots.flat().map((row) => [`${row.key} ${row.name}`, row]))
  return JSON.parse(JSON.stringify([...table.values()])).reverse()
}

test('windows of an hour and longer survive a restart', () => {
  const limits = limitsFor('live', { buckets: { workflowWrites: { day: 8 }, key: { day: 30 }, recruiter: { day: 3 } } })
  const firstLimiter = new MemoryLimiter({ trackChanges: true })
  for (let i = 0; i < 8; i++) firstLimiter.decide('days', limits, 'workflowWrites', undefined, NOW)
  for (const recruiter of ['ann', '{a}n}', 'x'.repeat(5000)])
    for (let i = 0; i < 3; i++) firstLimiter.decide('days', limits, 'reads', recruiter, NOW)
  for (let i = 0; i < 200; i++) firstLimiter.recordPage('pages', liveLimits, NOW + i * SECOND)
  for (let i = 0; i < 150; i++) firstLimiter.decide('cooldown', liveLimits, 'campaignWrites', undefined, NOW)
  for (let i = 0; i < 150; i++)
    firstLimiter.recordSkills(
      'skills',
      liveLimits,
      Array.from({ length: 100 }, (_, j) => i * 100 + j),
      NOW,
    )
  const rows = storedRows(firstLimiter.snapshot(NOW + 199 * SECOND))
  assert.ok(rows.every(({ name }) => name.length < 200))

  const laterTime = NOW + 200 * SECOND
  const restoredLimiter = new MemoryLimiter({ trackChanges: true })
  restoredLimiter.restore(rows, laterTime)
  assert.deepEqual(restoredLimiter.snapshot(laterTime), [], 'restored rows are not written again')
  assert.equal(restoredLimiter.decide('days', limits, 'workflowWrites', undefined, laterTime).errorCode, 'RATE_LIMITED')
  for (const recruiter of ['ann', '{a}n}', 'x'.repeat(5000)])
    assert.equal(restoredLimiter.decide('days', limits, 'reads', recruiter, laterTime).errorCode, 'RATE_LIMITED')
  assert.equal(restoredLimiter.decide('days', limits, 'reads', 'bob', laterTime).errorCode, undefined)
  const decisions = Array.from({ length: 25 }, () =>
    restoredLimiter.decide('days', limits, 'reads', undefined, laterTime),
  )
  assert.equal(decisions.filter(({ errorCode }) => !errorCode).length, 12, '18 of 30 calls per day were used')
  assert.equal(restoredLimiter.recordPage('pages', liveLimits, laterTime)?.code, 'COOLDOWN')
  assert.equal(restoredLimiter.recordPage('pages', liveLimits, NOW + HOUR + 9 * SECOND), undefined)
  assert.equal(restoredLimiter.recordSkills('skills', liveLimits, [0, 14_999], laterTime), undefined)
  assert.equal(restoredLimiter.recordSkills('skills', liveLimits, [15_000], laterTime)?.code, 'DAILY_CAP')
  // The first cooldown is over; the next one is twice as long.
  for (let i = 0; i < 105; i++) restoredLimiter.decide('cooldown', liveLimits, 'campaignWrites', undefined, laterTime)
  assert.deepEqual(restoredLimiter.decide('cooldown', liveLimits, 'reads', undefined, laterTime).retryAfter, 120)
})

test('a cooldown continues after a restart', () => {
  const firstLimiter = new MemoryLimiter({ trackChanges: true })
  for (let i = 0; i < 200; i++) firstLimiter.decide('key', liveLimits, 'campaignWrites', undefined, NOW)
  const restoredLimiter = new MemoryLimiter()
  restoredLimiter.restore(firstLimiter.snapshot(NOW), NOW + 10 * SECOND)
  const { errorCode, retryAfter } = restoredLimiter.decide('key', liveLimits, 'reads', undefined, NOW + 10 * SECOND)
  assert.deepEqual([errorCode, retryAfter], ['COOLDOWN', 50])
})

test('snapshots contain small rows, and only those that changed', () => {
  const limiter = new MemoryLimiter({ trackChanges: true })
  const changedRowNames = () => limiter.snapshot(NOW).map(({ name }) => name)
  limiter.decide('key', liveLimits, 'reads', 'ann', NOW)
  assert.deepEqual(changedRowNames(), [], 'no window of an hour or longer changed')
  for (let i = 0; i < 3; i++) limiter.decide('key', liveLimits, 'mandateWrites', 'ann', NOW)
  assert.deepEqual(limiter.snapshot(NOW), [
    { key: 'key', name: 'day:mandateWrites', value: [20_577, 3], expiresAt: Date.UTC(2026, 4, 4, 20, 30) },
  ])
  assert.deepEqual(changedRowNames(), [])

  limiter.recordSkills(
    'key',
    liveLimits,
    Array.from({ length: 1000 }, (_, i) => i),
    NOW,
  )
  assert.equal(changedRowNames().length, 8)
  limiter.recordSkills('key', liveLimits, [5000, 5001, 3], NOW)
  const [row, ...others] = limiter.snapshot(NOW)
  assert.deepEqual([row!.name, row!.value.length, others], ['skills:20577:7', 106, []])
  limiter.recordSkills('key', liveLimits, [3], NOW)
  assert.deepEqual(changedRowNames(), [])

  for (let i = 0; i < 60; i++) limiter.recordPage('key', liveLimits, NOW)
  assert.deepEqual(changedRowNames(), ['pages:0', 'pages:1', 'pages:2'])
  limiter.recordPage('key', liveLimits, NOW)
  assert.deepEqual(changedRowNames(), ['pages:2'])
})

test('snapshots taken at any time restore the full state, also over several restarts', () => {
  let limiter = new MemoryLimiter({ trackChanges: true })
  const uninterrupted = new MemoryLimiter()
  const snapshots: SavedCounterRow[][] = []
  const limits = limitsFor('live', { buckets: { skillsMatch: { day: 400 } } })
  let seed = 42
  const randomBelow = (n: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % n
  }
  let now = NOW
  for (let round = 0; round < 3000; round++) {
    now += randomBelow(20_000)
    // New IDs until the cap is reached, after some restarts.
    const ids = Array.from({ length: randomBelow(30) }, () => randomBelow(40_000))
    assert.deepEqual(limiter.recordSkills('key', limits, ids, now), uninterrupted.recordSkills('key', limits, ids, now))
    assert.deepEqual(limiter.recordPage('pages', limits, now), uninterrupted.recordPage('pages', limits, now))
    const errorCodes = [limiter, uninterrupted].map(
      (one) => one.decide('key', limits, 'skillsMatch', undefined, now).errorCode,
    )
    assert.equal(errorCodes[0], errorCodes[1])
    if (round % 7 === 0) snapshots.push(limiter.snapshot(now))
    if (round % 280 !== 0) continue
    const rows = storedRows(...snapshots).filter(({ expiresAt }) => expiresAt > now)
    assert.ok(rows.every(({ value }) => value.length <= 128))
    // Long enough for the counts that a restart loses, of a minute at most, to expire in the uninterrupted limiter.
    now += 3 * MINUTE
    limiter = new MemoryLimiter({ trackChanges: true })
    limiter.restore(rows, now)
  }
})
