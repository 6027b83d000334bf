import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectGarbageWhenIdle } from './idle-gc.ts'

test('garbage is collected once the process is idle, not while it is busy', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let utilization = 0.9
  t.mock.method(performance, 'eventLoopUtilization', () => ({ idle: 0, active: 0, utilization }))
  const garbage = new WeakRef(Array.from({ length: 1000 }, (_, index) => ({ index })))
  collectGarbageWhenIdle()
  await nextTurn()
  t.mock.timers.tick(3000)
  assert.ok(garbage.deref())
  await nextTurn()
  utilization = 0.01
  t.mock.timers.tick(3000)
  await nextTurn()
  assert.equal(garbage.deref(), undefined)
})
