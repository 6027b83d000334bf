import type { Tx } from '../../platform/database/database.ts'
import { removeAuthenticatorApp } from './authenticator-apps.ts'
import { hasEmail } from './passkeys.ts'

/** Removes the passkeys, the authenticator app and the recovery codes of a person. Returns false if they have none. */
export async function removeSecondFactors(tx: Tx, email: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('console_passkeys').where(hasEmail(email)).executeTakeFirst()
  const hadApp = await removeAuthenticatorApp(tx, email)
  return hadApp || numDeletedRows > 0n
}
