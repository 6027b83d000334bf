import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { boundLog, logSize, readLog } from './log-file.ts'

test('a log that has grown too large is moved aside and goes on; one older part is kept', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-pg-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'postgres.log')
  boundLog(file, 10)
  assert.equal(logSize(file), 0)
  for (const line of ['first line\n', 'second line\n', 'third\n']) {
    appendFileSync(file, line)
    boundLog(file, 10)
  }
  assert.equal(readFileSync(file, 'utf8'), 'third\n')
  assert.equal(readFileSync(`${file}.1`, 'utf8'), 'second line\n')
  assert.equal(readLog(file, 2), 'ird\n')
})
