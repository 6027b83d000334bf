import assert from 'node:assert/strict'
import { test } from 'node:test'
import { showProgress } from './progress.ts'

function fakeStream(isTTY: boolean) {
  const written: string[] = []
  return { written, isTTY, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream & {
    written: string[]
  }
}

test('on a terminal, a bar is redrawn in place and cleared at the end', () => {
  let now = 0
  const terminal = fakeStream(true)
  const progress = showProgress('Writing', terminal, () => now)
  progress.update(500, 2000)
  now = 99
  progress.update(501, 2000)
  progress.update(2000, 2000)
  progress.end()
  assert.deepEqual(terminal.written, [
    `\rWriting ${'█'.repeat(8)}${'░'.repeat(22)} 500 of 2,000\x1b[K`,
    `\rWriting ${'█'.repeat(30)} 2,000 of 2,000\x1b[K`,
    '\r\x1b[K',
  ])
})

test('without a terminal, plain lines are printed at intervals', () => {
  const file = fakeStream(false)
  const progress = showProgress('Writing', file, () => 0)
  for (let done = 1; done <= 1000; done++) progress.update(done, 1000)
  for (let part = 0; part < 14; part++) progress.update(1000, 1000)
  progress.end()
  assert.deepEqual(file.written, ['Writing: 1,000 of 1,000\n'])
})
