import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { socketFolder } from './socket.ts'

const long = `/somewhere/${'long/'.repeat(30)}data`

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'attestry-pg-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('a short path is used directly', () => {
  assert.equal(socketFolder('/srv/data', []), '/srv/data')
  const longest = `/${'d'.repeat(103 - '/'.length - '/.s.PGSQL.5432'.length)}`
  assert.equal(socketFolder(longest, []), longest)
})

test('a long path gets a symlink in a private folder, which is reused and recreated if it was deleted', (t) => {
  const base = folder(t)
  const host = socketFolder(long, [base])
  assert.equal(readlinkSync(host), long)
  assert.equal(statSync(dirname(host)).mode & 0o777, 0o700)
  assert.equal(socketFolder(long, [base]), host)
  rmSync(dirname(host), { recursive: true })
  assert.equal(socketFolder(long, [base]), host)
  assert.equal(readlinkSync(host), long)
  assert.notEqual(socketFolder(`${long}2`, [base]), host)
})

test('a folder that other users can write to is not used', (t) => {
  const [open, base] = [folder(t), folder(t)]
  const expected = dirname(socketFolder(long, [open]))
  rmSync(expected, { recursive: true })
  mkdirSync(expected)
  chmodSync(expected, 0o777)
  assert.equal(dirname(dirname(socketFolder(long, [open, base]))), base)
})
