import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR } from './clock.ts'
import { indianDate, indianDayNumber, indianDayStart, indianTimeOfDay } from './india-time.ts'

const MIDNIGHT = Date.parse('2026-03-11T00:00:00+05:30')

test('a day in India begins at 18:30 UTC', () => {
  assert.deepEqual([indianDate(MIDNIGHT - 1), indianDate(MIDNIGHT)], ['2026-03-10', '2026-03-11'])
  assert.equal(indianDayNumber(MIDNIGHT - 1), indianDayNumber(MIDNIGHT) - 1)
  assert.equal(indianDayStart(indianDayNumber(MIDNIGHT)), MIDNIGHT)
  assert.equal(indianDayStart(indianDayNumber(MIDNIGHT + DAY - 1)), MIDNIGHT)
})

test('the time of day is counted from midnight in India', () => {
  assert.equal(indianTimeOfDay(MIDNIGHT), 0)
  assert.equal(indianTimeOfDay(MIDNIGHT + 9 * HOUR), 9 * HOUR)
  assert.equal(indianTimeOfDay(MIDNIGHT - 1), DAY - 1)
})
