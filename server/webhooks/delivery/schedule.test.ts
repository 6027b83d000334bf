import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { type EndpointHealth, nextHealth } from './health.ts'
import { nextAttempt } from './schedule.ts'

const NOW = Date.parse('2026-03-11T06:30:00.000Z')

test('retry delays grow as documented, with a jitter of 10 %', () => {
  const delaysMs = [
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
  delaysMs.forEach((expected, index) => {
    const delayMs = (random: number) => nextAttempt(NOW, index + 1, 0, () => random) - NOW
    assert.equal(delayMs(0.5), expected)
    assert.equal(delayMs(0), expected * 0.9)
    assert.ok(delayMs(0.999) <= expected * 1.1 && delayMs(0.999) > expected * 1.09)
  })
})

test('an endpoint can request a longer delay, up to a day', () => {
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

test('an endpoint is failing after a day without success, until the next success', () => {
  let health: EndpointHealth = { status: 'enabled', failingSince: null }
  assert.equal(nextHealth(health, true, NOW), health)
  health = nextHealth(health, false, NOW)
  assert.deepEqual(health, { status: 'enabled', failingSince: NOW })
  assert.equal(nextHealth(health, false, NOW + DAY - 1), health)
  health = nextHealth(health, false, NOW + DAY)
  assert.deepEqual(health, { status: 'failing', failingSince: NOW })
  assert.equal(nextHealth(health, false, NOW + 2 * DAY), health)
  assert.deepEqual(nextHealth(health, true, NOW + 2 * DAY), { status: 'enabled', failingSince: null })
  const healthAfterSuccess = nextHealth(
    nextHealth({ status: 'enabled', failingSince: NOW }, true, NOW + HOUR),
    false,
    NOW + DAY,
  )
  assert.deepEqual(healthAfterSuccess, { status: 'enabled', failingSince: NOW + DAY })
})
