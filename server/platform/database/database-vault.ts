import type { Vault } from '../vault.ts'
import type { Database, Queries } from './database.ts'

/**
 * The vault of each database. Functions that read sealed rows in the middle of a transaction get it from the transaction, so that it
 * does not have to be passed through every caller.
 */
const vaults = new WeakMap<object, Vault>()

/** Makes the vault available to all queries and transactions of a database. */
export function setVault({ queries }: Pick<Database, 'queries'>, vault: Vault): void {
  vaults.set(queries.getExecutor().adapter, vault)
}

/** Returns the vault of the database that these queries use. */
export function vaultOf(queries: Queries): Vault {
  // All transactions of a database share its adapter.
  const vault = vaults.get(queries.getExecutor().adapter)
  if (!vault) throw new Error('this database was opened without a vault')
  return vault
}
