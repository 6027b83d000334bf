import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, SECOND } from '../clock.ts'
import { parseRetryAfter } from './retry-after.ts'

const NOW = Date.parse('2026-03-11T06:30:00.000Z')

test('Retry-After is a number of seconds or a date', () => {
  assert.equal(parseRetryAfter('120', NOW), 120 * SECOND)
  assert.equal(parseRetryAfter(' 0 ', NOW), 0)
  assert.equal(parseRetryAfter(['120', '7'], NOW), 120 * SECOND)
  assert.equal(parseRetryAfter(new Date(NOW + HOUR).toUTCString(), NOW), HOUR)
})

test('a date in the past means no delay', () => {
  assert.equal(parseRetryAfter(new Date(NOW - HOUR).toUTCString(), NOW), 0)
})

test('an absent or malformed header is ignored', () => {
  for (const text of [undefined, [], '', 'soon', '-5', '1.5', '2026-03-11', '1'.repeat(13)])
    assert.equal(parseRetryAfter(text, NOW), undefined, String(text))
})
