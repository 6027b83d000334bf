import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatWait } from './clock.ts'

test('a waiting time is shown in seconds, minutes or hours, rounded up', () => {
  for (const [seconds, text] of [
    [1, '1 second'],
    [119, '119 seconds'],
    [120, '2 minutes'],
    [121, '3 minutes'],
    [7199, '120 minutes'],
    [7200, '2 hours'],
    [86_400, '24 hours'],
  ] as const)
    assert.equal(formatWait(seconds), text)
})
