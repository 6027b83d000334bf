import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto'
import type { SealedColumn } from '../../platform/data-key-rotation.ts'
import { randomBytes } from '../../platform/random.ts'
import type { Vault } from '../../platform/vault.ts'

/**
 * The key that seals the personal values of one person; null after the erasure. There is no cache of opened keys: a key is read in the
 * statement that reads the values, so that no process can use the key of an erased person.
 */
export type PersonKey = Buffer | null

/** Replaces personal texts of erased people in responses, events and exports. */
export const ERASED = 'erased'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** First byte of every sealed value. It identifies the format, so that later versions can add others. */
const FORMAT = 1

export function newPersonKey(): Buffer {
  return randomBytes(KEY_BYTES)
}

function keyPurpose(personId: string) {
  return `key of ${personId}`
}

export const sealedPersonKeys: SealedColumn = {
  table: 'people',
  column: 'sealed_key',
  id: ['person_id'],
  purpose: keyPurpose,
}

export function sealPersonKey(vault: Vault, personId: string, key: Buffer): Buffer {
  return vault.seal(key.toString('base64'), keyPurpose(personId))
}

/** Decrypts the stored key of a person; null if the person was erased. */
export function openPersonKey(vault: Vault, personId: string, sealedKey: Uint8Array | null): PersonKey {
  return sealedKey === null ? null : Buffer.from(vault.open(sealedKey, keyPurpose(personId)), 'base64')
}

/**
 * Decrypts the stored keys of many people, in the order of the rows. A key that was changed in the database is not detected here, but when
 * a value is decrypted with it. Use these keys only to read, never to seal: someone who can
 * write to the database could have chosen them.
 */
export function openPersonKeys(vault: Vault, rows: readonly { sealed_key: Uint8Array | null }[]): PersonKey[] {
  const sealedKeys = rows.flatMap(({ sealed_key }) => (sealed_key === null ? [] : [sealed_key]))
  const keys = vault.openUnverified(sealedKeys).values()
  return rows.map(({ sealed_key }) =>
    sealed_key === null ? null : Buffer.from(keys.next().value!.toString('latin1'), 'base64'),
  )
}

/** Encrypts personal values. `purpose` binds the result to its row: copied to another row, it cannot be decrypted. */
export function sealPersonal(key: Buffer, value: unknown, purpose: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  // Encrypting with a key object takes half the time of encrypting with a buffer.
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(key), nonce).setAAD(Buffer.from(purpose))
  const ciphertext = cipher.update(JSON.stringify(value))
  cipher.final()
  return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), ciphertext])
}

/** Decrypts personal values. Returns undefined if there are none, or if the person was erased. */
export function openPersonal<T>(key: PersonKey, sealed: Uint8Array | null, purpose: string): T | undefined {
  if (key === null || sealed === null) return undefined
  if (sealed[0] !== FORMAT) throw new Error(`the personal values of ${purpose} have an unknown format`)
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
  const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES)
  if (tag.length !== TAG_BYTES) throw new Error(`the personal values of ${purpose} are incomplete`)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose)).setAuthTag(tag)
  const text = decipher.update(sealed.subarray(1 + NONCE_BYTES + TAG_BYTES))
  decipher.final() // throws if the value, the key or the purpose is a different one
  return JSON.parse(text.toString()) as T
}

/** Encrypts values of several people, so that the erasure of any of them makes the values unreadable. */
export function sealForPeople(keys: readonly Buffer[], value: unknown, purpose: string): Buffer {
  const [key, ...otherKeys] = keys
  if (!key) throw new Error('values must be sealed for at least one person')
  const inner = otherKeys.length === 0 ? value : sealForPeople(otherKeys, value, purpose).toString('base64')
  return sealPersonal(key, inner, purpose)
}

/** Decrypts values of several people, in the order in which they were sealed. Returns undefined if one of them was erased. */
export function openForPeople<T>(
  keys: readonly PersonKey[],
  sealed: Uint8Array | null,
  purpose: string,
): T | undefined {
  const [key, ...otherKeys] = keys
  if (key === undefined || keys.includes(null)) return undefined
  if (otherKeys.length === 0) return openPersonal<T>(key, sealed, purpose)
  const inner = openPersonal<string>(key, sealed, purpose)
  return inner === undefined ? undefined : openForPeople<T>(otherKeys, Buffer.from(inner, 'base64'), purpose)
}
