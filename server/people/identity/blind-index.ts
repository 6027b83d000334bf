import { randomBytes } from 'node:crypto'
import type { OrgScope } from '../../access/caller.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import type { Clock } from '../../platform/clock.ts'
import type { SealedColumn } from '../../platform/data-key-rotation.ts'
import type { Database, Queries } from '../../platform/database/database.ts'
import { HmacKey } from '../../platform/hmac.ts'
import type { Vault } from '../../platform/vault.ts'
import { mailboxOf } from '../../verification/reviews/mailboxes.ts'

/**
 * Computes keyed hashes of phone numbers and mailboxes, so that rows can be found without storing the addresses in them. Each organisation
 * has its own key, and the two modes have different hashes, so that rows of different organisations cannot be compared.
 */
export interface BlindIndex {
  /** Returns the hash of a phone number in E.164 format. */
  phone(scope: OrgScope, phone: string, context?: string): Buffer
  /** Returns the hash of an email address as it is spelled; other addresses of the same mailbox have other hashes. */
  spelling(scope: OrgScope, email: string): Buffer
  /** Returns the hash of a mailbox that is the same in all organisations, to detect rings of endorsements. */
  mailbox(email: string): string
  /** Returns the same hash for all addresses of a mailbox. */
  email(scope: OrgScope, email: string, context?: string): Buffer
}

const KEY_PURPOSE = 'key of the blind indexes'
const KEY_BYTES = 32
const HASH_BYTES = 16
const MAX_CACHED_KEYS = 1000

export const sealedBlindIndexKeys: SealedColumn = {
  table: 'blind_index_keys',
  column: 'sealed_key',
  id: ['key_id'],
  purpose: () => KEY_PURPOSE,
}

/** The blind index of each database, for functions that have only a transaction. */
const blindIndexes = new WeakMap<object, BlindIndex>()

/** Loads the key of the hashes, or creates it on the first start, and makes the index available to all queries of the database. */
export async function openBlindIndex(db: Database, vault: Vault, clock: Clock): Promise<void> {
  const sealedKey = (await findSealedKey(db)) ?? (await createSealedKey(db, vault, clock))
  const rootKey = new HmacKey(Buffer.from(vault.open(sealedKey, KEY_PURPOSE), 'base64'))
  const orgKeys = new BoundedMap<string, HmacKey>(MAX_CACHED_KEYS)
  const hash = ({ orgId, mode }: OrgScope, text: string) =>
    orgKeyOf(orgId).signText(`${mode} ${text}`).subarray(0, HASH_BYTES)
  blindIndexes.set(db.queries.getExecutor().adapter, {
    phone: (scope, phone, context = '') => hash(scope, `${context} phone ${phone}`),
    spelling: (scope, email) => hash(scope, `spelling ${email}`),
    mailbox: (email) => hash({ orgId: '', mode: 'live' }, `mailbox ${mailboxOf(email)}`).toString('hex'),
    email: (scope, email, context = '') => hash(scope, `${context} email ${mailboxOf(email)}`),
  })

  function orgKeyOf(orgId: string): HmacKey {
    const cachedKey = orgKeys.get(orgId)
    if (cachedKey) return cachedKey
    const key = new HmacKey(rootKey.signText(orgId))
    orgKeys.set(orgId, key)
    return key
  }
}

/** Returns the blind index of the database that these queries use. */
export function blindIndexOf(queries: Queries): BlindIndex {
  // All transactions of a database share its adapter.
  const blindIndex = blindIndexes.get(queries.getExecutor().adapter)
  if (!blindIndex) throw new Error('this database was opened without a blind index')
  return blindIndex
}

async function findSealedKey(db: Database): Promise<Buffer | undefined> {
  return (await db.queries.selectFrom('blind_index_keys').select('sealed_key').executeTakeFirst())?.sealed_key
}

async function createSealedKey(db: Database, vault: Vault, clock: Clock): Promise<Buffer> {
  const sealed_key = vault.seal(randomBytes(KEY_BYTES).toString('base64'), KEY_PURPOSE)
  await db.transaction((tx) =>
    tx
      .insertInto('blind_index_keys')
      .values({ key_id: 'current', sealed_key, created_at: new Date(clock.now()) })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
  return (await findSealedKey(db))! // a process that started at the same time may have created the key
}
