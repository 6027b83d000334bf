import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { removeAssignments } from '../candidates/assignments.ts'
import { changeIdentityEmail, deleteIdentity } from '../identity-providers/identities.ts'
import type { AccountLanguage } from './account-language.ts'
import { endSessionsOfMember } from './console-access.ts'
import type { MemberRole } from './roles.ts'
import { endInvitations } from './sign-in-links.ts'

export interface Member {
  member_id: string
  org_id: string
  email: string
  /** The name that colleagues see. */
  name: string | null
  role: MemberRole
  /** The language of emails, which the person chose; null if they have chosen none. */
  language: string | null
  created_at: Date
  last_sign_in_at: Date | null
}

export interface Membership {
  org_id: string
  name: string
  /** The email address with the capitalisation that the owner entered. */
  email: string
  /** The name of the person, which colleagues see. */
  person_name: string | null
  /** The language of emails, which the person chose; null if they have chosen none. */
  language: string | null
  role: MemberRole
  /** Whether members must sign in with the identity provider of the organisation. */
  provider_required: boolean
}

const hasEmail = (email: string) => sql<boolean>`lower(email) = ${email.toLowerCase()}`

/** Returns the organisations of a person, by name. */
export async function listMemberships(queries: Queries, email: string): Promise<Membership[]> {
  const rows = await queries
    .selectFrom('console_members')
    .innerJoin('organisations as o', 'o.org_id', 'console_members.org_id')
    .select(['o.org_id', 'o.name', 'role', 'email', 'console_members.name as person_name', 'console_members.language'])
    .select(isProviderRequired.as('provider_required'))
    .where(hasEmail(email))
    .orderBy('o.name')
    .orderBy('o.org_id')
    .execute()
  return rows as Membership[]
}

/** Returns whether an address belongs to a member of the organisation. */
export async function isMember(queries: Queries, orgId: string, email: string): Promise<boolean> {
  return (await findMemberAccess(queries, orgId, email)) !== undefined
}

export interface MemberAccess {
  role: MemberRole
  /** Whether members must sign in with the identity provider of the organisation. */
  providerRequired: boolean
}

export async function findMemberAccess(
  queries: Queries,
  orgId: string,
  email: string,
): Promise<MemberAccess | undefined> {
  const row = await queries
    .selectFrom('console_members')
    .select('role')
    .select(isProviderRequired.as('provider_required'))
    .where('org_id', '=', orgId)
    .where(hasEmail(email))
    .executeTakeFirst()
  return row && { role: row.role as MemberRole, providerRequired: row.provider_required }
}

const isProviderRequired = sql<boolean>`exists (
  select from identity_providers as p where p.org_id = console_members.org_id and p.required
)`

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
  { email, name = null, role }: { email: string; name?: string | null | undefined; role: MemberRole },
): Promise<Member> {
  const now = clock.now()
  const row = await tx
    .insertInto('console_members')
    .values({ member_id: newId('MB_', now), org_id: orgId, email, name, role, created_at: new Date(now) })
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

/** Sets the role of a member, whose organisation is locked. Returns false if the member is the only owner and would lose the role. */
export async function setMemberRole(tx: Tx, member: Member, role: MemberRole): Promise<boolean> {
  if (role !== 'owner' && (await isOnlyOwner(tx, member))) return false
  await tx.updateTable('console_members').set({ role }).where('member_id', '=', member.member_id).execute()
  return true
}

/**
 * Changes the email address of a member, whose organisation is locked, and ends the sessions with the previous address. Returns false if
 * there is no such member, or another member has the new address.
 */
export async function changeMemberEmail(tx: Tx, orgId: string, email: string, newEmail: string): Promise<boolean> {
  const member = await findMemberByEmail(tx, orgId, email)
  if (!member || (await findMemberByEmail(tx, orgId, newEmail))) return false
  await tx.updateTable('console_members').set({ email: newEmail }).where('member_id', '=', member.member_id).execute()
  await endInvitations(tx, member.member_id) // they were sent to the previous address
  await endSessionsOfMember(tx, orgId, email)
  await changeIdentityEmail(tx, orgId, email, newEmail)
  return true
}

/** Removes a member. Takes effect on their next request, in all their sessions. */
export async function removeMember(tx: Tx, orgId: string, memberId: string): Promise<Member> {
  const member = await lockMember(tx, orgId, memberId)
  await requireAnotherOwner(tx, member)
  await tx.deleteFrom('console_members').where('org_id', '=', orgId).where('member_id', '=', memberId).execute()
  await removeAssignments(tx, orgId, memberId)
  await endSessionsOfMember(tx, orgId, member.email)
  await deleteIdentity(tx, orgId, member.email)
  return member
}

export async function getMember(queries: Queries, orgId: string, memberId: string): Promise<Member> {
  const row = await queries
    .selectFrom('console_members')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Member ${memberId} not found.`)
  return row as Member
}

/** Removes a member whose organisation is locked, also if they are the only owner. Returns their ID, or undefined if there is none. */
export async function deprovisionMember(tx: Tx, orgId: string, email: string): Promise<string | undefined> {
  const removed = await tx
    .deleteFrom('console_members')
    .where('org_id', '=', orgId)
    .where(hasEmail(email))
    .returning(['member_id', 'email'])
    .executeTakeFirst()
  if (removed) await removeAssignments(tx, orgId, removed.member_id)
  await endSessionsOfMember(tx, orgId, removed?.email ?? email)
  await deleteIdentity(tx, orgId, email)
  return removed?.member_id
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

/**
 * Records a sign-in of a member of all their organisations, or only of the one whose identity provider they signed in with. Organisations
 * that the person joined after choosing a language get this language.
 */
export async function recordSignIn(
  tx: Tx,
  clock: Clock,
  { email, orgId, language }: { email: string; orgId: string | undefined; language: AccountLanguage | null },
): Promise<void> {
  await tx
    .updateTable('console_members')
    .set(({ fn, val }) => ({
      last_sign_in_at: new Date(clock.now()),
      language: fn.coalesce('language', val(language)),
    }))
    .where(hasEmail(email))
    .$if(orgId !== undefined, (query) => query.where('org_id', '=', orgId!))
    .execute()
}

/** Serialises changes to the members of an organisation, so that its last two owners cannot both be removed. */
export async function lockMembers(tx: Tx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`members of ${orgId}`}, 0))`.execute(tx)
}

async function lockMember(tx: Tx, orgId: string, memberId: string): Promise<Member> {
  await lockMembers(tx, orgId)
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

async function requireAnotherOwner(tx: Tx, member: Member) {
  if (await isOnlyOwner(tx, member))
    throw problem('CONFLICT', 'This member is the only owner; give another member the owner role first.')
}

async function isOnlyOwner(tx: Tx, { org_id, member_id, role }: Member): Promise<boolean> {
  if (role !== 'owner') return false
  const otherOwner = await tx
    .selectFrom('console_members')
    .select('member_id')
    .where('org_id', '=', org_id)
    .where('role', '=', 'owner')
    .where('member_id', '<>', member_id)
    .executeTakeFirst()
  return otherOwner === undefined
}

export function memberRecord({ member_id, email, name, role, created_at, last_sign_in_at }: Member) {
  return {
    member_id,
    email,
    name,
    role,
    created_at: created_at.toISOString(),
    last_sign_in_at: last_sign_in_at?.toISOString() ?? null,
  }
}
