import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startPoller } from './poller.ts'

function openPoller(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let elapsed = 0
  t.mock.method(performance, 'now', () => elapsed)
  /** The polls so far, which the test ends. */
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
  return { poller, polls, errors, runMicrotasks, pass }

  async function runMicrotasks() {
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  async function pass(milliseconds: number) {
    elapsed += milliseconds
    t.mock.timers.tick(milliseconds)
    await runMicrotasks()
  }
}

test('a poll returns the delay until the next one', async (t) => {
  const { poller, polls, pass, runMicrotasks } = openPoller(t)
  poller.pollWithin(1000)
  await pass(999)
  assert.equal(polls.length, 0)
  await pass(1)
  assert.equal(polls.length, 1)
  polls[0]!.resolve(5000)
  await runMicrotasks()
  await pass(4999)
  assert.equal(polls.length, 1)
  await pass(1)
  assert.equal(polls.length, 2)
})

test('of several requests, the one with the shortest delay applies', async (t) => {
  const { poller, polls, pass } = openPoller(t)
  poller.pollWithin(1000)
  poller.pollWithin(50)
  poller.pollWithin(2000)
  await pass(50)
  assert.equal(polls.length, 1)
})

test('a request without delay polls immediately', (t) => {
  const { poller, polls } = openPoller(t)
  poller.pollWithin(0)
  assert.equal(polls.length, 1)
})

test('requests during a poll run another one after it', async (t) => {
  const { poller, polls, pass, runMicrotasks } = openPoller(t)
  poller.pollWithin(0)
  poller.pollWithin(0)
  poller.pollWithin(0)
  await pass(100)
  assert.equal(polls.length, 1)
  polls[0]!.resolve(5000)
  await runMicrotasks()
  assert.equal(polls.length, 2)
  poller.pollWithin(200)
  await pass(50)
  polls[1]!.resolve(5000)
  await runMicrotasks()
  await pass(149)
  assert.equal(polls.length, 2)
  await pass(1)
  assert.equal(polls.length, 3)
})

test('a failed poll is reported and retried', async (t) => {
  const { poller, polls, errors, pass, runMicrotasks } = openPoller(t)
  poller.pollWithin(0)
  polls[0]!.reject(new Error('no database'))
  await runMicrotasks()
  assert.equal(errors.length, 1)
  await pass(500)
  assert.equal(polls.length, 2)
})

test('stop waits for the running poll; nothing is polled or reported afterwards', async (t) => {
  const { poller, polls, errors, pass, runMicrotasks } = openPoller(t)
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
  await pass(10_000)
  assert.deepEqual([polls.length, errors], [1, []])
})
