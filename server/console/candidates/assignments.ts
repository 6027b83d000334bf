import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import { invalid } from '../../api/invalid.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'

/** Assigns candidates to a member, or to nobody if it is null. Returns the IDs of the candidates whose assignment changed. */
export async function assignCandidates(
  tx: Tx,
  { orgId, mode }: OrgScope,
  candidateIds: string[],
  memberId: string | null,
): Promise<string[]> {
  if (memberId !== null) await lockAssignee(tx, orgId, memberId)
  const { rows } = await sql<{ candidate_id: string }>`
    with changed as (
      select candidate_id from candidate_list
      where org_id = ${orgId} and mode = ${mode} and candidate_id = any (${candidateIds}::text[])
        and assigned_to is distinct from ${memberId}
      order by candidate_id for update
    )
    update candidate_list l set assigned_to = ${memberId} from changed
    where l.org_id = ${orgId} and l.candidate_id = changed.candidate_id returning l.candidate_id`.execute(tx)
  return rows.map(({ candidate_id }) => candidate_id)
}

/** Locks a member, so that the removal of the member waits and then removes the new assignments as well. */
async function lockAssignee(tx: Tx, orgId: string, memberId: string): Promise<void> {
  const { rows } = await sql<{ role: string }>`
    select role from console_members where org_id = ${orgId} and member_id = ${memberId} for key share`.execute(tx)
  const [member] = rows
  if (!member || member.role === 'viewer')
    throw invalid([
      { path: 'member_id', message: `must be a recruiter or an owner of the organisation; got ${memberId}` },
    ])
}

/** Counts the candidates who are assigned to a member and about whom nobody has decided. */
export async function countOpenAssignments(
  queries: Queries,
  { orgId, mode }: OrgScope,
  memberId: string,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from candidate_list
    where org_id = ${orgId} and mode = ${mode} and assigned_to = ${memberId} and decision is null`.execute(queries)
  return rows[0]!.count
}

/** Removes the assignments of a member who leaves the organisation. */
export async function removeAssignments(tx: Tx, orgId: string, memberId: string): Promise<void> {
  await sql`update candidate_list set assigned_to = null where org_id = ${orgId} and assigned_to = ${memberId}`.execute(
    tx,
  )
}

/** Returns a function that returns the name of a member, or the email address of a member without a name. */
export async function loadAssigneeNames(
  queries: Queries,
  orgId: string,
  memberIds: (string | null)[],
): Promise<(memberId: string | null) => string | null> {
  const ids = [...new Set(memberIds.filter((id) => id !== null))]
  if (ids.length === 0) return () => null
  const { rows } = await sql<{ member_id: string; name: string }>`
    select member_id, coalesce(name, email) as name from console_members
    where org_id = ${orgId} and member_id = any (${ids}::text[])`.execute(queries)
  const names = new Map(rows.map(({ member_id, name }) => [member_id, name]))
  return (memberId) => (memberId === null ? null : (names.get(memberId) ?? null))
}
