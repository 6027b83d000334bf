import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { giveBackMemoryWhenQuiet } from './idle-gc.ts'

test('what the start left behind is given back in the first quiet moment, not in a busy one', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let utilization = 0.9
  t.mock.method(performance, 'eventLoopUtilization', () => ({ idle: 0, active: 0, utilization }))
  const left = new WeakRef(Array.from({ length: 1000 }, (_, index) => ({ index })))
  giveBackMemoryWhenQuiet()
  await nextTurn()
  t.mock.timers.tick(3000)
  assert.ok(left.deref())
  await nextTurn()
  utilization = 0.01
  t.mock.timers.tick(3000)
  await nextTurn()
  assert.equal(left.deref(), undefined)
})
