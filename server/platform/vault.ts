import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from './clock.ts'
import { coalesce } from './coalesce.ts'
import type { Database, Queries, Tx } from './database/database.ts'
import { randomBytes } from './random.ts'

/**
 * Encrypts secrets that must be readable again (key secrets, provider credentials) with AES-256-GCM.
 *
 * Texts are encrypted with a data key, which is stored in the database, encrypted with the master key. Rotating the master key
 * therefore rewrites one row instead of every secret, and does not interrupt running processes. While the data key is rotated
 * (`data-key-rotation.ts`), there are two: the new one encrypts, and both decrypt.
 */
export interface Vault {
  /** Encrypts a text. `purpose` binds the result to its row: copied to another row, it cannot be decrypted. */
  seal(text: string, purpose: string): Buffer
  /** Decrypts a text. Throws if it was sealed for another purpose, or changed. */
  open(sealed: Uint8Array, purpose: string): string
  /**
   * Decrypts many texts much faster than `open`, but does not detect that a text was changed or sealed for another purpose. Use it
   * only to read values that are authenticated themselves, with the keys that it returns. Never encrypt with these keys: someone who knows a
   * sealed text and can write to the database can choose them.
   */
  openUnverified(sealed: readonly Uint8Array[]): Buffer[]
  /** Returns a message authentication code: a short proof that the text was created here for this purpose. */
  mac(text: string, purpose: string): Buffer
  /** Returns whether `mac` returned this code for the text and purpose, also before a recent rotation of the data key. */
  verifyMac(mac: Uint8Array, text: string, purpose: string): boolean
  /** The data keys that are loaded, starting with the one that encrypts. */
  readonly dataKeyIds: readonly string[]
  /** Loads the data keys again. Call it when another process has changed them. */
  reload(): Promise<void>
  /** Calls `listener` whenever the data keys were loaded again. */
  onReload(listener: () => void): void
}

/** Returns the master key; called again when a data key cannot be decrypted, because the key may have been rotated meanwhile. */
export type ReadMasterKey = () => Promise<Buffer>

const NONCE_BYTES = 12
const TAG_BYTES = 16
const MAC_BYTES = 16
/** Marks a text that begins with the ID of its data key. Texts of earlier versions begin with a random nonce. */
const LABEL_MARK = Buffer.from('ATV1')
const KEY_ID_BYTES = 8
const LABEL_BYTES = LABEL_MARK.length + KEY_ID_BYTES
/** A deleted data key stays in memory for this long, to decrypt rows that were read before the last of them was changed. */
const KEEP_DELETED_KEY_MS = 60_000

/** A key object takes half the time of a buffer. */
type CipherKey = KeyObject | Buffer

function encrypt(key: CipherKey, plain: Uint8Array, purpose: string, label: Uint8Array = Buffer.alloc(0)): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
  const ciphertext = cipher.update(plain)
  cipher.final()
  return Buffer.concat([label, nonce, cipher.getAuthTag(), ciphertext])
}

function decrypt(key: CipherKey, sealed: Uint8Array, purpose: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const plain = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
  decipher.final() // throws if the text, the key or the purpose is a different one
  return plain
}

const BLOCK_BYTES = 16
/** AES-GCM encrypts the first block with this counter. */
const FIRST_COUNTER = 2

/**
 * Decrypts texts without checking their tags. AES-GCM encrypts in counter mode: each block is combined with the encryption of the nonce
 * and a counter. The counters of all texts are encrypted in one call, because most of the cost of a call on such short texts is fixed.
 */
function decryptUnverified(key: KeyObject, texts: readonly Uint8Array[]): Buffer[] {
  const textStart = NONCE_BYTES + TAG_BYTES
  const paddedLengths = texts.map((text) => Math.ceil((text.length - textStart) / BLOCK_BYTES) * BLOCK_BYTES)
  const counters = Buffer.allocUnsafe(paddedLengths.reduce((total, length) => total + length, 0))
  let offset = 0
  texts.forEach((text, index) => {
    const end = offset + paddedLengths[index]!
    for (let counter = FIRST_COUNTER; offset < end; counter++, offset += BLOCK_BYTES) {
      for (let byte = 0; byte < NONCE_BYTES; byte++) counters[offset + byte] = text[byte]!
      counters.writeUInt32BE(counter, offset + NONCE_BYTES)
    }
  })
  const stream = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(counters)
  let start = 0
  return texts.map((text, index) => {
    const plain = stream.subarray(start, start + text.length - textStart)
    for (let byte = 0; byte < plain.length; byte++) plain[byte]! ^= text[textStart + byte]!
    start += paddedLengths[index]!
    return plain
  })
}

/** Returns an identifier of a master key that does not reveal the key. */
export function masterKeyId(masterKey: Buffer): string {
  return createHash('sha256').update('attestry master key').update(masterKey).digest('hex').slice(0, 16)
}

class WrongMasterKeyError extends Error {
  constructor() {
    super(
      'MASTER_KEY: cannot decrypt the secrets of this database; set MASTER_KEY to the key that this database was used with before',
    )
  }
}

/** A data key in memory. */
interface DataKey {
  id: string
  key: KeyObject
  macKey: KeyObject
  /** The first bytes of every text that is sealed with this key; empty for keys of earlier versions. */
  label: Buffer
}

/** Returns the bytes that texts sealed with a data key begin with. */
export function dataKeyLabel(dataKeyId: string): Buffer {
  return Buffer.concat([LABEL_MARK, Buffer.from(dataKeyId, 'hex')])
}

export function newDataKeyId(): string {
  return randomBytes(KEY_ID_BYTES).toString('hex')
}

export function deriveMacKey(dataKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', dataKey, '', 'stamps', 32))
}

export function macKeyPurpose(dataKeyId: string) {
  return `mac key of ${dataKeyId}`
}

interface LoadedKeys {
  /** Starts with the key that encrypts. */
  dataKeys: DataKey[]
  retiredMacKeys: { key: KeyObject; validUntil: number }[]
}

export async function openVault(db: Database, readMasterKey: ReadMasterKey, clock: Clock): Promise<Vault> {
  let masterKey = await readMasterKey()
  let keys =
    (await db.transaction((tx) => loadKeys(tx, masterKey))) ??
    (await db.transaction((tx) => createDataKey(tx, masterKey, clock)))
  let deletedKeys: DataKey[] = []
  const reloadListeners: (() => void)[] = []
  const reload = coalesce(async () => {
    const loadedKeys = await db.transaction(async (tx) => {
      const found = await loadKeys(tx, masterKey)
      if (found) return found
      masterKey = await readMasterKey()
      return loadKeys(tx, masterKey)
    })
    if (!loadedKeys) throw new WrongMasterKeyError()
    keepDeletedKeys(keys.dataKeys.filter(({ id }) => !loadedKeys.dataKeys.some((loaded) => loaded.id === id)))
    keys = loadedKeys
    for (const listener of reloadListeners) listener()
  })

  return {
    seal(text, purpose) {
      const [{ key, label }] = keys.dataKeys as [DataKey]
      return encrypt(key, Buffer.from(text), purpose, label)
    },
    open(sealed, purpose) {
      const { key, label } = dataKeyOf(sealed, purpose)
      return decrypt(key, sealed.subarray(label.length), purpose).toString()
    },
    openUnverified(sealed) {
      const opened: Buffer[] = []
      const dataKeys = sealed.map((text) => dataKeyOf(text, 'key'))
      for (const dataKey of new Set(dataKeys)) {
        const indexes = [...sealed.keys()].filter((index) => dataKeys[index] === dataKey)
        const texts = indexes.map((index) => sealed[index]!.subarray(dataKey.label.length))
        decryptUnverified(dataKey.key, texts).forEach((plain, index) => {
          opened[indexes[index]!] = plain
        })
      }
      return opened
    },
    mac: (text, purpose) => computeMac(keys.dataKeys[0]!.macKey, text, purpose),
    verifyMac(mac, text, purpose) {
      const isMacOf = (key: KeyObject) =>
        mac.length === MAC_BYTES && timingSafeEqual(mac, computeMac(key, text, purpose))
      const now = clock.now()
      return (
        keys.dataKeys.some(({ macKey }) => isMacOf(macKey)) ||
        keys.retiredMacKeys.some(({ key, validUntil }) => now < validUntil && isMacOf(key))
      )
    },
    get dataKeyIds() {
      return keys.dataKeys.map(({ id }) => id)
    },
    reload,
    onReload: (listener) => void reloadListeners.push(listener),
  }

  /** Returns the data key with which a text was sealed. */
  function dataKeyOf(sealed: Uint8Array, purpose: string): DataKey {
    const knownKeys = deletedKeys.length === 0 ? keys.dataKeys : [...keys.dataKeys, ...deletedKeys]
    const labelledKey = knownKeys.find(({ label }) => label.length > 0 && startsWith(sealed, label))
    if (labelledKey) return labelledKey
    const unlabelledKey = knownKeys.find(({ label }) => label.length === 0)
    if (!unlabelledKey || startsWith(sealed, LABEL_MARK)) throw new UnknownDataKeyError(purpose)
    return unlabelledKey
  }

  function keepDeletedKeys(deleted: DataKey[]) {
    if (deleted.length === 0) return
    deletedKeys = [...deletedKeys, ...deleted]
    setTimeout(() => {
      deletedKeys = deletedKeys.filter((key) => !deleted.includes(key))
    }, KEEP_DELETED_KEY_MS).unref()
  }
}

class UnknownDataKeyError extends Error {
  constructor(purpose: string) {
    super(`the ${purpose} is encrypted with a data key that this process has not loaded; restart the process`)
  }
}

function startsWith(sealed: Uint8Array, label: Buffer): boolean {
  for (let byte = 0; byte < label.length; byte++) if (sealed[byte] !== label[byte]) return false
  return true
}

function computeMac(key: KeyObject, text: string, purpose: string): Buffer {
  return createHmac('sha256', key).update(`${purpose.length} ${purpose}${text}`).digest().subarray(0, MAC_BYTES)
}

const DATA_KEY_PURPOSE = 'data key'
/** Arbitrary, but different from the other advisory locks in the database. */
const ADVISORY_LOCK_ID = 7_411_002

/** Returns undefined if the master key decrypts none of the data keys. */
async function loadKeys(tx: Tx, masterKey: Buffer): Promise<LoadedKeys | undefined> {
  const rows = await tx
    .selectFrom('data_keys')
    .select(['data_key_id', 'wrapped', 'status', 'labelled'])
    .where('master_key_id', '=', masterKeyId(masterKey))
    .execute()
  const active = rows.find(({ status }) => status === 'active')
  if (!active) return undefined
  const dataKeys = [active, ...rows.filter((row) => row !== active)].map((row) => {
    const key = decrypt(masterKey, row.wrapped, DATA_KEY_PURPOSE)
    return {
      id: row.data_key_id,
      key: createSecretKey(key),
      macKey: createSecretKey(deriveMacKey(key)),
      label: row.labelled ? dataKeyLabel(row.data_key_id) : Buffer.alloc(0),
    }
  })
  const retiredRows = await tx.selectFrom('retired_mac_keys').selectAll().execute()
  return { dataKeys, retiredMacKeys: retiredRows.flatMap(openRetiredMacKey) }

  /** Skips a key that cannot be decrypted: cursors from before the rotation are then rejected. */
  function openRetiredMacKey(row: { data_key_id: string; mac_key: Buffer; valid_until: Date }) {
    const sealingKey = dataKeys.find(({ label }) => label.length > 0 && startsWith(row.mac_key, label))
    if (!sealingKey) return []
    const macKey = decrypt(sealingKey.key, row.mac_key.subarray(LABEL_BYTES), macKeyPurpose(row.data_key_id))
    return [
      {
        key: createSecretKey(Buffer.from(macKey.toString(), 'base64')),
        validUntil: row.valid_until.getTime(),
      },
    ]
  }
}

async function createDataKey(tx: Tx, masterKey: Buffer, clock: Clock): Promise<LoadedKeys> {
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK_ID})`.execute(tx)
  // A process that started at the same time may have created the data key.
  const existingKeys = await loadKeys(tx, masterKey)
  if (existingKeys) return existingKeys
  if (await tx.selectFrom('data_keys').select('data_key_id').executeTakeFirst()) throw new WrongMasterKeyError()
  await insertDataKey(
    tx,
    { id: newDataKeyId(), key: randomBytes(32), status: 'active', labelled: true },
    masterKey,
    clock,
  )
  return (await loadKeys(tx, masterKey))!
}

export async function insertDataKey(
  tx: Tx,
  dataKey: { id: string; key: Buffer; status: string; labelled: boolean },
  masterKey: Buffer,
  clock: Clock,
) {
  await tx
    .insertInto('data_keys')
    .values({
      data_key_id: dataKey.id,
      master_key_id: masterKeyId(masterKey),
      wrapped: encrypt(masterKey, dataKey.key, DATA_KEY_PURPOSE),
      status: dataKey.status,
      labelled: dataKey.labelled,
      created_at: new Date(clock.now()),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Returns the data keys that the master key decrypts. */
export async function listDataKeys(tx: Queries, masterKey: Buffer) {
  const rows = await tx
    .selectFrom('data_keys')
    .selectAll()
    .where('master_key_id', '=', masterKeyId(masterKey))
    .execute()
  if (rows.length === 0) throw new WrongMasterKeyError()
  return rows.map(({ data_key_id: id, wrapped, status, labelled }) => ({
    id,
    key: decrypt(masterKey, wrapped, DATA_KEY_PURPOSE),
    status,
    labelled,
  }))
}

/** Adds a master key: from now on, both the current and the next key open the vault. */
export async function addMasterKey(tx: Tx, current: Buffer, next: Buffer, clock: Clock): Promise<void> {
  for (const dataKey of await listDataKeys(tx, current)) await insertDataKey(tx, dataKey, next, clock)
}

/** Removes every master key except this one, and returns how many were removed. */
export async function removeOtherMasterKeys(tx: Tx, masterKey: Buffer): Promise<number> {
  await listDataKeys(tx, masterKey)
  const removedRows = await tx
    .deleteFrom('data_keys')
    .where('master_key_id', '<>', masterKeyId(masterKey))
    .returning('master_key_id')
    .execute()
  return new Set(removedRows.map((row) => row.master_key_id)).size
}
