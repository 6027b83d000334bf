import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { cloneDatabase } from '../../../test/support/app.ts'
import { TestClock } from '../../../test/support/clock.ts'
import { nodeOptions } from '../../../test/support/node-options.ts'
import { until } from '../../../test/support/until.ts'
import { openDatabase, type Tx } from '../database/database.ts'
import { openListener } from '../database/listener.ts'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { DELAYED_JOBS_TOPIC } from './delayed-jobs.ts'
import { defineJob, type Job, openQueue, type Queue, type Worker } from './queue.ts'
import { retryJob } from './queued-jobs.ts'

const noteJob = defineJob<{ text: string }>('note', { retryDelaySeconds: 1, retries: 3 })
const uniqueNoteJob = defineJob<{ text: string }>('unique_note', { unique: true })

async function openTestQueues(t: TestContext) {
  const { url, drop } = await cloneDatabase()
  const db = openDatabase({ connection: { connectionString: url }, name: 'test', onError: () => {} })
  const clock = new TestClock(Date.now())
  const openedQueues: Queue[] = []
  t.after(async () => {
    await Promise.all(openedQueues.map((queue) => queue.stop()))
    await db.close()
    await drop()
  })
  const openTestQueue = async (work?: (worker: Worker) => void, graceSeconds = 1, defersWork = false) => {
    const queue = await openQueue({
      connection: { connectionString: url },
      db,
      clock,
      log: createLog('silent'),
      metrics: createMetrics(),
      jobs: [noteJob, uniqueNoteJob] as Job<object>[],
      graceSeconds,
      defersWork,
      ...(work ? { work } : {}),
    })
    openedQueues.push(queue)
    return queue
  }
  return { url, db, clock, openTestQueue }
}

test('a job is enqueued when its transaction commits', async (t) => {
  const { db, openTestQueue } = await openTestQueues(t)
  const doneTexts: string[] = []
  const queue = await openTestQueue((worker) => worker.handle(noteJob, async ({ text }) => void doneTexts.push(text)))
  await assert.rejects(
    db.transaction(async (tx) => {
      await queue.enqueue(tx, noteJob, { text: 'rolled back' })
      throw new Error('no')
    }),
  )
  await db.transaction((tx) => queue.enqueueMany(tx, noteJob, [{ text: 'one' }, { text: 'two' }]))
  await until(() => doneTexts.length === 2)
  assert.deepEqual(doneTexts.sort(), ['one', 'two'])
})

test('a job enqueued by an api process is run by a worker process', async (t) => {
  const { db, openTestQueue } = await openTestQueues(t)
  const apiQueue = await openTestQueue()
  await db.transaction((tx) => apiQueue.enqueue(tx, noteJob, { text: 'from api' }))
  const doneTexts: string[] = []
  await openTestQueue((worker) => worker.handle(noteJob, async ({ text }) => void doneTexts.push(text)))
  await until(() => doneTexts.includes('from api'))
})

test('deferred work starts with startWork, and then runs the jobs that were enqueued before', async (t) => {
  const { db, openTestQueue } = await openTestQueues(t)
  const calls: string[] = []
  const handleNotes = (worker: Worker) => {
    calls.push('registered')
    worker.handle(noteJob, async ({ text }) => void calls.push(text))
  }
  const queue = await openTestQueue(handleNotes, 1, true)
  await db.transaction((tx) => queue.enqueue(tx, noteJob, { text: 'done' }))
  calls.push('enqueued')
  await queue.startWork()
  await until(() => calls.length === 3)
  assert.deepEqual(calls, ['enqueued', 'registered', 'done'])
})

test('a start updates the queues whose settings have changed, and no others', async (t) => {
  const { db, openTestQueue } = await openTestQueues(t)
  const readQueues = async () => {
    const { rows } = await sql<{ retry_limit: number; updated_on: Date }>`
      select retry_limit, updated_on from pgboss.queue where name in ('note', 'unique_note') order by name`.execute(
      db.queries,
    )
    return rows
  }
  await openTestQueue()
  await sql`update pgboss.queue set retry_limit = 1 where name = 'note'`.execute(db.queries)
  const [, uniqueNoteBefore] = await readQueues()
  await openTestQueue()
  const [note, uniqueNote] = await readQueues()
  assert.equal(note!.retry_limit, 3)
  assert.deepEqual(uniqueNote, uniqueNoteBefore)
})

test('a failed job is retried', async (t) => {
  const { db, openTestQueue } = await openTestQueues(t)
  let runs = 0
  const queue = await openTestQueue((worker) =>
    worker.handle(noteJob, async () => {
      if (++runs < 2) throw new Error('transient error')
    }),
  )
  await db.transaction((tx) => queue.enqueue(tx, noteJob, { text: 'x' }))
  await until(() => runs === 2)
})

test('jobs enqueued together run one after the other, without delays between them', async (t) => {
  const { db, openTestQueue } = await openTestQueues(t)
  let done = 0
  const queue = await openTestQueue((worker) => worker.handle(noteJob, async () => void done++))
  const texts = Array.from({ length: 60 }, (_, index) => ({ text: String(index) }))
  await db.transaction((tx) => queue.enqueueMany(tx, noteJob, texts))
  // If the worker polled between jobs, 60 jobs would take at least a minute.
  await until(() => done === 60, 50_000)
})

test('a worker is notified when another process delays a job or retries a failed one', async (t) => {
  const { url, db, clock, openTestQueue } = await openTestQueues(t)
  const connection = { connectionString: url }
  const otherDatabase = openDatabase({ connection, name: 'another process', onError: () => {} })
  const listener = await openListener(connection, createLog('silent'))
  await db.listen(listener)
  const doneTexts: string[] = []
  const queue = await openTestQueue((worker) => worker.handle(noteJob, async ({ text }) => void doneTexts.push(text)))
  t.after(async () => {
    await listener.close()
    await otherDatabase.close()
  })
  await db.transaction((tx) => queue.enqueue(tx, noteJob, { text: 'failed' }, { at: clock.now() + 3_600_000 }))
  const { rows } = await sql<{ id: string }>`
    update pgboss.job set state = 'failed', start_after = now() where name = 'note' returning id`.execute(db.queries)
  let notifications = 0
  db.onCommitted(DELAYED_JOBS_TOPIC, () => notifications++)
  const expectRunAfterNotification = async (text: string, change: (tx: Tx) => Promise<unknown>) => {
    const notificationsBefore = notifications
    await otherDatabase.transaction(change)
    await until(() => notifications > notificationsBefore)
    await until(() => doneTexts.includes(text))
  }
  await expectRunAfterNotification('delayed', (tx) =>
    queue.enqueue(tx, noteJob, { text: 'delayed' }, { at: clock.now() + 300 }),
  )
  await expectRunAfterNotification('failed', (tx) => retryJob(tx, 'note', rows[0]!.id))
})

test('a delayed job starts at its time, by the injected clock', async (t) => {
  const { db, clock, openTestQueue } = await openTestQueues(t)
  const doneTexts: string[] = []
  const queue = await openTestQueue((worker) => worker.handle(noteJob, async ({ text }) => void doneTexts.push(text)))
  clock.advance(3_600_000) // an hour ahead of the machine: only differences count
  await db.transaction(async (tx) => {
    await queue.enqueue(tx, noteJob, { text: 'later' }, { at: clock.now() + 3_600_000 })
    await queue.enqueue(tx, noteJob, { text: 'soon' }, { at: clock.now() + 500 })
  })
  await until(() => doneTexts.includes('soon'))
  assert.deepEqual(doneTexts, ['soon'])
  await sql`update pgboss.job set start_after = start_after - interval '1 hour' where state = 'created'`.execute(
    db.queries,
  )
  await until(() => doneTexts.includes('later'))
})

test('at most one unique job per key is waiting', async (t) => {
  const { db, openTestQueue } = await openTestQueues(t)
  const queue = await openTestQueue()
  for (const key of ['a', 'a', 'b'])
    await db.transaction((tx) => queue.enqueue(tx, uniqueNoteJob, { text: key }, { key }))
  const [depth] = (await queue.depths()).filter((one) => one.queue === 'unique_note')
  assert.equal(depth!.waiting, 2)
  await assert.rejects(
    db.transaction((tx) => queue.enqueue(tx, uniqueNoteJob, { text: 'x' })),
    /key/,
  )
  await assert.rejects(
    db.transaction((tx) => queue.enqueue(tx, noteJob, { text: 'x' }, { key: 'k' })),
    /key/,
  )
})

test('a stopping process releases its running job', async (t) => {
  const { db, openTestQueue } = await openTestQueues(t)
  let started = 0
  let aborted = false
  const firstQueue = await openTestQueue((worker) =>
    worker.handle(noteJob, async (_payload, signal) => {
      started++
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          aborted = true
          reject(new Error('stopping'))
        }),
      )
    }),
  )
  await db.transaction((tx) => firstQueue.enqueue(tx, noteJob, { text: 'long' }))
  await until(() => started === 1)
  await firstQueue.stop()
  assert.equal(aborted, true)
  const doneTexts: string[] = []
  await openTestQueue((worker) => worker.handle(noteJob, async ({ text }) => void doneTexts.push(text)))
  await until(() => doneTexts.includes('long'))
})

test('a job whose process is killed is run again by another process', { timeout: 120_000 }, async (t) => {
  const { url, db, openTestQueue } = await openTestQueues(t)
  const queue = await openTestQueue()
  await db.transaction((tx) => queue.enqueue(tx, noteJob, { text: 'survivor' }))
  const script = new URL('../../../test/faults/hanging-worker.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [...nodeOptions, script, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  const doneTexts: string[] = []
  await openTestQueue((worker) => worker.handle(noteJob, async ({ text }) => void doneTexts.push(text)))
  await until(() => doneTexts.includes('survivor'), 100_000)
})

test('the depth of a queue includes the age of its oldest job', async (t) => {
  const { db, openTestQueue } = await openTestQueues(t)
  const queue = await openTestQueue()
  await db.transaction((tx) => queue.enqueue(tx, noteJob, { text: 'x' }))
  await sql`update pgboss.job set start_after = now() - interval '90 seconds'`.execute(db.queries)
  const [depth] = (await queue.depths()).filter((one) => one.queue === 'note')
  assert.equal(depth!.waiting, 1)
  assert.ok(depth!.oldestSeconds >= 90)
})
