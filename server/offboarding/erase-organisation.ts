import { sql } from 'kysely'
import { listKeys, revokeKey } from '../access/keys.ts'
import { getOrganisation } from '../access/organisations.ts'
import { switchService } from '../access/service-switch.ts'
import { problem } from '../api/problem.ts'
import { disconnect, listConnections } from '../ats/connections.ts'
import type { Context } from '../context.ts'
import { getPrivacySettings } from '../notices/settings.ts'
import { erasePerson } from '../people/erasure.ts'
import type { Database } from '../platform/database/database.ts'

export type OffboardingDeps = Pick<Context, 'clock' | 'vault' | 'mailboxes' | 'config'>

export interface OffboardingResult {
  org_id: string
  people_erased: number
  /** People with a legal hold, who were not erased. While there are any, the organisation is not marked as erased. */
  people_held: number
  erased_at: string | null
}

const BATCH_SIZE = 200

/**
 * Erases an organisation at the end of its contract: switches its service off, revokes its keys, erases all of its people, and deletes its
 * members, branding, channel credentials and settings, emails, request log and the personal values in its audit log. Counts, credits, amounts spent,
 * results and the ledger remain, without personal values. Each person is erased in a separate transaction. After an interruption, a second call continues.
 */
export async function eraseOrganisation(
  db: Database,
  deps: OffboardingDeps,
  orgId: string,
  { confirmName, requestedBy, basis }: { confirmName: string; requestedBy: string; basis: string },
): Promise<OffboardingResult> {
  const { name } = await getOrganisation(db.queries, orgId)
  if (confirmName !== name)
    throw problem('VALIDATION_FAILED', `To confirm, enter the name of the organisation, ${JSON.stringify(name)}.`)
  const { legal_hold_reason } = await getPrivacySettings(db.queries, orgId)
  if (legal_hold_reason !== null)
    throw problem('CONFLICT', `${orgId} has a legal hold (${legal_hold_reason}). End the legal hold first.`)
  await stopOrganisation(db, deps, orgId)
  const peopleErased = await erasePeople(db, deps, orgId, { basis, requestedBy })
  const peopleHeld = await countHeld(db, orgId)
  const erasedAt = peopleHeld > 0 ? null : new Date(deps.clock.now())
  if (erasedAt) await deleteRest(db, orgId, erasedAt)
  return {
    org_id: orgId,
    people_erased: peopleErased,
    people_held: peopleHeld,
    erased_at: erasedAt?.toISOString() ?? null,
  }
}

/** Switches the service off, revokes keys and disconnects applicant tracking systems, before data is erased. */
async function stopOrganisation(db: Database, deps: OffboardingDeps, orgId: string): Promise<void> {
  const { clock } = deps
  await db.transaction(async (tx) => {
    await switchService(tx, clock, { orgId, state: 'off', reason: 'The organisation is being erased.' })
    for (const { key_id, revoked_at } of await listKeys(tx, orgId)) {
      if (revoked_at === null) await revokeKey(tx, clock, key_id)
    }
    for (const mode of ['test', 'live'] as const) {
      const scope = { orgId, mode }
      for (const { connection_id } of await listConnections(tx, scope)) await disconnect(tx, deps, scope, connection_id)
    }
  })
}

async function erasePeople(
  db: Database,
  deps: OffboardingDeps,
  orgId: string,
  request: { basis: string; requestedBy: string },
): Promise<number> {
  let erasedCount = 0
  let lastId = ''
  for (;;) {
    const { rows } = await sql<{ person_id: string; mode: 'test' | 'live' }>`
      select person_id, mode from people
      where org_id = ${orgId} and erased_at is null and legal_hold is null and person_id > ${lastId}
      order by person_id limit ${BATCH_SIZE}`.execute(db.queries)
    for (const { person_id, mode } of rows) {
      await db.transaction((tx) => erasePerson(tx, deps, { orgId, mode }, person_id, request))
      erasedCount++
    }
    if (rows.length < BATCH_SIZE) return erasedCount
    lastId = rows.at(-1)!.person_id
  }
}

async function countHeld(db: Database, orgId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from people where org_id = ${orgId} and erased_at is null`.execute(db.queries)
  return rows[0]!.count
}

/** Deletes the remaining data, such as members, credentials and logs, from the tables of several modules in one transaction. */
async function deleteRest(db: Database, orgId: string, erasedAt: Date): Promise<void> {
  await db.transaction(async (tx) => {
    await sql`delete from webhook_deliveries where webhook_id in (select webhook_id from webhooks where org_id = ${orgId})`.execute(
      tx,
    )
    await sql`update webhooks set status = 'archived', updated_at = ${erasedAt} where org_id = ${orgId}`.execute(tx)
    await sql`delete from channel_credentials where org_id = ${orgId}`.execute(tx)
    await sql`delete from message_templates where org_id = ${orgId}`.execute(tx)
    await sql`delete from whatsapp_limits where org_id = ${orgId}`.execute(tx)
    await sql`delete from dnd_checks where org_id = ${orgId}`.execute(tx)
    await sql`delete from send_rates where org_id = ${orgId}`.execute(tx)
    await sql`delete from spending_settings where org_id = ${orgId}`.execute(tx)
    await sql`delete from branding where org_id = ${orgId}`.execute(tx)
    await sql`delete from mails where org_id = ${orgId}`.execute(tx)
    await sql`delete from request_log where org_id = ${orgId}`.execute(tx)
    await sql`delete from privacy_requests where org_id = ${orgId}`.execute(tx)
    await sql`update audit_log set personal = (select jsonb_object_agg(key, 'null'::jsonb) from jsonb_object_keys(personal) as key)
      where org_id = ${orgId} and jsonb_path_exists(personal, '$.* ? (@ != null)')`.execute(tx)
    await sql`delete from report_links where org_id = ${orgId}`.execute(tx)
    await sql`delete from notifications where org_id = ${orgId}`.execute(tx)
    await sql`delete from console_views where org_id = ${orgId}`.execute(tx)
    await sql`update candidate_list set decided_by = null where org_id = ${orgId} and decided_by is not null`.execute(
      tx,
    )
    await sql`delete from console_members where org_id = ${orgId}`.execute(tx)
    await sql`delete from identity_providers where org_id = ${orgId}`.execute(tx) // with its accounts and sessions
    await sql`update privacy_settings set grievance_name = null, grievance_email = null, grievance_phone = null, privacy_email = null,
      postal_address = null, updated_at = ${erasedAt} where org_id = ${orgId}`.execute(tx)
    await sql`update organisations set erased_at = ${erasedAt} where org_id = ${orgId} and erased_at is null`.execute(
      tx,
    )
  })
}
