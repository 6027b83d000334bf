import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { recordEvents } from '../events/record.ts'
import type { ItemRef, ItemRetirementReason } from '../items/item-status.ts'
import { weighResponses } from '../measurement/sequential-test.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import type { Contact } from './build-credential.ts'
import {
  type CredentialRow,
  credentialColumns,
  credentialRecord,
  getCredential,
  type organisationRevocationReasons,
  type RevocationReason,
} from './credentials.ts'
import type { ScoredResponse } from './facts.ts'
import { lockHoldersWithContact } from './holders/holders.ts'
import { lockItemsForRetirement } from './miskeyed-items.ts'
import { changeStatusLists } from './status-lists.ts'

type RevocationDeps = Pick<Context, 'clock'>

/** Reasons for which the content is deleted too: the person no longer wants it to be published. */
const CONTENT_DELETING_REASONS: readonly RevocationReason[] = [
  'consent_withdrawn',
  'holder_request',
  'replaced',
  'person_erased',
]

const deletedContent = sql`credential = null, jwt = null, personal = null, responses = '[]', item_ids = '{}', facts = '{}', identity_salt = '', shows_name = false`

/**
 * Revokes credentials that are not revoked yet, and records the events. Returns the revoked ones. If the person no longer wants them to
 * be published, the content of those that were revoked before is deleted too.
 */
export async function revokeCredentials(
  tx: Tx,
  { clock }: RevocationDeps,
  condition: ReturnType<typeof sql>,
  reason: RevocationReason,
  { replacedBy }: { replacedBy?: string } = {},
): Promise<CredentialRow[]> {
  const now = clock.now()
  const deletesContent = CONTENT_DELETING_REASONS.includes(reason)
  const { rows } = await sql<CredentialRow>`
    with revoked as materialized (
      select credential_id as id from credentials where revoked_at is null and (${condition}) order by credential_id for update)
    update credentials set revoked_at = ${new Date(now)}, revocation_reason = ${reason}, replaced_by = ${replacedBy ?? null}, version = version + 1,
      updated_at = ${new Date(now)} ${deletesContent ? sql`, ${deletedContent}` : sql``}
    from revoked where credential_id = revoked.id
    returning ${credentialColumns}`.execute(tx)
  await changeStatusLists(
    tx,
    rows.map(({ list_id }) => list_id),
  )
  await recordRevocations(tx, { clock }, rows)
  if (deletesContent) await deleteRevokedContent(tx, { clock }, condition)
  return rows
}

/** Deletes the content of revoked credentials, which their pages would show otherwise. */
export async function deleteRevokedContent(
  tx: Tx,
  { clock }: RevocationDeps,
  condition: ReturnType<typeof sql>,
): Promise<void> {
  await sql`update credentials set ${deletedContent}, updated_at = ${new Date(clock.now())}
    where revoked_at is not null and credential is not null and (${condition})`.execute(tx)
}

async function recordRevocations(tx: Tx, { clock }: RevocationDeps, rows: CredentialRow[]): Promise<void> {
  for (const group of Map.groupBy(rows, ({ org_id, mode }) => `${org_id} ${mode}`).values()) {
    const { org_id: orgId, mode } = group[0]!
    const records = group.map((row) => credentialRecord(row, clock.now()))
    await recordEvents(tx, { orgId, mode }, clock, 'credential.revoked', records)
  }
}

/** Revokes a credential of an organisation. Revoking it again changes nothing. */
export async function revokeCredential(
  tx: Tx,
  deps: RevocationDeps,
  { orgId, mode }: OrgScope,
  id: string,
  reason: (typeof organisationRevocationReasons)[number],
): Promise<CredentialRow> {
  await getCredential(tx, { orgId, mode }, id)
  const [revoked] = await revokeCredentials(
    tx,
    deps,
    sql`credential_id = ${id} and org_id = ${orgId} and mode = ${mode}`,
    reason,
  )
  return revoked ?? getCredential(tx, { orgId, mode }, id)
}

/**
 * Revokes and deletes the content of all credentials of a person who is erased, and their links, for all IDs of the person. The IDs of the credentials stay, so that the status
 * list is complete.
 */
export async function revokeCredentialsOfHolder(
  tx: Tx,
  deps: RevocationDeps & Pick<Context, 'mailboxes'>,
  scope: OrgScope,
  contact: Contact,
): Promise<CredentialRow[]> {
  // Locked, so that a consent or an issue of the same person ends before, or starts after the erasure.
  const holders = await lockHoldersWithContact(tx, deps, scope, contact)
  if (holders.length === 0)
    throw problem(
      'NOT_FOUND',
      `No credentials were issued to this ${contact.kind === 'email' ? 'email address' : 'phone number'}.`,
    )
  return eraseHolders(
    tx,
    deps,
    holders.map(({ holder_id }) => holder_id),
  )
}

/** Revokes and deletes the content of all credentials of holders, and everything that identifies the holders. */
export async function eraseHolders(tx: Tx, deps: RevocationDeps, holderIds: string[]): Promise<CredentialRow[]> {
  const isErased = sql`holder_id = any (${holderIds}::text[])`
  const now = new Date(deps.clock.now())
  await sql`update credential_consents set wanted = false, show_name = false, withdrawn_at = ${now}, issue_due_at = null
    where ${isErased} and wanted`.execute(tx)
  // First, so that the events do not contain the ID.
  await sql`update credentials set external_id = '', updated_at = ${now} where ${isErased}`.execute(tx)
  const revoked = await revokeCredentials(tx, deps, isErased, 'person_erased')
  await sql`delete from credential_holder_links where ${isErased}`.execute(tx)
  await sql`update credential_holders set is_profile_public = false, updated_at = ${now}, external_id = '',
    contact_hash = sha256(convert_to(holder_id, 'UTF8')) where ${isErased}`.execute(tx)
  return revoked
}

/**
 * Revokes the credentials whose verdict depends on an item that turned out to have the wrong key: without the item, the responses no
 * longer show the skill.
 */
export async function revokeMiskeyed(
  tx: Tx,
  { itemId, orgId }: ItemRef,
  reason: ItemRetirementReason,
  clock: Clock,
): Promise<void> {
  if (reason !== 'miskeyed') return
  await lockItemsForRetirement(tx)
  const ofOwner = orgId === undefined ? sql`true` : sql`org_id = ${orgId}`
  const { rows } = await sql<{ credential_id: string; responses: ScoredResponse[] }>`
    select credential_id, responses from credentials
    where revoked_at is null and credential_id in (select credentials_with_item(${itemId})) and ${ofOwner}`.execute(tx)
  const wrongIds: string[] = []
  for (const { credential_id: id, responses } of rows) {
    const remaining = responses.filter((response) => response.id !== itemId)
    if (weighResponses(remaining).verdict !== 'verified') wrongIds.push(id)
    // Stored, so that the next wrong item is weighed without this one.
    await sql`update credentials set responses = ${JSON.stringify(remaining)}, item_ids = array_remove(item_ids, ${itemId})
      where credential_id = ${id}`.execute(tx)
  }
  if (wrongIds.length > 0)
    await revokeCredentials(tx, { clock }, sql`credential_id = any (${wrongIds}::text[])`, 'measurement_wrong')
}
