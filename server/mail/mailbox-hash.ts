import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Database } from '../platform/database/database.ts'
import type { Vault } from '../platform/vault.ts'
import { mailboxOf } from '../verification/reviews/mailboxes.ts'

/** Computes keyed hashes of mailboxes and phone numbers, for rows that store no addresses. */
export interface MailboxHasher {
  /** Returns the same hash for all addresses of a mailbox. */
  hash(address: string): Buffer
  /** Returns the hash of a phone number in E.164 format. */
  hashPhone(phone: string): Buffer
  /** Returns the hash of a part of a name, number or address, for searches. `purpose` separates the hashes of organisations. */
  hashText(purpose: string, text: string): Buffer
}

const KEY_PURPOSE = 'key of the mailbox hashes'
const KEY_BYTES = 32

export const sealedMailboxHashKeys: SealedColumn = {
  table: 'mailbox_hash_keys',
  column: 'sealed_key',
  id: ['key_id'],
  purpose: () => KEY_PURPOSE,
}

/** Loads the key of the hashes; creates it on the first start. */
export async function openMailboxHasher(db: Database, vault: Vault, clock: Clock): Promise<MailboxHasher> {
  const sealedKey = (await findSealedKey(db)) ?? (await createSealedKey(db, vault, clock))
  const key = createSecretKey(Buffer.from(vault.open(sealedKey, KEY_PURPOSE), 'base64'))
  return {
    hash: (address) => createHmac('sha256', key).update(mailboxOf(address)).digest(),
    // No mailbox begins like this, because a space cannot be part of one.
    hashPhone: (phone) => createHmac('sha256', key).update(`phone ${phone}`).digest(),
    hashText: (purpose, text) => createHmac('sha256', key).update(`text ${purpose} ${text}`).digest(),
  }
}

async function findSealedKey(db: Database): Promise<Buffer | undefined> {
  return (await db.queries.selectFrom('mailbox_hash_keys').select('sealed_key').executeTakeFirst())?.sealed_key
}

async function createSealedKey(db: Database, vault: Vault, clock: Clock): Promise<Buffer> {
  const sealed_key = vault.seal(randomBytes(KEY_BYTES).toString('base64'), KEY_PURPOSE)
  await db.transaction((tx) =>
    tx
      .insertInto('mailbox_hash_keys')
      .values({ key_id: 'current', sealed_key, created_at: new Date(clock.now()) })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
  return (await findSealedKey(db))! // a process that started at the same time may have created the key
}
