import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { randomToken } from '../platform/ids.ts'
import { hashToken } from '../platform/token-hash.ts'
import type { Vault } from '../platform/vault.ts'
import type { Mode } from './keys.ts'
import type { LimitPreset } from './limits/table.ts'

/** A key that an applicant tracking system (ATS) sends unsigned: as the user name of Basic authentication, or as a Bearer token. */
export interface AtsKeySummary {
  key_id: string
  connection_id: string
  mode: Mode
  adapter: string
  revoked_at: Date | null
  created_at: Date
  /** Null if the key has never been used. At most a minute late. */
  last_used_at: Date | null
}

export interface NewAtsKey {
  connectionId: string
  orgId: string
  mode: Mode
  adapter: string
  /** Whether the key is stored sealed in addition to its hash, because the ATS expects it in calls to itself. */
  isStored: boolean
  preset?: LimitPreset | undefined
}

/** Active keys of a connection. Two are enough to replace one without downtime. */
const MAX_KEYS_PER_CONNECTION = 5

/** Creates an ATS key, which is returned only here. It has 52 characters; Greenhouse accepts up to 170. */
export async function createAtsKey(
  tx: Tx,
  { vault, clock }: { vault: Vault; clock: Clock },
  { connectionId, orgId, mode, adapter, isStored, preset }: NewAtsKey,
): Promise<{ keyId: string; key: string }> {
  const { count } = await tx
    .selectFrom('ats_keys')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('connection_id', '=', connectionId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (count >= MAX_KEYS_PER_CONNECTION)
    throw problem(
      'LIMIT_EXCEEDED',
      `This connection has ${count} active keys; the limit is ${MAX_KEYS_PER_CONNECTION}. Revoke a key that is not used.`,
    )
  const key = `VAT_${mode.toUpperCase()}_${randomToken(32)}`
  const keyId = key.slice(0, 'VAT_TEST_'.length + 10)
  await tx
    .insertInto('ats_keys')
    .values({
      key_id: keyId,
      hash: hashToken(key),
      sealed_key: isStored ? vault.seal(key, atsKeyPurpose(keyId)) : null,
      connection_id: connectionId,
      org_id: orgId,
      mode,
      adapter,
      limits: JSON.stringify(preset ? { preset } : {}),
      created_at: new Date(clock.now()),
    })
    .execute()
  return { keyId, key }
}

export async function listAtsKeys(queries: Queries, connectionId: string): Promise<AtsKeySummary[]> {
  const rows = await queries
    .selectFrom('ats_keys as k')
    .leftJoin('key_uses as u', 'u.key_id', 'k.key_id')
    .select(['k.key_id', 'connection_id', 'mode', 'adapter', 'revoked_at', 'created_at', 'last_used_at'])
    .where('connection_id', '=', connectionId)
    .orderBy('created_at')
    .orderBy('k.key_id')
    .execute()
  return rows.map((row) => ({ ...row, mode: row.mode as Mode }))
}

/** Revokes a key of the connection. Revoking a revoked key changes nothing. */
export async function revokeAtsKey(tx: Tx, clock: Clock, connectionId: string, keyId: string): Promise<void> {
  const row = await tx
    .selectFrom('ats_keys')
    .select('revoked_at')
    .where('connection_id', '=', connectionId)
    .where('key_id', '=', keyId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Key ${keyId} not found.`)
  if (row.revoked_at) return
  await tx
    .updateTable('ats_keys')
    .set({ revoked_at: new Date(clock.now()) })
    .where('key_id', '=', keyId)
    .execute()
}

/** Revokes all keys of a connection. */
export async function revokeAtsKeys(tx: Tx, clock: Clock, connectionId: string): Promise<void> {
  await tx
    .updateTable('ats_keys')
    .set({ revoked_at: new Date(clock.now()) })
    .where('connection_id', '=', connectionId)
    .where('revoked_at', 'is', null)
    .execute()
}

/**
 * Returns the stored key for calls to the ATS: the one that placed the order, or the newest one if that was revoked. Undefined if
 * the connection has no active key.
 */
export async function findStoredAtsKey(
  queries: Queries,
  vault: Vault,
  connectionId: string,
  preferredKeyId: string,
): Promise<string | undefined> {
  const rows = await queries
    .selectFrom('ats_keys')
    .select(['key_id', 'sealed_key'])
    .where('connection_id', '=', connectionId)
    .where('revoked_at', 'is', null)
    .where('sealed_key', 'is not', null)
    .orderBy('created_at', 'desc')
    .execute()
  const row = rows.find(({ key_id }) => key_id === preferredKeyId) ?? rows[0]
  return row && vault.open(row.sealed_key!, atsKeyPurpose(row.key_id))
}

function atsKeyPurpose(keyId: string) {
  return `ATS key ${keyId}`
}

export const sealedAtsKeys: SealedColumn = {
  table: 'ats_keys',
  column: 'sealed_key',
  id: ['key_id'],
  purpose: atsKeyPurpose,
}
