import { sql } from 'kysely'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { findOperator } from './operators.ts'
import type { SignedInSession } from './sessions.ts'

/** The languages of the console, and of emails to members and operators. */
export const accountLanguages = ['en', 'hi'] as const
export type AccountLanguage = (typeof accountLanguages)[number]

/** Returns a stored language; null if none is stored, or one that only a later version has. */
export function readLanguage(stored: string | null | undefined): AccountLanguage | null {
  return accountLanguages.find((language) => language === stored) ?? null
}

/** Returns the stored language of the recipient of an email, or English. */
export function languageOf(stored: string | null | undefined): AccountLanguage {
  return readLanguage(stored) ?? 'en'
}

const hasEmail = (email: string) => sql<boolean>`lower(email) = ${email.toLowerCase()}`

/** Returns the language that a person has chosen, as an operator or as a member of any organisation that the transaction sees. */
export async function findLanguage(queries: Queries, email: string): Promise<AccountLanguage | null> {
  const membership = await queries
    .selectFrom('console_members')
    .select('language')
    .where(hasEmail(email))
    .where('language', 'is not', null)
    .orderBy('member_id')
    .limit(1)
    .executeTakeFirst()
  return readLanguage(membership?.language ?? (await findOperator(queries, email))?.language)
}

/** Returns the language of invitations to an organisation: that of the member who invites, or else of its first owner who has chosen one. */
export async function findInvitingLanguage(
  queries: Queries,
  orgId: string,
  inviter: string,
): Promise<AccountLanguage | null> {
  const row = await queries
    .selectFrom('console_members')
    .select('language')
    .where('org_id', '=', orgId)
    .where(({ or, eb }) => or([hasEmail(inviter), eb('role', '=', 'owner')]))
    .where('language', 'is not', null)
    .orderBy(hasEmail(inviter), 'desc')
    .orderBy('member_id')
    .limit(1)
    .executeTakeFirst()
  return readLanguage(row?.language)
}

/**
 * Stores the language that a person has chosen, in all their organisations and as an operator. A session with an identity provider changes
 * only the account that this provider manages.
 */
export async function saveLanguage(tx: Tx, session: SignedInSession, language: AccountLanguage): Promise<void> {
  const { email, isOperator, provider } = session
  if (provider?.orgId !== null)
    await tx
      .updateTable('console_members')
      .set({ language })
      .where(hasEmail(email))
      .$if(provider !== undefined, (query) => query.where('org_id', '=', provider!.orgId!))
      .execute()
  if (isOperator)
    await tx
      .updateTable('console_operators')
      .set({ language })
      .where(sql<boolean>`lower(email collate "C") = lower(${email}::text collate "C")`)
      .execute()
}
