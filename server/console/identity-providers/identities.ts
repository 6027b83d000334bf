import { sql } from 'kysely'
import type { Tx } from '../../platform/database/database.ts'

/** The accounts of people at the provider of an organisation, or at that of the operators for null. */

const identityOf = (orgId: string | null, email: string) => sql`
  provider_id in (select provider_id from identity_providers where org_id is not distinct from ${orgId})
    and lower(email) = ${email.toLowerCase()}`

/** Removes the account from an address, so that the address can be given to another person. */
export async function deleteIdentity(tx: Tx, orgId: string | null, email: string): Promise<void> {
  await sql`delete from console_identities where ${identityOf(orgId, email)}`.execute(tx)
}

/** Moves the account of a member to their new address. */
export async function changeIdentityEmail(tx: Tx, orgId: string, email: string, newEmail: string): Promise<void> {
  if (email.toLowerCase() !== newEmail.toLowerCase()) await deleteIdentity(tx, orgId, newEmail) // of a former member
  await sql`update console_identities set email = ${newEmail} where ${identityOf(orgId, email)}`.execute(tx)
}
