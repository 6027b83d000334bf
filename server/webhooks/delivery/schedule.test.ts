import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { type Health, judge } from './health.ts'
import { nextAttempt, readRetryAfter } from './schedule.ts'

const NOW = Date.parse('2026-03-11T06:30:00.000Z')

test('the waits grow as promised, a tenth shorter or longer by chance', () => {
  const steps = [
    5 * SECOND,
    30 * SECOND,
    2 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    4 * HOUR,
    8 * HOUR,
    12 * HOUR,
    12 * HOUR,
  ]
  steps.forEach((step, index) => {
    const wait = (random: number) => nextAttempt(NOW, index + 1, 0, () => random) - NOW
    assert.equal(wait(0.5), step)
    assert.equal(wait(0), step * 0.9)
    assert.ok(wait(0.999) <= step * 1.1 && wait(0.999) > step * 1.09)
  })
})

test('an endpoint that asks to be left alone longer is, for a day at most', () => {
  assert.equal(
    nextAttempt(NOW, 1, 60 * SECOND, () => 0.5),
    NOW + 60 * SECOND,
  )
  assert.equal(
    nextAttempt(NOW, 1, SECOND, () => 0.5),
    NOW + 5 * SECOND,
  )
  assert.equal(
    nextAttempt(NOW, 1, 90 * DAY, () => 0.5),
    NOW + DAY,
  )
})

test('Retry-After is seconds or a date', () => {
  assert.equal(readRetryAfter('120', NOW), 120 * SECOND)
  assert.equal(readRetryAfter(new Date(NOW + HOUR).toUTCString(), NOW), HOUR)
  for (const text of [undefined, '', 'soon', '-5', '1.5', new Date(NOW - HOUR).toUTCString()])
    assert.equal(readRetryAfter(text, NOW), 0, text)
})

test('nothing but failures for a day makes an endpoint failing, one success makes it well', () => {
  let health: Health = { status: 'enabled', failingSince: null }
  assert.equal(judge(health, true, NOW), health)
  health = judge(health, false, NOW)
  assert.deepEqual(health, { status: 'enabled', failingSince: NOW })
  assert.equal(judge(health, false, NOW + DAY - 1), health)
  health = judge(health, false, NOW + DAY)
  assert.deepEqual(health, { status: 'failing', failingSince: NOW })
  assert.equal(judge(health, false, NOW + 2 * DAY), health)
  assert.deepEqual(judge(health, true, NOW + 2 * DAY), { status: 'enabled', failingSince: null })
  const interrupted = judge(judge({ status: 'enabled', failingSince: NOW }, true, NOW + HOUR), false, NOW + DAY)
  assert.deepEqual(interrupted, { status: 'enabled', failingSince: NOW + DAY })
})
