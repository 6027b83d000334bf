import { sql } from 'kysely'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { endAllSessions } from './sessions.ts'

/** Returns whether the person is a member of an organisation or an operator. */
export async function hasConsoleAccess(queries: Queries, email: string): Promise<boolean> {
  // Addresses of operators are compared as in `findOperator`.
  const { rows } = await sql`
    select where exists (select from console_members where lower(email) = ${email.toLowerCase()})
      or exists (
        select from console_operators
        where lower(email collate "C") = lower(${email}::text collate "C") and disabled_at is null
      )`.execute(queries)
  return rows.length > 0
}

/** Ends the sessions of a person who has lost their last role. */
export async function endSessionsWithoutAccess(tx: Tx, email: string): Promise<void> {
  if (!(await hasConsoleAccess(tx, email))) await endAllSessions(tx, email)
}
