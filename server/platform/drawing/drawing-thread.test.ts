import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { DrawingThread } from './drawing-thread.ts'

const IDLE_MS = 30_000

/** Starts threads that return the input and their own number, after waiting until the file `release` exists if the input is `slow`. */
async function openThread(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-drawing-'))
  const release = join(folder, 'release')
  const script = pathToFileURL(join(folder, 'script.ts'))
  await writeFile(
    script,
    `import { existsSync } from 'node:fs'
     import { setTimeout as pause } from 'node:timers/promises'
     import { threadId } from 'node:worker_threads'
     import { serveDrawings } from ${JSON.stringify(new URL('drawing-thread.ts', import.meta.url).href)}
     serveDrawings(async (input: string) => {
       if (input === 'fail') throw new Error('no such font')
       while (input === 'slow' && !existsSync(${JSON.stringify(release)})) await pause(10)
       return Buffer.from(input + ' ' + threadId)
     })`,
  )
  const thread = new DrawingThread<string>(script)
  t.after(async () => {
    await thread.close()
    await rm(folder, { recursive: true })
  })
  const draw = async (input: string) => {
    const [text, threadId] = (await thread.draw(input)).toString().split(' ')
    return { text, threadId }
  }
  return { thread, draw, release: () => writeFile(release, '') }
}

test('a thread ends when nothing was drawn for 30 seconds, and not while it draws', async (t) => {
  const { draw, release } = await openThread(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const first = await draw('one')
  t.mock.timers.tick(IDLE_MS - 1)
  assert.deepEqual(await draw('two'), { text: 'two', threadId: first.threadId })

  const slow = draw('slow')
  t.mock.timers.tick(IDLE_MS)
  await draw('three') // ends while another drawing is pending
  t.mock.timers.tick(IDLE_MS)
  await release()
  assert.deepEqual(await slow, { text: 'slow', threadId: first.threadId })

  t.mock.timers.tick(IDLE_MS)
  assert.notEqual((await draw('four')).threadId, first.threadId)
})

test('a drawing that fails is rejected with the reason, and the thread draws the next one', async (t) => {
  const { draw } = await openThread(t)
  await assert.rejects(draw('fail'), { message: 'drawing a file failed: no such font' })
  assert.equal((await draw('one')).text, 'one')
})

test('drawings are rejected if the thread ends', async (t) => {
  const { thread, draw } = await openThread(t)
  const drawing = draw('slow')
  await thread.close()
  await assert.rejects(drawing, { message: 'the thread that draws files ended' })
})
