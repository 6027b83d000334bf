import { type RawBuilder, sql } from 'kysely'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { runTransactionForAllOrganisations } from '../../platform/database/transaction-scope.ts'
import { deleteIdentity } from '../identity-providers/identities.ts'
import { removeSecondFactors } from '../second-factors/reset.ts'
import { endAllSessions, endProviderSessions } from './sessions.ts'

/**
 * Returns whether the person is a member of an organisation, or an operator who may sign in by email. Members may always do so: an
 * organisation that requires its identity provider rejects the session, and the person may belong to others.
 */
export async function hasConsoleAccess(queries: Queries, email: string): Promise<boolean> {
  return hasRole(queries, email, sql`not exists (select from identity_providers where org_id is null and required)`)
}

/** Returns whether the person is a member of an organisation, or an operator for whom the condition is true. */
async function hasRole(queries: Queries, email: string, operatorCondition: RawBuilder<unknown>): Promise<boolean> {
  // Addresses of operators are compared as in `findOperator`.
  const { rows } = await sql`
    select where exists (select from console_members where lower(email) = ${email.toLowerCase()})
      or exists (
        select from console_operators
        where lower(email collate "C") = lower(${email}::text collate "C") and disabled_at is null and ${operatorCondition}
      )`.execute(queries)
  return rows.length > 0
}

/** Ends the sessions of a person who is no longer a member of the organisation. */
export async function endSessionsOfMember(tx: Tx, orgId: string, email: string): Promise<void> {
  await endProviderSessions(tx, orgId, email)
  await endSessionsWithoutAccess(tx, email)
}

/** Ends the sessions of a person who is no longer an operator, and removes the account of the provider from their address. */
export async function endSessionsOfOperator(tx: Tx, email: string): Promise<void> {
  await endProviderSessions(tx, null, email)
  await deleteIdentity(tx, null, email)
  await endSessionsWithoutAccess(tx, email)
}

async function endSessionsWithoutAccess(tx: Tx, email: string): Promise<void> {
  // The request of an owner sees only the members of their organisation. Operators keep their access however they have to sign in.
  const hasAccess = await runTransactionForAllOrganisations(tx, () => hasRole(tx, email, sql`true`))
  if (hasAccess) return
  await endAllSessions(tx, email, {})
  // The address may be given to another person later.
  await removeSecondFactors(tx, email)
}
