import { sql } from 'kysely'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { runTransactionForAllOrganisations } from '../../platform/database/transaction-scope.ts'
import { removeSecondFactors } from '../second-factors/reset.ts'
import { endAllSessions, endProviderSessions } from './sessions.ts'

/**
 * Returns whether the person is a member of an organisation, or an operator who may sign in by email. Members may always do so: an
 * organisation that requires its identity provider rejects the session, and the person may belong to others.
 */
export async function hasConsoleAccess(queries: Queries, email: string): Promise<boolean> {
  // Addresses of operators are compared as in `findOperator`.
  const { rows } = await sql`
    select where exists (select from console_members where lower(email) = ${email.toLowerCase()})
      or exists (
        select from console_operators
        where lower(email collate "C") = lower(${email}::text collate "C") and disabled_at is null
          and not exists (select from identity_providers where org_id is null and required)
      )`.execute(queries)
  return rows.length > 0
}

/** Ends the sessions of a person who is no longer a member of the organisation. */
export async function endSessionsOfMember(tx: Tx, orgId: string, email: string): Promise<void> {
  await endProviderSessions(tx, orgId, email)
  await endSessionsWithoutAccess(tx, email)
}

/** Ends the sessions of a person who is no longer an operator. */
export async function endSessionsOfOperator(tx: Tx, email: string): Promise<void> {
  await endProviderSessions(tx, null, email)
  await endSessionsWithoutAccess(tx, email)
}

async function endSessionsWithoutAccess(tx: Tx, email: string): Promise<void> {
  // Row-level security limits the request of an owner to their own organisation.
  const hasAccess = await runTransactionForAllOrganisations(tx, () => hasConsoleAccess(tx, email))
  if (hasAccess) return
  await endAllSessions(tx, email, {})
  // The address may belong to another person later.
  await removeSecondFactors(tx, email)
}
