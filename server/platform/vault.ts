import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from './clock.ts'
import type { Database, Tx } from './database/database.ts'

/**
 * Encrypts secrets that must be readable again (key secrets, provider credentials) with AES-256-GCM.
 *
 * Texts are encrypted with a data key, which is stored in the database, encrypted with the master key. Rotating the master key
 * therefore rewrites one row instead of every secret, and does not interrupt running processes.
 */
export interface Vault {
  /** Encrypts a text. `purpose` binds the result to its row: copied to another row, it cannot be decrypted. */
  seal(text: string, purpose: string): Buffer
  /** Decrypts a text. Throws if it was sealed for another purpose, or changed. */
  open(sealed: Uint8Array, purpose: string): string
  /** Returns a message authentication code: a short proof that the text was created here for this purpose. */
  mac(text: string, purpose: string): Buffer
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
const MAC_BYTES = 16

function seal(key: Buffer, plain: Uint8Array, purpose: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
}

function open(key: Buffer, sealed: Uint8Array, purpose: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

/** Returns an identifier of a master key that does not reveal the key. */
function masterKeyId(masterKey: Buffer): string {
  return createHash('sha256').update('attestry master key').update(masterKey).digest('hex').slice(0, 16)
}

class WrongMasterKeyError extends Error {
  constructor() {
    super(
      'MASTER_KEY: cannot decrypt the secrets of this database; set MASTER_KEY to the key that this database was used with before',
    )
  }
}

export async function openVault(db: Database, masterKey: Buffer, clock: Clock): Promise<Vault> {
  const dataKey = await db.transaction(
    async (tx) => (await findDataKey(tx, masterKey)) ?? (await createDataKey(tx, masterKey, clock)),
  )
  const macKey = createSecretKey(Buffer.from(hkdfSync('sha256', dataKey, '', 'stamps', 32)))
  return {
    seal: (text, purpose) => seal(dataKey, Buffer.from(text), purpose),
    open: (sealed, purpose) => open(dataKey, sealed, purpose).toString(),
    mac: (text, purpose) =>
      createHmac('sha256', macKey).update(`${purpose.length} ${purpose}${text}`).digest().subarray(0, MAC_BYTES),
  }
}

const DATA_KEY_PURPOSE = 'data key'
/** Arbitrary, but different from the other advisory locks in the database. */
const ADVISORY_LOCK_ID = 7_411_002

async function findDataKey(tx: Tx, masterKey: Buffer): Promise<Buffer | undefined> {
  const row = await tx
    .selectFrom('data_keys')
    .select('wrapped')
    .where('master_key_id', '=', masterKeyId(masterKey))
    .executeTakeFirst()
  return row && open(masterKey, row.wrapped, DATA_KEY_PURPOSE)
}

async function createDataKey(tx: Tx, masterKey: Buffer, clock: Clock): Promise<Buffer> {
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK_ID})`.execute(tx)
  // A process that started at the same time may have created the data key.
  const existingKey = await findDataKey(tx, masterKey)
  if (existingKey) return existingKey
  if (await tx.selectFrom('data_keys').select('data_key_id').executeTakeFirst()) throw new WrongMasterKeyError()
  const dataKey = randomBytes(32)
  await insertDataKey(tx, randomBytes(8).toString('hex'), dataKey, masterKey, clock)
  return dataKey
}

async function insertDataKey(tx: Tx, id: string, dataKey: Buffer, masterKey: Buffer, clock: Clock) {
  await tx
    .insertInto('data_keys')
    .values({
      data_key_id: id,
      master_key_id: masterKeyId(masterKey),
      wrapped: seal(masterKey, dataKey, DATA_KEY_PURPOSE),
      created_at: new Date(clock.now()),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Adds a master key: from now on, both the current and the next key open the vault. */
export async function addMasterKey(tx: Tx, current: Buffer, next: Buffer, clock: Clock): Promise<void> {
  const rows = await tx.selectFrom('data_keys').selectAll().where('master_key_id', '=', masterKeyId(current)).execute()
  if (rows.length === 0) throw new WrongMasterKeyError()
  for (const row of rows)
    await insertDataKey(tx, row.data_key_id, open(current, row.wrapped, DATA_KEY_PURPOSE), next, clock)
}

/** Removes every master key except this one, and returns how many were removed. */
export async function removeOtherMasterKeys(tx: Tx, masterKey: Buffer): Promise<number> {
  if (!(await findDataKey(tx, masterKey))) throw new WrongMasterKeyError()
  const removedRows = await tx
    .deleteFrom('data_keys')
    .where('master_key_id', '<>', masterKeyId(masterKey))
    .returning('master_key_id')
    .execute()
  return removedRows.length
}
