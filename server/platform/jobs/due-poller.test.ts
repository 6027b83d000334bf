import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TestClock } from '../../../test/support/clock.ts'
import { startDuePoller } from './due-poller.ts'

/** Starts a poller for rows that are due at the times in `dueTimes`; its work removes the due rows unless they are locked. */
function openPoller(t: TestContext, dueTimes: number[] = []) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let elapsed = 0
  t.mock.method(performance, 'now', () => elapsed)
  const clock = new TestClock(0)
  const state = { checks: 0, runs: 0, locked: false, broken: false, errors: 0 }
  const poller = startDuePoller({
    clock,
    async nextDueAt() {
      state.checks++
      return dueTimes.length > 0 ? Math.min(...dueTimes) : undefined
    },
    async work() {
      state.runs++
      if (state.broken) throw new Error('no database')
      if (state.locked) return
      for (const due of dueTimes.filter((time) => time <= clock.now())) dueTimes.splice(dueTimes.indexOf(due), 1)
    },
    onError: () => void state.errors++,
  })
  t.after(() => poller.stop())
  return { clock, dueTimes, state, poller, runMicrotasks, advanceTime }

  async function runMicrotasks() {
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  async function advanceTime(milliseconds: number, stepMs = 10) {
    for (let passed = 0; passed < milliseconds; passed += stepMs) {
      elapsed += stepMs
      clock.advance(stepMs)
      t.mock.timers.tick(stepMs)
      await runMicrotasks()
    }
  }
}

test('the poller runs the work at the start, and then only polls a few times a minute', async (t) => {
  const { state, runMicrotasks, advanceTime } = openPoller(t)
  await runMicrotasks()
  assert.deepEqual([state.runs, state.checks], [1, 1])
  await advanceTime(60_000)
  assert.equal(state.runs, 1)
  assert.ok(state.checks >= 11 && state.checks <= 14, `${state.checks} checks`)
})

test('a row is processed when it is due, without waiting for the next poll', async (t) => {
  const { dueTimes, state, runMicrotasks, advanceTime } = openPoller(t, [2000])
  await runMicrotasks()
  await advanceTime(1990)
  assert.equal(state.runs, 1)
  await advanceTime(50)
  assert.equal(state.runs, 2)
  assert.deepEqual(dueTimes, [])
})

test('wake runs the work immediately, and once more for calls during the run', async (t) => {
  const { state, poller, runMicrotasks } = openPoller(t)
  await runMicrotasks()
  poller.wake()
  poller.wake()
  poller.wake()
  await runMicrotasks()
  assert.equal(state.runs, 3)
})

test('a due row without a notification is found by the next poll', async (t) => {
  const { dueTimes, state, runMicrotasks, advanceTime } = openPoller(t)
  await runMicrotasks()
  await advanceTime(1000)
  dueTimes.push(500)
  await advanceTime(4100)
  assert.deepEqual(dueTimes, [])
  assert.equal(state.runs, 2)
})

test('due rows that are locked by another process are retried soon', async (t) => {
  const { dueTimes, state, runMicrotasks, advanceTime } = openPoller(t, [100])
  state.locked = true
  await runMicrotasks()
  await advanceTime(1300)
  assert.ok(state.runs >= 3, `${state.runs} runs`)
  state.locked = false
  await advanceTime(600)
  assert.deepEqual(dueTimes, [])
})

test('an error is reported and the work retried soon', async (t) => {
  const { dueTimes, state, runMicrotasks, advanceTime } = openPoller(t, [100])
  await runMicrotasks()
  state.broken = true
  await advanceTime(1300)
  assert.ok(state.errors >= 2, `${state.errors} errors`)
  state.broken = false
  await advanceTime(600)
  assert.deepEqual(dueTimes, [])
})

test('a row becomes due when the clock is set forward, without waiting for the next poll', async (t) => {
  const { clock, dueTimes, state, runMicrotasks, advanceTime } = openPoller(t, [3_600_000])
  await runMicrotasks()
  const { checks } = state
  clock.advance(3_600_000)
  await advanceTime(600)
  assert.deepEqual(dueTimes, [])
  assert.equal(state.checks, checks + 2)
})

test('a stopped poller does nothing', async (t) => {
  const { state, poller, runMicrotasks, advanceTime } = openPoller(t, [100])
  await runMicrotasks()
  await poller.stop()
  poller.wake()
  await advanceTime(10_000)
  assert.equal(state.runs, 1)
})
