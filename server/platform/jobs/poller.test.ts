import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startPoller } from './poller.ts'

function openPoller(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let elapsed = 0
  t.mock.method(performance, 'now', () => elapsed)
  /** The polls so far; the test resolves or rejects them. */
  const polls: PromiseWithResolvers<number>[] = []
  const errors: unknown[] = []
  const poller = startPoller({
    poll() {
      const poll = Promise.withResolvers<number>()
      polls.push(poll)
      return poll.promise
    },
    onError: (error) => errors.push(error),
    retryDelayMs: 500,
  })
  return { poller, polls, errors, runMicrotasks, advanceTime }

  async function runMicrotasks() {
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  async function advanceTime(milliseconds: number) {
    elapsed += milliseconds
    t.mock.timers.tick(milliseconds)
    await runMicrotasks()
  }
}

test('a poll returns the delay until the next poll', async (t) => {
  const { poller, polls, advanceTime, runMicrotasks } = openPoller(t)
  poller.pollWithin(1000)
  await advanceTime(999)
  assert.equal(polls.length, 0)
  await advanceTime(1)
  assert.equal(polls.length, 1)
  polls[0]!.resolve(5000)
  await runMicrotasks()
  await advanceTime(4999)
  assert.equal(polls.length, 1)
  await advanceTime(1)
  assert.equal(polls.length, 2)
})

test('of several poll requests, the one with the shortest delay applies', async (t) => {
  const { poller, polls, advanceTime } = openPoller(t)
  poller.pollWithin(1000)
  poller.pollWithin(50)
  poller.pollWithin(2000)
  await advanceTime(50)
  assert.equal(polls.length, 1)
})

test('a poll request without a delay polls immediately', (t) => {
  const { poller, polls } = openPoller(t)
  poller.pollWithin(0)
  assert.equal(polls.length, 1)
})

test('poll requests during a poll cause another poll after it', async (t) => {
  const { poller, polls, advanceTime, runMicrotasks } = openPoller(t)
  poller.pollWithin(0)
  poller.pollWithin(0)
  poller.pollWithin(0)
  await advanceTime(100)
  assert.equal(polls.length, 1)
  polls[0]!.resolve(5000)
  await runMicrotasks()
  assert.equal(polls.length, 2)
  poller.pollWithin(200)
  await advanceTime(50)
  polls[1]!.resolve(5000)
  await runMicrotasks()
  await advanceTime(149)
  assert.equal(polls.length, 2)
  await advanceTime(1)
  assert.equal(polls.length, 3)
})

test('a failed poll is reported and retried', async (t) => {
  const { poller, polls, errors, advanceTime, runMicrotasks } = openPoller(t)
  poller.pollWithin(0)
  polls[0]!.reject(new Error('no database'))
  await runMicrotasks()
  assert.equal(errors.length, 1)
  await advanceTime(500)
  assert.equal(polls.length, 2)
})

test('stop waits for the running poll; nothing is polled or reported afterwards', async (t) => {
  const { poller, polls, errors, advanceTime, runMicrotasks } = openPoller(t)
  poller.pollWithin(0)
  let stopped = false
  const stopping = poller.stop().then(() => {
    stopped = true
  })
  await runMicrotasks()
  assert.equal(stopped, false)
  polls[0]!.reject(new Error('aborted'))
  await stopping
  poller.pollWithin(0)
  await advanceTime(10_000)
  assert.deepEqual([polls.length, errors], [1, []])
})
