import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import { blindIndexOf } from '../../people/identity/blind-index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { type Candidacy, lockCandidacy } from '../candidacy.ts'
import type { ContactDeps } from './contact.ts'
import { applyOptOut } from './sends.ts'

/** A person with a user name may write with a user ID and without a phone number. The ID belongs to one business and one phone number. */

function userIndexOf(queries: Queries, scope: OrgScope, userId: string): Buffer {
  return blindIndexOf(queries).phone(scope, userId, 'whatsapp user')
}

function optOutAddressOf(queries: Queries, scope: OrgScope, userId: string): Buffer {
  return blindIndexOf(queries).phone(scope, userId, 'opt-out whatsapp user')
}

/** Returns the hash of the phone number of a user, if a callback contained both or replied to our message. */
export async function findPhoneOfUser(queries: Queries, scope: OrgScope, userId: string): Promise<Buffer | undefined> {
  const { rows } = await sql<{ phone_index: Buffer }>`
    select phone_index from whatsapp_users
    where org_id = ${scope.orgId} and mode = ${scope.mode} and user_index = ${userIndexOf(queries, scope, userId)}`.execute(
    queries,
  )
  return rows[0]?.phone_index
}

/** Stores the opt-out of a user whose phone number is unknown. It takes effect when the number becomes known. */
export async function recordUserOptOut(tx: Tx, clock: Clock, scope: OrgScope, userId: string): Promise<void> {
  await sql`insert into opt_outs (org_id, mode, address, created_at)
    values (${scope.orgId}, ${scope.mode}, ${optOutAddressOf(tx, scope, userId)}, ${new Date(clock.now())})
    on conflict do nothing`.execute(tx)
}

/**
 * Stores that a user ID belongs to the phone number of a candidate. If the user opted out before the number was known, the opt-out is
 * applied to the candidate.
 */
export async function linkUser(tx: Tx, deps: ContactDeps, userId: string, candidate: Candidacy): Promise<void> {
  const { org_id: orgId, mode, phone } = candidate
  if (phone === null) return
  const scope = { orgId, mode }
  const phoneIndex = blindIndexOf(tx).phone(scope, phone)
  const linkedPhone = await findPhoneOfUser(tx, scope, userId)
  const isLinked = linkedPhone?.equals(phoneIndex) === true
  // The user can have opted out while another number was linked.
  if (isLinked && candidate.status !== 'pending') return
  if (!isLinked) await linkUserToPhone(tx, deps.clock, scope, { userId, phoneIndex })
  if (!(await hasUserOptedOut(tx, scope, userId))) return
  const lockedCandidate = (await lockCandidacy(tx, candidate.candidate_id))!
  await applyOptOut(tx, deps, lockedCandidate, { channel: 'whatsapp', contact_step: null })
}

/** Stores that a user ID belongs to the phone number with this hash. */
export async function linkUserToPhone(
  tx: Tx,
  clock: Clock,
  scope: OrgScope,
  { userId, phoneIndex }: { userId: string; phoneIndex: Buffer },
): Promise<void> {
  await sql`insert into whatsapp_users (org_id, mode, user_index, phone_index, updated_at)
    values (${scope.orgId}, ${scope.mode}, ${userIndexOf(tx, scope, userId)}, ${phoneIndex}, ${new Date(clock.now())})
    on conflict (org_id, mode, user_index) do update set phone_index = excluded.phone_index, updated_at = excluded.updated_at`.execute(
    tx,
  )
}

/** Whether an opt-out of a user is stored. */
export async function hasUserOptedOut(queries: Queries, scope: OrgScope, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from opt_outs
    where org_id = ${scope.orgId} and mode = ${scope.mode} and address = ${optOutAddressOf(queries, scope, userId)}`.execute(
    queries,
  )
  return rows.length > 0
}

/** Stores the new ID of a user: the phone number and an opt-out of the previous ID apply to it, too. */
export async function changeUserId(
  tx: Tx,
  clock: Clock,
  scope: OrgScope,
  { previous, current }: { previous: string; current: string },
): Promise<void> {
  const { orgId, mode } = scope
  const now = new Date(clock.now())
  await sql`
    insert into whatsapp_users (org_id, mode, user_index, phone_index, updated_at)
    select org_id, mode, ${userIndexOf(tx, scope, current)}, phone_index, ${now} from whatsapp_users
    where org_id = ${orgId} and mode = ${mode} and user_index = ${userIndexOf(tx, scope, previous)}
    on conflict (org_id, mode, user_index) do update set phone_index = excluded.phone_index, updated_at = excluded.updated_at`.execute(
    tx,
  )
  await sql`
    insert into opt_outs (org_id, mode, address, created_at)
    select org_id, mode, ${optOutAddressOf(tx, scope, current)}, ${now} from opt_outs
    where org_id = ${orgId} and mode = ${mode} and address = ${optOutAddressOf(tx, scope, previous)}
    on conflict do nothing`.execute(tx)
}
