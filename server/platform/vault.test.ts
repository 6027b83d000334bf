import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../test/support/app.ts'
import { TestClock } from '../../test/support/clock.ts'
import { openDatabase } from './database/database.ts'
import { addMasterKey, openVault, type ReadMasterKey, removeOtherMasterKeys } from './vault.ts'

async function openTestDatabase(t: TestContext) {
  const { url, drop } = await cloneDatabase()
  const db = openDatabase({ connection: { connectionString: url }, name: 'test', onError: () => {} })
  t.after(async () => {
    await db.close()
    await drop()
  })
  return db
}

const clock = new TestClock()

/** Returns a source of a master key. */
function keySource(masterKey = randomBytes(32)): ReadMasterKey {
  return async () => masterKey
}

test('a sealed text opens only for its purpose, and only if it was not changed', async (t) => {
  const vault = await openVault(await openTestDatabase(t), keySource(), clock)
  const sealed = vault.seal('VFN_SK_secret', 'secret of A')
  assert.ok(!sealed.includes('VFN_SK_secret'))
  assert.equal(vault.open(sealed, 'secret of A'), 'VFN_SK_secret')
  assert.throws(() => vault.open(sealed, 'secret of B'))
  for (const at of [0, 20, sealed.length - 1]) {
    const changedBytes = Buffer.from(sealed)
    changedBytes[at]! ^= 1
    assert.throws(() => vault.open(changedBytes, 'secret of A'))
  }
  assert.notDeepEqual(vault.seal('same', 'x'), vault.seal('same', 'x'))
})

test('many texts are opened together, whatever their lengths', async (t) => {
  const vault = await openVault(await openTestDatabase(t), keySource(), clock)
  const texts = ['a', '0123456789abcdef', '0123456789abcdef0', '', 'é'.repeat(50), randomBytes(32).toString('base64')]
  const sealed = texts.map((text, index) => vault.seal(text, `text ${index}`))
  assert.deepEqual(vault.openUnverified(sealed).map(String), texts)
  assert.deepEqual(vault.openUnverified([]), [])
})

test('processes that open an empty database together share one data key', async (t) => {
  const db = await openTestDatabase(t)
  const masterKey = randomBytes(32)
  const vaults = await Promise.all(Array.from({ length: 10 }, () => openVault(db, keySource(masterKey), clock)))
  const sealed = vaults[0]!.seal('text', 'x')
  for (const vault of vaults) assert.equal(vault.open(sealed, 'x'), 'text')
})

test('opening the vault with another master key fails with an error that names MASTER_KEY', async (t) => {
  const db = await openTestDatabase(t)
  await openVault(db, keySource(), clock)
  await assert.rejects(openVault(db, keySource(), clock), /^Error: MASTER_KEY: cannot decrypt the secrets/)
})

test('secrets survive a rotation of the master key, and both keys work until it is finished', async (t) => {
  const db = await openTestDatabase(t)
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const runningVault = await openVault(db, keySource(oldKey), clock)
  const sealed = runningVault.seal('text', 'x')
  await db.transaction((tx) => addMasterKey(tx, oldKey, newKey, clock))
  assert.equal((await openVault(db, keySource(oldKey), clock)).open(sealed, 'x'), 'text')
  assert.equal((await openVault(db, keySource(newKey), clock)).open(sealed, 'x'), 'text')
  await db.transaction((tx) => removeOtherMasterKeys(tx, newKey))
  await assert.rejects(openVault(db, keySource(oldKey), clock))
  assert.equal(
    (await openVault(db, keySource(newKey), clock)).open(runningVault.seal('sealed meanwhile', 'y'), 'y'),
    'sealed meanwhile',
  )
})
