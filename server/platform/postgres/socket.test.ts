import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { socketFolder } from './socket.ts'

const longPath = `/somewhere/${'long/'.repeat(30)}data`

function createFolder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'attestry-pg-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('a short socket path is used directly', () => {
  assert.equal(socketFolder('/srv/data', []), '/srv/data')
  const longestPath = `/${'d'.repeat(103 - '/'.length - '/.s.PGSQL.5432'.length)}`
  assert.equal(socketFolder(longestPath, []), longestPath)
})

test('a long socket path gets a symlink in a folder that only its owner can open; the symlink is reused, and recreated if it was deleted', (t) => {
  const base = createFolder(t)
  const host = socketFolder(longPath, [base])
  assert.equal(readlinkSync(host), longPath)
  assert.equal(statSync(dirname(host)).mode & 0o777, 0o700)
  assert.equal(socketFolder(longPath, [base]), host)
  rmSync(dirname(host), { recursive: true })
  assert.equal(socketFolder(longPath, [base]), host)
  assert.equal(readlinkSync(host), longPath)
  assert.notEqual(socketFolder(`${longPath}2`, [base]), host)
})

test('a folder that other users can write to is not used', (t) => {
  const [firstBase, secondBase] = [createFolder(t), createFolder(t)]
  const writableFolder = dirname(socketFolder(longPath, [firstBase]))
  rmSync(writableFolder, { recursive: true })
  mkdirSync(writableFolder)
  chmodSync(writableFolder, 0o777)
  assert.equal(dirname(dirname(socketFolder(longPath, [firstBase, secondBase]))), secondBase)
})
