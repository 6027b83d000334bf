import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Clock } from '../../platform/clock.ts'
import { notifyAfterCommit, type Tx } from '../../platform/database/database.ts'
import { CREDENTIALS_DUE } from '../holders/consents.ts'
import { revokeCredentials } from '../revocation.ts'
import { changeStatusListsOf } from '../status-lists.ts'
import { type IssuerKey, revokeIssuerKey, rotateIssuerKey } from './issuers.ts'

/** Replaces the key of an organisation and mode. The status lists are signed with the new key from now on. */
export async function rotateKey(tx: Tx, clock: Clock, scope: OrgScope): Promise<IssuerKey> {
  const key = await rotateIssuerKey(tx, clock, scope)
  await changeStatusListsOf(tx, scope)
  return key
}

/**
 * Revokes a key that others may know. Everything that it signed is invalid from now on. Credentials that are still wanted are issued
 * again with the new key, under a new address to which the old links lead.
 */
export async function revokeKey(
  tx: Tx,
  clock: Clock,
  scope: OrgScope,
  keyId: string,
): Promise<{ key: IssuerKey; revokedCredentials: number }> {
  const key = await revokeIssuerKey(tx, clock, scope, keyId)
  const revoked = await revokeCredentials(tx, { clock }, sql`key_id = ${keyId}`, 'key_revoked')
  await sql`update credential_consents c set issue_due_at = ${new Date(clock.now())}
    where wanted and exists (select from credentials k where k.key_id = ${keyId} and k.revocation_reason = 'key_revoked'
      and k.source_kind = c.source_kind and k.source_id = c.source_id)`.execute(tx)
  notifyAfterCommit(tx, CREDENTIALS_DUE)
  await changeStatusListsOf(tx, scope)
  return { key, revokedCredentials: revoked.length }
}
