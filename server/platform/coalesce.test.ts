import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { coalesce } from './coalesce.ts'

/** Returns work whose runs end when the test resolves or rejects them. */
function controlledWork() {
  const runs: PromiseWithResolvers<void>[] = []
  let active = 0
  return {
    runs,
    async work() {
      assert.equal(++active, 1, 'one run at a time')
      const run = Promise.withResolvers<void>()
      runs.push(run)
      await run.promise.finally(() => active--)
    },
  }
}

test('calls in the same event-loop turn share one run', async () => {
  const { runs, work } = controlledWork()
  const run = coalesce(work)
  const calls = [run(), run(), run()]
  await nextTurn()
  assert.equal(runs.length, 1)
  runs[0]!.resolve()
  await Promise.all(calls)
})

test('calls during a run share the next run, which starts after the current run has ended', async () => {
  const { runs, work } = controlledWork()
  const run = coalesce(work)
  const first = run()
  await nextTurn()
  let served = 0
  const laterCalls = [run(), run()].map((call) => call.then(() => served++))
  runs[0]!.resolve()
  await first
  await nextTurn()
  assert.deepEqual([runs.length, served], [2, 0])
  runs[1]!.resolve()
  await Promise.all(laterCalls)
  assert.deepEqual([runs.length, served], [2, 2])
})

test('a failed run rejects its own callers only', async () => {
  const { runs, work } = controlledWork()
  const run = coalesce(work)
  const first = run()
  await nextTurn()
  const second = run()
  runs[0]!.reject(new Error('first'))
  await assert.rejects(first, /first/)
  await nextTurn()
  runs[1]!.resolve()
  await second
})

test('a call that waited too long for a run that fails does not wait for another run', async (t) => {
  let elapsed = 0
  t.mock.method(performance, 'now', () => elapsed)
  const { runs, work } = controlledWork()
  const run = coalesce(work, { failTogetherAfterMs: 3000 })
  const first = run()
  await nextTurn()
  const second = run()
  elapsed = 3000
  runs[0]!.reject(new Error('timeout'))
  await assert.rejects(first, /timeout/)
  await assert.rejects(second, /timeout/)
  const third = run()
  await nextTurn()
  assert.equal(runs.length, 2)
  runs[1]!.resolve()
  await third
})
