import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { logSize, readLog, rotateLog } from './log-file.ts'

test('a log that is too large is rotated, and one older file is kept', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-pg-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'postgres.log')
  rotateLog(file, 10)
  assert.equal(logSize(file), 0)
  for (const line of ['first line\n', 'second line\n', 'third\n']) {
    appendFileSync(file, line)
    rotateLog(file, 10)
  }
  assert.equal(readFileSync(file, 'utf8'), 'third\n')
  assert.equal(readFileSync(`${file}.1`, 'utf8'), 'second line\n')
  assert.equal(readLog(file, 2), 'ird\n')
  for (const [size, sizeAfter] of [
    [8 * 1024 ** 2, 8 * 1024 ** 2],
    [8 * 1024 ** 2 + 1, 0],
  ] as const) {
    truncateSync(file, size)
    rotateLog(file)
    assert.equal(logSize(file), sizeAfter)
  }
})
