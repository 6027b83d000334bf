import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TestClock } from '../../../test/support/clock.ts'
import { keepLookout } from './due-poller.ts'

/** Something is due at the times in `dues`; work does what is due, unless it is held by somebody else. */
function openLookout(t: TestContext, dues: number[] = []) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let elapsed = 0
  t.mock.method(performance, 'now', () => elapsed)
  const clock = new TestClock(0)
  const seen = { looks: 0, works: 0, held: false, broken: false, reports: 0 }
  const lookout = keepLookout({
    clock,
    async soonest() {
      seen.looks++
      return dues.length > 0 ? Math.min(...dues) : undefined
    },
    async work() {
      seen.works++
      if (seen.broken) throw new Error('no database')
      if (!seen.held) for (const due of dues.filter((each) => each <= clock.now())) dues.splice(dues.indexOf(due), 1)
    },
    report: () => void seen.reports++,
  })
  t.after(() => lookout.stop())
  return { clock, dues, seen, lookout, settle, pass }

  async function settle() {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  async function pass(milliseconds: number, step = 10) {
    for (let passed = 0; passed < milliseconds; passed += step) {
      elapsed += step
      clock.advance(step)
      t.mock.timers.tick(step)
      await settle()
    }
  }
}

test('it works at the start, then only looks, a few times a minute', async (t) => {
  const { seen, settle, pass } = openLookout(t)
  await settle()
  assert.deepEqual([seen.works, seen.looks], [1, 1])
  await pass(60_000)
  assert.equal(seen.works, 1)
  assert.ok(seen.looks >= 11 && seen.looks <= 14, `${seen.looks} looks`)
})

test('what falls due is done then, however far off the next look is', async (t) => {
  const { dues, seen, settle, pass } = openLookout(t, [2000])
  await settle()
  await pass(1990)
  assert.equal(seen.works, 1)
  await pass(50)
  assert.equal(seen.works, 2)
  assert.deepEqual(dues, [])
})

test('who is told works at once, and once more for what came meanwhile', async (t) => {
  const { seen, lookout, settle } = openLookout(t)
  await settle()
  lookout.wake()
  lookout.wake()
  lookout.wake()
  await settle()
  assert.equal(seen.works, 3)
})

test('what another process left is found at the next look', async (t) => {
  const { dues, seen, settle, pass } = openLookout(t)
  await settle()
  await pass(1000)
  dues.push(500)
  await pass(4100)
  assert.deepEqual(dues, [])
  assert.equal(seen.works, 2)
})

test('what is due and cannot be done is tried again soon', async (t) => {
  const { dues, seen, settle, pass } = openLookout(t, [100])
  seen.held = true
  await settle()
  await pass(1300)
  assert.ok(seen.works >= 3, `${seen.works} works`)
  seen.held = false
  await pass(600)
  assert.deepEqual(dues, [])
})

test('a fault is told and tried again soon', async (t) => {
  const { dues, seen, settle, pass } = openLookout(t, [100])
  await settle()
  seen.broken = true
  await pass(1300)
  assert.ok(seen.reports >= 2, `${seen.reports} reports`)
  seen.broken = false
  await pass(600)
  assert.deepEqual(dues, [])
})

test('a clock that is set is noticed without a look', async (t) => {
  const { clock, dues, seen, settle, pass } = openLookout(t, [3_600_000])
  await settle()
  const { looks } = seen
  clock.advance(3_600_000)
  await pass(600)
  assert.deepEqual(dues, [])
  assert.equal(seen.looks, looks + 2)
})

test('nothing is done after it was stopped', async (t) => {
  const { seen, lookout, settle, pass } = openLookout(t, [100])
  await settle()
  await lookout.stop()
  lookout.wake()
  await pass(10_000)
  assert.equal(seen.works, 1)
})
