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
 * Encrypts what must be read again (secrets of keys, provider credentials) with AES-256-GCM.
 *
 * Texts are sealed with a data key that lives in the database, sealed itself with the master key. Exchanging the master
 * key therefore rewrites one row, not every secret, and processes that run meanwhile go on undisturbed.
 */
export interface Vault {
  /** `purpose` binds the sealed text to its place: moved to another row, it does not open. */
  seal(text: string, purpose: string): Buffer
  open(sealed: Uint8Array, purpose: string): string
  /** A short proof that the text came from here and for this purpose; much cheaper than sealing it. */
  stamp(text: string, purpose: string): Buffer
}

const NONCE = 12
const TAG = 16
const STAMP = 16

function seal(key: Buffer, plain: Uint8Array, purpose: string): Buffer {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

function open(key: Buffer, sealed: Uint8Array, purpose: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE), { authTagLength: TAG })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(sealed.subarray(NONCE, NONCE + TAG))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()])
}

/** Names a master key without telling anything about it. */
export function masterKeyId(masterKey: Buffer): string {
  return createHash('sha256').update('attestry master key').update(masterKey).digest('hex').slice(0, 16)
}

export class WrongMasterKey extends Error {
  constructor() {
    super('MASTER_KEY: it does not open the secrets of this database; set the key that was used before')
  }
}

export async function openVault(db: Database, masterKey: Buffer, clock: Clock): Promise<Vault> {
  const dataKey = await db.transaction(
    async (tx) => (await findDataKey(tx, masterKey)) ?? (await makeDataKey(tx, masterKey, clock)),
  )
  const stampKey = createSecretKey(Buffer.from(hkdfSync('sha256', dataKey, '', 'stamps', 32)))
  return {
    seal: (text, purpose) => seal(dataKey, Buffer.from(text), purpose),
    open: (sealed, purpose) => open(dataKey, sealed, purpose).toString(),
    stamp: (text, purpose) =>
      createHmac('sha256', stampKey).update(`${purpose.length} ${purpose}${text}`).digest().subarray(0, STAMP),
  }
}

const PURPOSE = 'data key'
const LOCK = 7_411_002

async function findDataKey(tx: Tx, masterKey: Buffer): Promise<Buffer | undefined> {
  const row = await tx
    .selectFrom('data_keys')
    .select('wrapped')
    .where('master_key_id', '=', masterKeyId(masterKey))
    .executeTakeFirst()
  return row && open(masterKey, row.wrapped, PURPOSE)
}

async function makeDataKey(tx: Tx, masterKey: Buffer, clock: Clock): Promise<Buffer> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)
  const made = await findDataKey(tx, masterKey) // by a process that started at the same moment
  if (made) return made
  if (await tx.selectFrom('data_keys').select('data_key_id').executeTakeFirst()) throw new WrongMasterKey()
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
      wrapped: seal(masterKey, dataKey, PURPOSE),
      created_at: new Date(clock.now()),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** From here on either master key opens the vault. */
export async function addMasterKey(tx: Tx, current: Buffer, next: Buffer, clock: Clock): Promise<void> {
  const rows = await tx.selectFrom('data_keys').selectAll().where('master_key_id', '=', masterKeyId(current)).execute()
  if (rows.length === 0) throw new WrongMasterKey()
  for (const row of rows) await insertDataKey(tx, row.data_key_id, open(current, row.wrapped, PURPOSE), next, clock)
}

/** Forgets every master key but this one; answers how many there were. */
export async function keepOnlyMasterKey(tx: Tx, masterKey: Buffer): Promise<number> {
  if (!(await findDataKey(tx, masterKey))) throw new WrongMasterKey()
  const gone = await tx
    .deleteFrom('data_keys')
    .where('master_key_id', '<>', masterKeyId(masterKey))
    .returning('master_key_id')
    .execute()
  return gone.length
}
