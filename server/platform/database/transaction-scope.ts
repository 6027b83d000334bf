import { sql } from 'kysely'
import type { Tx } from './database.ts'
import { ALL } from './tenant-scope.ts'

/**
 * Runs queries of a transaction for all organisations, although its request is limited to one. Only for questions about a person, who can
 * belong to several organisations; the rows must not reach the caller.
 */
export async function runTransactionForAllOrganisations<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const { rows } = await sql<{ org: string; mode: string }>`
    select current_setting('attestry.org', true) as org, current_setting('attestry.mode', true) as mode`.execute(tx)
  const { org, mode } = rows[0]!
  await setLocalScope(tx, ALL, ALL)
  const result = await work() // after an error, the transaction is rolled back with its settings
  await setLocalScope(tx, org, mode)
  return result
}

async function setLocalScope(tx: Tx, org: string, mode: string) {
  await sql`select set_config('attestry.org', ${org}, true), set_config('attestry.mode', ${mode}, true)`.execute(tx)
}
