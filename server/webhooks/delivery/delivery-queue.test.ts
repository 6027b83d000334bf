import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  DeliveryQueue,
  INITIAL_WINDOW,
  MAX_BUFFERED_MS,
  MAX_READ_BATCH_DELIVERIES,
  MAX_UNFINISHED_DELIVERIES,
  MAX_WINDOW,
  MIN_READ_BATCH_DELIVERIES,
  MIN_WINDOW,
  type ReadScope,
} from './delivery-queue.ts'

interface Delivery {
  event_id: string
}

/**
 * A queue with a simulated table of pending deliveries and a simulated endpoint. Checks the invariants at each step against
 * plain sets: deliveries pending in the table, in flight, and attempted but not recorded.
 */
class Simulation {
  readonly queue = new DeliveryQueue<Delivery>()
  readonly pending = new Set<string>()
  readonly finished = new Set<string>()
  readonly inFlight: string[] = []
  readonly unrecorded: { id: string; delivered: boolean }[] = []
  readonly #readAt = new Map<string, number>()
  #read: { scope: ReadScope; limit: number; rows: string[] } | undefined
  #created = 0
  #suspended = false
  #failuresInARow = 0
  #discardRead = false
  now = 0

  create(count: number) {
    for (let n = 0; n < count; n++) this.pending.add(`EV_${this.#created++}`)
    this.queue.requestRead('recent')
  }

  /** Acknowledges a pending event by pull: the table no longer returns it. */
  pull(index: number) {
    const waitingIds = [...this.pending].filter((id) => !this.inFlight.includes(id))
    const id = waitingIds[index % Math.max(1, waitingIds.length)]
    if (id === undefined) return
    this.pending.delete(id)
    this.finished.add(id)
  }

  startRead() {
    const scope = this.queue.startRead()
    if (scope === undefined) return
    assert.equal(this.#read, undefined, 'one read at a time')
    assert.ok(!this.#suspended, 'no read while suspended')
    assert.ok(this.queue.unfinishedIds.size < MAX_UNFINISHED_DELIVERIES, 'no read without room')
    const limit = this.queue.readLimit
    const rows = [...this.pending].filter((id) => !this.queue.unfinishedIds.has(id)).slice(0, limit)
    this.#read = { scope, limit, rows }
    this.#discardRead = false
  }

  finishRead() {
    if (!this.#read) return
    const { rows, limit } = this.#read
    this.#read = undefined
    this.queue.finishRead(
      rows.map((event_id) => ({ event_id })),
      limit,
      this.now,
    )
    if (!this.#discardRead) for (const id of rows) this.#readAt.set(id, this.now)
  }

  failRead() {
    if (!this.#read) return
    const { scope } = this.#read
    this.#read = undefined
    this.queue.failRead()
    this.queue.requestRead(scope)
  }

  send() {
    const { window } = this.queue
    const inFlight = this.inFlight.length
    const delivery = this.queue.next(this.now)
    if (!delivery) return false
    const { event_id: id } = delivery
    assert.ok(inFlight < window, `${inFlight} in flight with a window of ${window}`)
    assert.ok(!this.#suspended, 'nothing is sent while suspended')
    assert.ok(!this.inFlight.includes(id), `${id} returned twice`)
    assert.ok(!this.unrecorded.some((attempt) => attempt.id === id), `${id} returned again before it was recorded`)
    assert.ok(this.now - this.#readAt.get(id)! <= MAX_BUFFERED_MS, `${id} was read too long ago`)
    this.inFlight.push(id)
    return true
  }

  finishAttempt(index: number, delivered: boolean) {
    const id = this.inFlight.splice(index % Math.max(1, this.inFlight.length), 1)[0]
    if (id === undefined) return
    const windowBefore = this.queue.window
    this.#failuresInARow = delivered ? 0 : this.#failuresInARow + 1
    this.queue.finishAttempt(delivered)
    const isNarrowed = this.#failuresInARow >= windowBefore
    if (isNarrowed) this.#failuresInARow = 0
    const expectedWindow = delivered ? windowBefore + 1 : isNarrowed ? Math.floor(windowBefore / 2) : windowBefore
    assert.equal(this.queue.window, Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, expectedWindow)))
    this.unrecorded.push({ id, delivered })
  }

  record() {
    const attempt = this.unrecorded.shift()
    if (!attempt) return
    if (attempt.delivered) {
      this.pending.delete(attempt.id)
      this.finished.add(attempt.id)
    }
    this.queue.finishDelivery(attempt.id)
    if (!attempt.delivered) this.queue.requestRead('any')
  }

  restart() {
    this.#discardRead = true
    this.queue.restart()
  }

  suspend() {
    this.#suspended = true
    this.#discardRead = true
    this.queue.suspend()
  }

  resume() {
    this.#suspended = false
    this.#discardRead = true
    this.queue.resume()
  }

  check() {
    const { queue } = this
    assert.ok(queue.window >= MIN_WINDOW && queue.window <= MAX_WINDOW, `window of ${queue.window}`)
    assert.equal(queue.inFlight, this.inFlight.length)
    for (const id of [...this.inFlight, ...this.unrecorded.map((attempt) => attempt.id)]) {
      assert.ok(queue.unfinishedIds.has(id), `${id} could be read and sent again`)
    }
    if (queue.isIdle && !this.#suspended) {
      const unreadIds = [...this.pending].filter((id) => !queue.unfinishedIds.has(id))
      assert.deepEqual(unreadIds, [], 'idle although there are deliveries to send')
    }
  }

  /** Runs until the queue is idle, with an endpoint that accepts everything. */
  drain() {
    this.resume()
    for (let round = 0; !this.queue.isIdle; round++) {
      assert.ok(round < 10_000, 'never becomes idle')
      this.startRead()
      this.finishRead()
      while (this.send());
      while (this.inFlight.length > 0) this.finishAttempt(0, true)
      while (this.unrecorded.length > 0) this.record()
      this.check()
    }
    assert.equal(this.pending.size, 0, 'every delivery was sent')
    assert.equal(this.finished.size, this.#created)
  }
}

type Step = (simulation: Simulation) => void

/** Shows the step by name in a counterexample. */
function step(name: string, run: Step): Step {
  return Object.assign((simulation: Simulation) => run(simulation), { [fc.toStringMethod]: () => name })
}

const smallNumber = fc.nat({ max: 200 })
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: smallNumber.map((count) => step(`create ${count}`, (s) => s.create(count))) },
  { weight: 1, arbitrary: smallNumber.map((index) => step(`pull ${index}`, (s) => s.pull(index))) },
  { weight: 4, arbitrary: fc.constant(step('start read', (s) => s.startRead())) },
  { weight: 4, arbitrary: fc.constant(step('finish read', (s) => s.finishRead())) },
  { weight: 1, arbitrary: fc.constant(step('fail read', (s) => s.failRead())) },
  {
    weight: 6,
    arbitrary: fc.nat({ max: MAX_WINDOW }).map((count) =>
      step(`send ${count}`, (s) => {
        for (let n = 0; n < count && s.send(); n++);
      }),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(smallNumber, fc.nat({ max: 40 }), fc.boolean()).map(([index, count, delivered]) =>
      step(`finish ${count} attempts: ${delivered}`, (s) => {
        for (let n = 0; n < count; n++) s.finishAttempt(index, delivered)
      }),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.nat({ max: 40 }).map((count) =>
      step(`record ${count}`, (s) => {
        for (let n = 0; n < count; n++) s.record()
      }),
    ),
  },
  { weight: 1, arbitrary: fc.constant(step('restart', (s) => s.restart())) },
  { weight: 1, arbitrary: fc.constant(step('suspend', (s) => s.suspend())) },
  { weight: 2, arbitrary: fc.constant(step('resume', (s) => s.resume())) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(1, 1000, MAX_BUFFERED_MS, MAX_BUFFERED_MS + 1).map((milliseconds) =>
      step(`wait ${milliseconds} ms`, (s) => {
        s.now += milliseconds
      }),
    ),
  },
)

test('no delivery is lost, sent twice, sent above the window or sent long after it was read', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 120, size: 'max' }), (steps) => {
      const simulation = new Simulation()
      for (const run of steps) {
        run(simulation)
        simulation.check()
      }
      // Attempts that the steps left in flight must not hide a loss.
      while (simulation.inFlight.length > 0) simulation.finishAttempt(0, false)
      while (simulation.unrecorded.length > 0) simulation.record()
      simulation.finishRead()
      simulation.drain()
    }),
    { numRuns: 300 },
  )
})

/** Returns a queue with `count` deliveries read at time 0. */
function queueOf(count: number, limit = count + 1) {
  const queue = new DeliveryQueue<Delivery>()
  assert.equal(queue.startRead(), 'any')
  queue.finishRead(
    Array.from({ length: count }, (_, n) => ({ event_id: `EV_${n}` })),
    limit,
    0,
  )
  return queue
}

function sendAll(queue: DeliveryQueue<Delivery>, now = 0): string[] {
  const sentIds: string[] = []
  for (let next = queue.next(now); next; next = queue.next(now)) sentIds.push(next.event_id)
  return sentIds
}

test('the window narrows to its minimum while all attempts fail, and widens to its maximum while they succeed', () => {
  const queue = queueOf(500)
  const windows: number[] = []
  const attempt = (delivered: boolean) => {
    assert.ok(queue.next(0))
    queue.finishAttempt(delivered)
    if (queue.window !== windows.at(-1)) windows.push(queue.window)
  }

  for (let n = 0; n < 100; n++) attempt(false)
  assert.deepEqual(windows, [INITIAL_WINDOW, 8, MIN_WINDOW])
  assert.equal(sendAll(queue).length, MIN_WINDOW)
  for (let n = 0; n < MIN_WINDOW; n++) queue.finishAttempt(false)

  for (let n = 0; n < 100; n++) attempt(true)
  assert.equal(queue.window, MAX_WINDOW)
  assert.equal(sendAll(queue).length, MAX_WINDOW)
})

test('only consecutive failures narrow the window', () => {
  const queue = queueOf(100)
  const failAttempts = (count: number) => {
    for (let n = 0; n < count; n++) {
      queue.next(0)
      queue.finishAttempt(false)
    }
  }
  failAttempts(INITIAL_WINDOW - 1)
  queue.next(0)
  queue.finishAttempt(true)
  assert.equal(queue.window, INITIAL_WINDOW + 1)
  failAttempts(INITIAL_WINDOW)
  assert.equal(queue.window, INITIAL_WINDOW + 1)
  failAttempts(1)
  assert.equal(queue.window, INITIAL_WINDOW / 2)
})

test('a read is limited to two windows, with a minimum and a maximum', () => {
  const queue = queueOf(100)
  assert.equal(queue.readLimit, 2 * INITIAL_WINDOW)
  for (let n = 0; n < 100; n++) {
    queue.next(0)
    queue.finishAttempt(true)
  }
  assert.equal(queue.readLimit, MAX_READ_BATCH_DELIVERIES)

  const failingQueue = queueOf(100)
  for (let n = 0; n < 100; n++) {
    failingQueue.next(0)
    failingQueue.finishAttempt(false)
  }
  assert.equal(failingQueue.window, MIN_WINDOW)
  assert.equal(failingQueue.readLimit, MIN_READ_BATCH_DELIVERIES)
})

test('an endpoint with a new URL starts with the initial window', () => {
  const queue = queueOf(100)
  for (let n = 0; n < 50; n++) {
    queue.next(0)
    queue.finishAttempt(false)
  }
  assert.equal(queue.window, MIN_WINDOW)
  queue.resetWindow()
  assert.equal(queue.window, INITIAL_WINDOW)
})

test('deliveries that were buffered too long are read again before they are sent', () => {
  const queue = queueOf(40)
  assert.equal(sendAll(queue).length, INITIAL_WINDOW)
  for (let n = 0; n < INITIAL_WINDOW; n++) queue.finishAttempt(true)
  assert.ok(queue.next(MAX_BUFFERED_MS), 'not outdated yet')
  assert.equal(queue.startRead(), undefined, 'enough buffered')

  assert.equal(queue.next(MAX_BUFFERED_MS + 1), undefined)
  assert.equal(queue.unfinishedIds.size, INITIAL_WINDOW + 1, 'only deliveries that next returned are left')
  assert.equal(queue.startRead(), 'any')
  queue.finishRead([{ event_id: 'EV_39' }], 10, MAX_BUFFERED_MS + 2)
  assert.deepEqual(sendAll(queue, MAX_BUFFERED_MS + 2), ['EV_39'], 'the others were acknowledged in the meantime')
})

test('a later read does not extend the time for which earlier deliveries stay buffered', () => {
  const queue = queueOf(1)
  queue.requestRead('recent')
  assert.equal(queue.startRead(), 'recent')
  queue.finishRead([{ event_id: 'EV_1' }], 10, MAX_BUFFERED_MS)
  assert.equal(queue.next(MAX_BUFFERED_MS + 1), undefined)
  assert.equal(queue.startRead(), 'any')
})

test('a read that reaches its limit is followed by another with the same scope; requesting `recent` does not replace a requested `any`', () => {
  const queue = queueOf(2, 2)
  queue.requestRead('recent')
  assert.equal(queue.startRead(), 'any')
  queue.finishRead([], 10, 0)
  assert.equal(queue.startRead(), undefined)

  queue.requestRead('recent')
  assert.equal(queue.startRead(), 'recent')
  queue.finishRead([{ event_id: 'EV_2' }], 1, 0)
  assert.equal(queue.startRead(), 'recent')
})

test('nothing is read while half a window is buffered or too many deliveries are unrecorded', () => {
  const halfFullQueue = queueOf(INITIAL_WINDOW / 2)
  halfFullQueue.requestRead('any')
  assert.equal(halfFullQueue.startRead(), 'any')

  const fullerQueue = queueOf(INITIAL_WINDOW / 2 + 1)
  fullerQueue.requestRead('any')
  assert.equal(fullerQueue.startRead(), undefined)

  const unrecordedQueue = queueOf(MAX_UNFINISHED_DELIVERIES)
  while (unrecordedQueue.next(0)) unrecordedQueue.finishAttempt(true)
  unrecordedQueue.requestRead('any')
  assert.equal(unrecordedQueue.startRead(), undefined)
  unrecordedQueue.finishDelivery('EV_0')
  assert.equal(unrecordedQueue.startRead(), 'any')
})

test('the result of a read is discarded if the queue was restarted or suspended during it', () => {
  for (const interrupt of ['restart', 'suspend'] as const) {
    const queue = queueOf(0)
    queue.requestRead('recent')
    queue.startRead()
    queue[interrupt]()
    queue.finishRead([{ event_id: 'EV_1' }], 10, 0)
    assert.equal(queue.next(0), undefined)
    assert.equal(queue.unfinishedIds.size, 0)
    queue.resume()
    assert.equal(queue.startRead(), 'any')
  }
})

test('a queue is idle when there is nothing to read, send or record', () => {
  const queue = queueOf(1)
  assert.ok(!queue.isIdle, 'buffered')
  queue.next(0)
  assert.ok(!queue.isIdle, 'in flight')
  queue.finishAttempt(true)
  assert.ok(!queue.isIdle, 'not recorded')
  queue.finishDelivery('EV_0')
  assert.ok(queue.isIdle)
  queue.requestRead('recent')
  assert.ok(!queue.isIdle, 'to be read')
  queue.suspend()
  assert.ok(queue.isIdle, 'nothing is read while suspended')
})
