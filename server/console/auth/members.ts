import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { endSessionsWithoutAccess } from './console-access.ts'
import type { MemberRole } from './roles.ts'

export interface Member {
  member_id: string
  org_id: string
  email: string
  role: MemberRole
  created_at: Date
  last_sign_in_at: Date | null
}

export interface Membership {
  org_id: string
  name: string
  /** The email address with the capitalisation that the owner entered. */
  email: string
  role: MemberRole
}

const hasEmail = (email: string) => sql<boolean>`lower(email) = ${email.toLowerCase()}`

/** Returns the organisations of a person, by name. */
export async function listMemberships(queries: Queries, email: string): Promise<Membership[]> {
  const rows = await queries
    .selectFrom('console_members as m')
    .innerJoin('organisations as o', 'o.org_id', 'm.org_id')
    .select(['o.org_id', 'o.name', 'm.role', 'm.email'])
    .where(hasEmail(email))
    .orderBy('o.name')
    .orderBy('o.org_id')
    .execute()
  return rows as Membership[]
}

export async function findMemberRole(queries: Queries, orgId: string, email: string): Promise<MemberRole | undefined> {
  const row = await queries
    .selectFrom('console_members')
    .select('role')
    .where('org_id', '=', orgId)
    .where(hasEmail(email))
    .executeTakeFirst()
  return row?.role as MemberRole | undefined
}

/** Returns whether an address belongs to a member of the organisation. */
export async function isMember(queries: Queries, orgId: string, email: string): Promise<boolean> {
  return (await findMemberRole(queries, orgId, email)) !== undefined
}

export async function listMembers(
  queries: Queries,
  orgId: string,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<Member[]> {
  const rows = await queries
    .selectFrom('console_members')
    .selectAll()
    .where('org_id', '=', orgId)
    .$if(before !== undefined, (query) => query.where('member_id', '<', before!))
    .orderBy('member_id', 'desc')
    .limit(limit)
    .execute()
  return rows as Member[]
}

export async function addMember(
  tx: Tx,
  clock: Clock,
  orgId: string,
  { email, role }: { email: string; role: MemberRole },
): Promise<Member> {
  const now = clock.now()
  const row = await tx
    .insertInto('console_members')
    .values({ member_id: newId('MB_', now), org_id: orgId, email, role, created_at: new Date(now) })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) throw problem('CONFLICT', `${email} is already a member of this organisation.`)
  return row as Member
}

export async function changeMemberRole(tx: Tx, orgId: string, memberId: string, role: MemberRole): Promise<Member> {
  const member = await lockMember(tx, orgId, memberId)
  if (role !== 'owner') await requireAnotherOwner(tx, member)
  await tx.updateTable('console_members').set({ role }).where('member_id', '=', memberId).execute()
  return { ...member, role }
}

/** Removes a member. Takes effect on their next request, in all their sessions. */
export async function removeMember(tx: Tx, orgId: string, memberId: string): Promise<Member> {
  const member = await lockMember(tx, orgId, memberId)
  await requireAnotherOwner(tx, member)
  await tx.deleteFrom('console_members').where('member_id', '=', memberId).execute()
  await endSessionsWithoutAccess(tx, member.email)
  return member
}

export async function findMemberByEmail(queries: Queries, orgId: string, email: string): Promise<Member | undefined> {
  const row = await queries
    .selectFrom('console_members')
    .selectAll()
    .where('org_id', '=', orgId)
    .where(hasEmail(email))
    .executeTakeFirst()
  return row as Member | undefined
}

export async function recordSignIn(tx: Tx, clock: Clock, email: string): Promise<void> {
  await tx
    .updateTable('console_members')
    .set({ last_sign_in_at: new Date(clock.now()) })
    .where(hasEmail(email))
    .execute()
}

/** Serialises changes to the members of an organisation, so that its last two owners cannot both be removed. */
async function lockMember(tx: Tx, orgId: string, memberId: string): Promise<Member> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`members of ${orgId}`}, 0))`.execute(tx)
  const row = await tx
    .selectFrom('console_members')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Member ${memberId} not found.`)
  return row as Member
}

async function requireAnotherOwner(tx: Tx, { org_id, member_id, role }: Member) {
  if (role !== 'owner') return
  const otherOwner = await tx
    .selectFrom('console_members')
    .select('member_id')
    .where('org_id', '=', org_id)
    .where('role', '=', 'owner')
    .where('member_id', '<>', member_id)
    .executeTakeFirst()
  if (!otherOwner) throw problem('CONFLICT', 'This member is the only owner; give another member the owner role first.')
}

export function memberRecord({ member_id, email, role, created_at, last_sign_in_at }: Member) {
  return {
    member_id,
    email,
    role,
    created_at: created_at.toISOString(),
    last_sign_in_at: last_sign_in_at?.toISOString() ?? null,
  }
}
