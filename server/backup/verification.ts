import { sql } from 'kysely'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Database } from '../platform/database/database.ts'
import type { Vault } from '../platform/vault.ts'
import type { TableDigest, TableHeader } from './archive.ts'
import { digestTable, TEXT_SETTINGS, tableName } from './copied-tables.ts'

export interface ExpectedTable {
  table: TableHeader
  digest: TableDigest
}

/** Compares the rows of restored tables with the counts and hashes in the backup, and returns one line per difference. */
export async function compareTables(owner: Database, expected: ExpectedTable[]): Promise<string[]> {
  const client = await owner.pool.connect()
  const differences: string[] = []
  try {
    await client.query('begin isolation level repeatable read read only')
    for (const setting of TEXT_SETTINGS) await client.query(setting)
    for (const { table, digest } of expected) {
      const actual = await digestTable(client, table)
      if (actual.rows !== digest.rows)
        differences.push(`${tableName(table)} has ${actual.rows} rows instead of ${digest.rows}`)
      else if (actual.digest !== digest.digest) differences.push(`${tableName(table)} has rows with other values`)
    }
    await client.query('commit')
  } finally {
    client.release()
  }
  return differences
}

/** Returns one line per balance of credits that differs from the sum of its entries. */
export async function checkCreditSums({ queries }: Pick<Database, 'queries'>): Promise<string[]> {
  const { rows } = await sql<{ org_id: string; mode: string; balance: number; total: number }>`
    select org_id, mode, balance, coalesce((select sum(amount) from credit_entries as entry
      where entry.org_id = balances.org_id and entry.mode = balances.mode), 0)::bigint as total
    from credit_balances as balances`.execute(queries)
  return rows
    .filter(({ balance, total }) => balance !== total)
    .map(
      ({ org_id, mode, balance, total }) =>
        `${org_id} ${mode}: the balance is ${balance}, and its entries add up to ${total}`,
    )
}

/** Decrypts every secret. Returns their number, and one line per secret that cannot be decrypted. */
export async function checkSecrets(
  { queries }: Pick<Database, 'queries'>,
  vault: Vault,
  columns: readonly SealedColumn[],
): Promise<{ secrets: number; failures: string[] }> {
  let secrets = 0
  const failures: string[] = []
  for (const { table, column, id, purpose } of columns) {
    const { rows } = await sql<Record<string, unknown> & { sealed: Buffer }>`
      select ${sql.join(id.map((name) => sql`${sql.ref(name)}::text`))}, ${sql.ref(column)} as sealed
      from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(queries)
    for (const row of rows) {
      secrets++
      const values = id.map((name) => String(row[name]))
      try {
        vault.open(row.sealed, purpose(...values))
      } catch {
        failures.push(`${table}.${column} of ${values.join(', ')} cannot be decrypted`)
      }
    }
  }
  return { secrets, failures }
}
