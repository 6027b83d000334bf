import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { cloneDatabase } from '../../../test/support/app.ts'
import { TestClock } from '../../../test/support/clock.ts'
import { openDatabase, type Tx } from '../database/database.ts'
import { openListener } from '../database/listener.ts'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { defineJob, type Job, openQueue, type Queue, type Worker } from './queue.ts'
import { retryJob } from './queued-jobs.ts'

const note = defineJob<{ text: string }>('note', { retryDelay: 1, retries: 3 })
const once_ = defineJob<{ text: string }>('once', { unique: true })

async function openTestQueues(t: TestContext) {
  const { url, drop } = await cloneDatabase()
  const db = openDatabase({ connection: { connectionString: url }, name: 'test', onError: () => {} })
  const clock = new TestClock(Date.now())
  const opened: Queue[] = []
  t.after(async () => {
    await Promise.all(opened.map((queue) => queue.stop()))
    await db.close()
    await drop()
  })
  const open = async (work?: (worker: Worker) => void, grace = 1) => {
    const queue = await openQueue({
      connection: { connectionString: url },
      db,
      clock,
      log: createLog('silent'),
      metrics: createMetrics(),
      jobs: [note, once_] as Job<object>[],
      grace,
      ...(work ? { work } : {}),
    })
    opened.push(queue)
    return queue
  }
  return { url, db, clock, open }
}

async function until(condition: () => boolean | Promise<boolean>, what: string) {
  for (let tries = 0; tries < 400; tries++) {
    if (await condition()) return
    await pause(25)
  }
  assert.fail(`never happened: ${what}`)
}

test('a job belongs to the transaction that asks for it', async (t) => {
  const { db, open } = await openTestQueues(t)
  const done: string[] = []
  const queue = await open((worker) => worker.handle(note, async ({ text }) => void done.push(text)))
  await assert.rejects(
    db.transaction(async (tx) => {
      await queue.enqueue(tx, note, { text: 'rolled back' })
      throw new Error('no')
    }),
  )
  await db.transaction((tx) => queue.enqueueMany(tx, note, [{ text: 'one' }, { text: 'two' }]))
  await until(() => done.length === 2, 'both jobs run')
  assert.deepEqual(done.sort(), ['one', 'two'])
})

test('a process that only enqueues leaves the work to another', async (t) => {
  const { db, open } = await openTestQueues(t)
  const api = await open()
  await db.transaction((tx) => api.enqueue(tx, note, { text: 'from api' }))
  const done: string[] = []
  await open((worker) => worker.handle(note, async ({ text }) => void done.push(text)))
  await until(() => done.includes('from api'), 'the worker runs it')
})

test('a failing job is run again, then succeeds', async (t) => {
  const { db, open } = await openTestQueues(t)
  let runs = 0
  const queue = await open((worker) =>
    worker.handle(note, async () => {
      if (++runs < 2) throw new Error('passing fault')
    }),
  )
  await db.transaction((tx) => queue.enqueue(tx, note, { text: 'x' }))
  await until(() => runs === 2, 'a second run')
})

test('jobs that come together run one after the other, without a rest in between', async (t) => {
  const { db, open } = await openTestQueues(t)
  let done = 0
  const queue = await open((worker) => worker.handle(note, async () => void done++))
  const began = Date.now()
  const texts = Array.from({ length: 60 }, (_, index) => ({ text: String(index) }))
  await db.transaction((tx) => queue.enqueueMany(tx, note, texts))
  await until(() => done === 60, 'all of them run')
  assert.ok(Date.now() - began < 8000, `${Date.now() - began} ms`)
})

test('a worker learns at once that another process put a job off, or lets one run again', async (t) => {
  const { url, db, clock, open } = await openTestQueues(t)
  const connection = { connectionString: url }
  const other = openDatabase({ connection, name: 'another process', onError: () => {} })
  const listener = await openListener(connection, createLog('silent'))
  await db.listen(listener)
  const done: string[] = []
  const queue = await open((worker) => worker.handle(note, async ({ text }) => void done.push(text)))
  t.after(async () => {
    await listener.close()
    await other.close()
  })
  await db.transaction((tx) => queue.enqueue(tx, note, { text: 'failed' }, { at: clock.now() + 3_600_000 }))
  const { rows } = await sql<{ id: string }>`
    update pgboss.job set state = 'failed', start_after = now() where name = 'note' returning id`.execute(db.queries)
  await pause(500) // the look of the start is over, the next one far off
  const quickly = async (text: string, act: (tx: Tx) => Promise<unknown>) => {
    const began = Date.now()
    await other.transaction(act)
    await until(() => done.includes(text), text)
    assert.ok(Date.now() - began < 2500, `${text} after ${Date.now() - began} ms`)
  }
  await quickly('put off', (tx) => queue.enqueue(tx, note, { text: 'put off' }, { at: clock.now() + 300 }))
  await quickly('failed', (tx) => retryJob(tx, 'note', rows[0]!.id))
})

test('a delayed job waits for its time, told by the injected clock', async (t) => {
  const { db, clock, open } = await openTestQueues(t)
  const done: string[] = []
  const queue = await open((worker) => worker.handle(note, async ({ text }) => void done.push(text)))
  clock.advance(3_600_000) // an hour ahead of the machine: only differences count
  await db.transaction(async (tx) => {
    await queue.enqueue(tx, note, { text: 'later' }, { at: clock.now() + 3_600_000 })
    await queue.enqueue(tx, note, { text: 'soon' }, { at: clock.now() + 500 })
  })
  await until(() => done.includes('soon'), 'the near one')
  assert.deepEqual(done, ['soon'])
  await sql`update pgboss.job set start_after = start_after - interval '1 hour' where state = 'created'`.execute(
    db.queries,
  )
  await until(() => done.includes('later'), 'the far one, once its time came')
})

test('a unique job waits at most once a key', async (t) => {
  const { db, open } = await openTestQueues(t)
  const queue = await open()
  for (const key of ['a', 'a', 'b']) await db.transaction((tx) => queue.enqueue(tx, once_, { text: key }, { key }))
  const [depth] = (await queue.depths()).filter((one) => one.queue === 'once')
  assert.equal(depth!.waiting, 2)
  await assert.rejects(
    db.transaction((tx) => queue.enqueue(tx, once_, { text: 'x' })),
    /key/,
  )
  await assert.rejects(
    db.transaction((tx) => queue.enqueue(tx, note, { text: 'x' }, { key: 'k' })),
    /key/,
  )
})

test('a stopping process hands its running job back', async (t) => {
  const { db, open } = await openTestQueues(t)
  let started = 0
  let aborted = false
  const first = await open((worker) =>
    worker.handle(note, async (_payload, signal) => {
      started++
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          aborted = true
          reject(new Error('asked to stop'))
        }),
      )
    }),
  )
  await db.transaction((tx) => first.enqueue(tx, note, { text: 'long' }))
  await until(() => started === 1, 'the job is running')
  await first.stop()
  assert.equal(aborted, true)
  const done: string[] = []
  await open((worker) => worker.handle(note, async ({ text }) => void done.push(text)))
  await until(() => done.includes('long'), 'another process runs it')
})

test('a job whose process is killed is run again by another', { timeout: 120_000 }, async (t) => {
  const { url, db, open } = await openTestQueues(t)
  const queue = await open()
  await db.transaction((tx) => queue.enqueue(tx, note, { text: 'survivor' }))
  const script = new URL('../../../test/faults/hanging-worker.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [script, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  const killed = Date.now()
  const done: string[] = []
  await open((worker) => worker.handle(note, async ({ text }) => void done.push(text)))
  while (!done.includes('survivor')) {
    assert.ok(Date.now() - killed < 60_000, 'not run again within a minute')
    await pause(100)
  }
})

test('depth and age of queues', async (t) => {
  const { db, open } = await openTestQueues(t)
  const queue = await open()
  await db.transaction((tx) => queue.enqueue(tx, note, { text: 'x' }))
  await sql`update pgboss.job set start_after = now() - interval '90 seconds'`.execute(db.queries)
  const [depth] = (await queue.depths()).filter((one) => one.queue === 'note')
  assert.equal(depth!.waiting, 1)
  assert.ok(depth!.oldestSeconds >= 90)
})
