import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BucketName, limitsFor } from './table.ts'

const ratesOf = (mode: 'test' | 'live', name: BucketName) => {
  const { rate, burst, minute, day } = limitsFor(mode).buckets[name]
  return [rate, burst, minute, day]
}

test('a LIVE key has the published limits', () => {
  assert.deepEqual(ratesOf('live', 'key'), [150, 300, 6000, Infinity])
  assert.deepEqual(ratesOf('live', 'reads'), [20, 40, 1200, Infinity])
  assert.deepEqual(ratesOf('live', 'skillsSearch'), [100, 200, 4000, Infinity])
  assert.deepEqual(ratesOf('live', 'skillsLookup'), [20, 40, 600, Infinity])
  assert.deepEqual(ratesOf('live', 'skillsMatch'), [10, 20, 300, 50_000])
  assert.deepEqual(ratesOf('live', 'skillRequests'), [2, 5, 60, 2000])
  assert.deepEqual(ratesOf('live', 'workflowWrites'), [5, 10, 60, 2000])
  assert.deepEqual(ratesOf('live', 'mandateWrites'), [10, 20, 300, 20_000])
  assert.deepEqual(ratesOf('live', 'campaignWrites'), [2, 5, 30, 500])
  assert.deepEqual(ratesOf('live', 'itemWrites'), [2, 5, 60, 1000])
  assert.deepEqual(ratesOf('live', 'recruiter'), [5, 5, 200, Infinity])
  const { peoplePerDay, skillsPerDay, browsePagesPerHour } = limitsFor('live')
  assert.deepEqual([peoplePerDay, skillsPerDay, browsePagesPerHour], [2000, 15_000, 200])
})

test('a TEST key has one tenth of the limits, rounded down to at least one', () => {
  assert.deepEqual(ratesOf('test', 'key'), [15, 30, 600, Infinity])
  assert.deepEqual(ratesOf('test', 'skillRequests'), [0.2, 1, 6, 200])
  assert.deepEqual(ratesOf('test', 'campaignWrites'), [0.2, 1, 3, 50])
  assert.deepEqual(ratesOf('test', 'recruiter'), [0.5, 1, 20, Infinity])
  const { peoplePerDay, skillsPerDay, browsePagesPerHour } = limitsFor('test')
  assert.deepEqual([peoplePerDay, skillsPerDay, browsePagesPerHour], [200, 1500, 20])
})

test('overrides replace single limits, and are not scaled down for a TEST key', () => {
  const { buckets, peoplePerDay } = limitsFor('test', {
    buckets: { mandateWrites: { minute: 900 }, key: { rate: 300, day: 5 }, recruiter: { burst: 50 } },
    peoplePerDay: 7,
  })
  assert.deepEqual(
    [buckets.mandateWrites.rate, buckets.mandateWrites.minute, buckets.mandateWrites.day],
    [1, 900, 2000],
  )
  assert.deepEqual([buckets.key.rate, buckets.key.burst, buckets.key.day], [300, 30, 5])
  assert.deepEqual([buckets.recruiter.rate, buckets.recruiter.burst], [0.5, 50])
  assert.equal(peoplePerDay, 7)
})

test('every published rate refills a whole number of units per millisecond', () => {
  for (const mode of ['test', 'live'] as const) {
    for (const [name, { refillPerMs, rate }] of Object.entries(limitsFor(mode).buckets)) {
      assert.equal(refillPerMs, Math.round(rate * 10), name)
    }
  }
})

test('limits that are zero, negative or fractional are rejected', () => {
  assert.throws(() => limitsFor('live', { buckets: { reads: { rate: 0 } } }), /reads\.rate must be a positive number/)
  assert.throws(() => limitsFor('live', { buckets: { key: { minute: 1.5 } } }), /key\.minute must be a whole number/)
  assert.throws(() => limitsFor('live', { peoplePerDay: -1 }), /peoplePerDay/)
})
