import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/app.ts'
import { TestClock } from '../../../test/support/clock.ts'
import { openDatabase } from '../database/database.ts'
import { openVault } from '../vault.ts'
import { readCursor, writeCursor } from './cursor.ts'

test('a cursor is valid only unchanged, for its own list and in its own deployment', async (t) => {
  const database = await cloneDatabase()
  const db = openDatabase({ connection: { connectionString: database.url }, name: 'test', onError: () => {} })
  t.after(async () => {
    await db.close()
    await database.drop()
  })
  const masterKey = randomBytes(32)
  const vault = await openVault(db, async () => masterKey, new TestClock())
  const vaultAfterRestart = await openVault(db, async () => masterKey, new TestClock())
  const cursor = writeCursor(vault, 'things', { after: 7 })
  assert.match(cursor, /^[\w-]+$/)
  assert.deepEqual(readCursor(vaultAfterRestart, 'things', cursor), { after: 7 })
  assert.equal(readCursor(vault, 'things', undefined), undefined)
  const alteredCursors = [...cursor].map(
    (letter, i) => cursor.slice(0, i) + (letter === 'x' ? 'y' : 'x') + cursor.slice(i + 1),
  )
  for (const invalidCursor of [
    ...alteredCursors,
    '',
    'x',
    `${cursor}=`,
    ` ${cursor}`,
    `${cursor}!`,
    cursor.slice(0, -1),
  ]) {
    assert.throws(() => readCursor(vault, 'things', invalidCursor), {
      code: 'VALIDATION_FAILED',
      details: [
        { path: 'query.cursor', message: 'must be a `next_cursor` that this endpoint returned for the same filters' },
      ],
    })
  }
  assert.throws(() => readCursor(vault, 'others', cursor), { code: 'VALIDATION_FAILED' })
})
