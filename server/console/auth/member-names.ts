import { sql } from 'kysely'
import { Type } from 'typebox'
import { invalid } from '../../api/invalid.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { linkErrors } from '../../platform/text/links.ts'
import { toSingleLine } from '../../platform/text/strip-invisible.ts'

/** The names of members, which are shown with their email addresses. */

const MAX_MEMBER_NAME_LENGTH = 80

/** Accepts longer names than those that are stored, because spaces at both ends are removed. */
export const MemberName = Type.String({
  maxLength: 2 * MAX_MEMBER_NAME_LENGTH,
  description: 'The name of the person, which colleagues see.',
})

/** Returns a name without invisible characters and spaces at both ends. Throws a problem if it is empty, too long or contains a link. */
export function parseMemberName(text: string): string {
  const name = toSingleLine(text)
  const length = [...name].length
  const details =
    length === 0 || length > MAX_MEMBER_NAME_LENGTH
      ? [{ path: 'name', message: `must have 1 to ${MAX_MEMBER_NAME_LENGTH} visible characters; has ${length}` }]
      : linkErrors([['name', name]])
  if (details.length > 0) throw invalid(details)
  return name
}

/** Returns the name that an identity provider sent, or null if it is missing or not valid as the name of a member. */
export function providerName(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const name = toSingleLine(value)
  const isValid = name !== '' && [...name].length <= MAX_MEMBER_NAME_LENGTH && linkErrors([['name', name]]).length === 0
  return isValid ? name : null
}

/** Sets the name of a person in all their organisations, or only in the one of their identity provider. Returns the number of organisations. */
export async function renamePerson(tx: Tx, email: string, name: string | null, orgId?: string): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('console_members')
    .set({ name })
    .where(sql<boolean>`lower(email) = ${email.toLowerCase()}`)
    .$if(orgId !== undefined, (query) => query.where('org_id', '=', orgId!))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Sets the name of a member that their identity provider sent. */
export async function renameMember(tx: Tx, memberId: string, name: string): Promise<void> {
  await tx.updateTable('console_members').set({ name }).where('member_id', '=', memberId).execute()
}

/** Returns a function that returns the name of the member with an address, or null if the member has none. */
export async function loadMemberNames(
  queries: Queries,
  orgId: string,
  emails: (string | null)[],
): Promise<(email: string | null) => string | null> {
  const addresses = [...new Set(emails.filter((email) => email !== null).map((email) => email.toLowerCase()))]
  const rows = await queries
    .selectFrom('console_members')
    .select(['email', 'name'])
    .where('org_id', '=', orgId)
    .where(sql<boolean>`lower(email) = any (${addresses}::text[])`)
    .execute()
  const names = new Map(rows.map(({ email, name }) => [email.toLowerCase(), name]))
  return (email) => (email === null ? null : (names.get(email.toLowerCase()) ?? null))
}
