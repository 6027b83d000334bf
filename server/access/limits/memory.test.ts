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

test('a million recruiters fit into little memory, and it is given back', () => {
  const limiter = new MemoryLimiter()
  const wide = limitsFor('live', { buckets: { key: { burst: 6000 }, reads: { burst: 6000, minute: 6000 } } })
  for (let i = 0; i < 1_000_000; i++) limiter.decide(`key ${i % 200}`, wide, 'reads', `recruiter ${i}`, NOW)
  const { buckets, bytes } = limiter.usage
  assert.equal(buckets, 1_000_400)
  assert.ok(bytes / buckets < 150, `${bytes / buckets} bytes a bucket`)
  // Their minute over, ordinary traffic sweeps them away in passing.
  for (let i = 0; i < 80_000; i++) limiter.decide('another', live, 'reads', undefined, NOW + 3 * MINUTE + i)
  assert.ok(limiter.usage.bytes < 300_000, `${limiter.usage.bytes} bytes left`)
})

test('one key that makes up recruiters holds no more than its own limit lets through', () => {
  const limiter = new MemoryLimiter()
  for (let i = 0; i < 1_000_000; i++) limiter.decide('key', live, 'skillsSearch', `recruiter ${i}`, NOW + (i >> 1))
  assert.ok(limiter.usage.buckets < 12_000, `${limiter.usage.buckets} buckets`)
})

test('past the cap newcomers push out newcomers, not those near their limit, and never a key', () => {
  const limiter = new MemoryLimiter({ mostRecruiters: 10_000, mostCallers: 10_000 })
  const wide = limitsFor('live', {
    buckets: { key: { burst: 500_000, minute: 500_000 }, reads: { burst: 500_000, minute: 500_000 } },
  })
  for (let who = 0; who < 100; who++)
    for (let i = 0; i < 5; i++)
      assert.equal(limiter.decide('key', wide, 'reads', `busy ${who}`, NOW).refused, undefined)
  for (let who = 0; who < 100; who++) for (let i = 0; i < 15; i++) limiter.take(`busy ${who}`, [SEARCH], NOW)

  for (let i = 0; i < 100_000; i++) {
    limiter.decide('key', wide, 'reads', `made up ${i}`, NOW)
    limiter.take(`2001:db8:${i >> 16}:${i & 0xffff}::/64`, [SEARCH], NOW)
  }
  assert.ok(limiter.usage.buckets <= 10_002)
  for (let who = 0; who < 100; who++) {
    assert.equal(limiter.decide('key', wide, 'reads', `busy ${who}`, NOW).refused, 'RATE_LIMITED')
    assert.equal(limiter.take(`busy ${who}`, [SEARCH], NOW).refused, 'search')
  }
  assert.equal(limiter.decide('key', wide, 'reads', undefined, NOW).refused, 'COOLDOWN')
})

test('what is swept did not matter any more', () => {
  const limiter = new MemoryLimiter({ sweepEvery: 1 })
  const sweepAll = (now: number) => {
    for (let i = 0; i < 100; i++) limiter.sweep(now)
  }
  // A bucket that takes ten minutes to fill again.
  const slow = limitsFor('live', { buckets: { recruiter: { rate: 0.1, burst: 60 } } })
  for (let i = 0; i < 2; i++) {
    for (let n = 0; n < 30; n++) limiter.decide('key', slow, 'reads', 'ann', NOW + 57_000 + i * SECOND)
  }
  sweepAll(NOW + 5 * MINUTE)
  const passed = Array.from({ length: 40 }, () => limiter.decide('key', slow, 'reads', 'ann', NOW + 5 * MINUTE))
  assert.equal(passed.filter(({ refused }) => !refused).length, 24, 'of 60 tokens, 24 came back in 242 seconds')
  // The minute is over, but a clock that runs back a little would return to it.
  const full = limitsFor('live', { buckets: { reads: { burst: 99, minute: 9 } } })
  const end = NOW + 10 * MINUTE
  for (let i = 0; i < 9; i++) limiter.decide('minute', full, 'reads', undefined, end - SECOND)
  sweepAll(end + SECOND)
  assert.equal(limiter.decide('minute', full, 'reads', undefined, end - 2 * SECOND).refused, 'RATE_LIMITED')
})

test('a flood of addresses is forgotten once its windows have passed', () => {
  const limiter = new MemoryLimiter()
  for (let i = 0; i < 300_000; i++) limiter.take(`address ${i}`, [SEARCH], NOW)
  const { bytes } = limiter.usage
  for (let i = 0; i < 70_000; i++) limiter.take('one', [SEARCH], NOW + 10 * MINUTE)
  assert.ok(limiter.usage.bytes < bytes / 100, `${limiter.usage.bytes} of ${bytes} bytes left`)
})

test('no two of a million names have one fingerprint', () => {
  const fingerprint = new Fingerprint()
  const seen = new Set<bigint>()
  const note = ({ a, b }: Fingerprint) => seen.add((BigInt(a >>> 0) << 32n) | BigInt(b >>> 0))
  for (let i = 0; i < 400_000; i++) {
    note(fingerprint.of(`VFN_LIVE_${i}`))
    note(fingerprint.within(i, 7, 'recruiter'))
    note(fingerprint.part(i, 7, i % 9))
  }
  assert.equal(seen.size, 1_200_000)
})

/** What a table of the database would hold after these snapshots. */
function stored(...snapshots: SavedRow[][]): SavedRow[] {
  const table = new Map(snapshots.flat().map((row) => [`${row.key} ${row.name}`, row]))
  return JSON.parse(JSON.stringify([...table.values()])).reverse()
}

test('windows of an hour and longer survive a restart', () => {
  const limits = limitsFor('live', { buckets: { workflowWrites: { day: 8 }, key: { day: 30 }, recruiter: { day: 3 } } })
  const before = new MemoryLimiter({ saving: true })
  for (let i = 0; i < 8; i++) before.decide('days', limits, 'workflowWrites', undefined, NOW)
  for (const who of ['ann', '{a}n}', 'x'.repeat(5000)])
    for (let i = 0; i < 3; i++) before.decide('days', limits, 'reads', who, NOW)
  for (let i = 0; i < 200; i++) before.browsePage('pages', live, NOW + i * SECOND)
  for (let i = 0; i < 150; i++) before.decide('rests', live, 'campaignWrites', undefined, NOW)
  for (let i = 0; i < 150; i++)
    before.seeSkills(
      'skills',
      live,
      Array.from({ length: 100 }, (_, j) => i * 100 + j),
      NOW,
    )
  const rows = stored(before.snapshot(NOW + 199 * SECOND))
  assert.ok(rows.every(({ name }) => name.length < 200))

  const later = NOW + 200 * SECOND
  const after = new MemoryLimiter({ saving: true })
  after.restore(rows, later)
  assert.deepEqual(after.snapshot(later), [], 'what was read is not written again')
  assert.equal(after.decide('days', limits, 'workflowWrites', undefined, later).refused, 'RATE_LIMITED')
  for (const who of ['ann', '{a}n}', 'x'.repeat(5000)])
    assert.equal(after.decide('days', limits, 'reads', who, later).refused, 'RATE_LIMITED')
  assert.equal(after.decide('days', limits, 'reads', 'bob', later).refused, undefined)
  const free = Array.from({ length: 25 }, () => after.decide('days', limits, 'reads', undefined, later))
  assert.equal(free.filter(({ refused }) => !refused).length, 12, 'of 30 a day, 18 were used')
  assert.equal(after.browsePage('pages', live, later)?.code, 'COOLDOWN')
  assert.equal(after.browsePage('pages', live, NOW + HOUR + 9 * SECOND), undefined)
  assert.equal(after.seeSkills('skills', live, [0, 14_999], later), undefined)
  assert.equal(after.seeSkills('skills', live, [15_000], later)?.code, 'DAILY_CAP')
  // The first cooldown is over, the next one is twice as long.
  for (let i = 0; i < 105; i++) after.decide('rests', live, 'campaignWrites', undefined, later)
  assert.deepEqual(after.decide('rests', live, 'reads', undefined, later).retryAfter, 120)
})

test('a cooldown goes on after a restart', () => {
  const before = new MemoryLimiter({ saving: true })
  for (let i = 0; i < 200; i++) before.decide('key', live, 'campaignWrites', undefined, NOW)
  const after = new MemoryLimiter()
  after.restore(before.snapshot(NOW), NOW + 10 * SECOND)
  const { refused, retryAfter } = after.decide('key', live, 'reads', undefined, NOW + 10 * SECOND)
  assert.deepEqual([refused, retryAfter], ['COOLDOWN', 50])
})

test('snapshots hold small rows, and only those that changed', () => {
  const limiter = new MemoryLimiter({ saving: true })
  const names = () => limiter.snapshot(NOW).map(({ name }) => name)
  limiter.decide('key', live, 'reads', 'ann', NOW)
  assert.deepEqual(names(), [], 'no window of an hour or longer was touched')
  for (let i = 0; i < 3; i++) limiter.decide('key', live, 'mandateWrites', 'ann', NOW)
  assert.deepEqual(limiter.snapshot(NOW), [
    { key: 'key', name: 'day:mandateWrites', value: [20_577, 3], expiresAt: Date.UTC(2026, 4, 4, 20, 30) },
  ])
  assert.deepEqual(names(), [])

  limiter.seeSkills(
    'key',
    live,
    Array.from({ length: 1000 }, (_, i) => i),
    NOW,
  )
  assert.equal(names().length, 8)
  limiter.seeSkills('key', live, [5000, 5001, 3], NOW)
  const [row, ...others] = limiter.snapshot(NOW)
  assert.deepEqual([row!.name, row!.value.length, others], ['skills:20577:7', 106, []])
  limiter.seeSkills('key', live, [3], NOW)
  assert.deepEqual(names(), [])

  for (let i = 0; i < 60; i++) limiter.browsePage('key', live, NOW)
  assert.deepEqual(names(), ['pages:0', 'pages:1', 'pages:2'])
  limiter.browsePage('key', live, NOW)
  assert.deepEqual(names(), ['pages:2'])
})

test('snapshots taken at any time add up, also over several restarts', () => {
  let limiter = new MemoryLimiter({ saving: true })
  const never = new MemoryLimiter()
  const snapshots: SavedRow[][] = []
  const limits = limitsFor('live', { buckets: { skillsMatch: { day: 400 } } })
  let seed = 42
  const random = (n: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % n
  }
  let now = NOW
  for (let step = 0; step < 3000; step++) {
    now += random(20_000)
    // New ones all the way to the cap, which is met after some restarts.
    const ids = Array.from({ length: random(30) }, () => random(40_000))
    assert.deepEqual(limiter.seeSkills('key', limits, ids, now), never.seeSkills('key', limits, ids, now))
    assert.deepEqual(limiter.browsePage('pages', limits, now), never.browsePage('pages', limits, now))
    const calls = [limiter, never].map((one) => one.decide('key', limits, 'skillsMatch', undefined, now).refused)
    assert.equal(calls[0], calls[1])
    if (step % 7 === 0) snapshots.push(limiter.snapshot(now))
    if (step % 280 !== 0) continue
    const rows = stored(...snapshots).filter(({ expiresAt }) => expiresAt > now)
    assert.ok(rows.every(({ value }) => value.length <= 128))
    // Long enough that what a restart forgets, a minute at most, has passed in the one that never stopped.
    now += 3 * MINUTE
    limiter = new MemoryLimiter({ saving: true })
    limiter.restore(rows, now)
  }
})
