import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import { type Statement, splitStatements } from './split-statements.ts'

export interface Migration {
  name: string
  sql: string
  checksum: string
}

const MIGRATIONS_FOLDER = new URL('../../../migrations/', import.meta.url)
const FILE_NAME_PATTERN = /^\d{4}_[a-z0-9_]+\.sql$/
/** Arbitrary, but different from the other advisory locks in the database. */
const ADVISORY_LOCK_ID = 7_411_001

export async function readMigrations(folder: URL = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const numbers = new Set<string>()
  for (const name of names) {
    if (!FILE_NAME_PATTERN.test(name)) throw new Error(`migrations/${name}: the name must have the form 0001_noun.sql`)
    const number = name.slice(0, 4)
    if (numbers.has(number)) throw new Error(`migrations/${name}: another migration already has the number ${number}`)
    numbers.add(number)
  }
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/**
 * Applies the pending migrations, each in its own transaction, and returns their names. Processes that start together wait for
 * the first one (advisory lock), and find nothing left to apply.
 */
export async function migrate(
  pool: pg.Pool,
  migrations: Migration[],
  onApplied?: (name: string) => void,
): Promise<string[]> {
  const client = await pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK_ID])
    await client.query(`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
    const pending = await findPending(client, migrations)
    for (const migration of pending) {
      await applyMigration(client, migration)
      onApplied?.(migration.name)
    }
    return pending.map(({ name }) => name)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [ADVISORY_LOCK_ID]).catch(() => {})
    client.release()
  }
}

/** Returns the names of the migrations that have not been applied. */
export async function pendingMigrations(pool: pg.Pool, migrations: Migration[]): Promise<string[]> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ exists: boolean }>(
      `select to_regclass('schema_migrations') is not null as exists`,
    )
    if (!rows[0]?.exists) return migrations.map(({ name }) => name)
    return (await findPending(client, migrations)).map(({ name }) => name)
  } finally {
    client.release()
  }
}

async function findPending(client: pg.PoolClient, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migrations',
  )
  const appliedChecksums = new Map(rows.map((row) => [row.name, row.checksum]))
  for (const { name, checksum } of migrations) {
    const appliedChecksum = appliedChecksums.get(name)
    if (appliedChecksum !== undefined && appliedChecksum !== checksum) {
      throw new Error(
        `migrations/${name} was changed after it was applied; restore it and write a new migration instead`,
      )
    }
  }
  return migrations.filter(({ name }) => !appliedChecksums.has(name))
}

async function applyMigration(client: pg.PoolClient, { name, sql, checksum }: Migration) {
  await client.query('begin')
  let current: Statement | undefined
  try {
    for (const statement of splitStatements(sql)) {
      current = statement
      await client.query(statement.text)
    }
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new MigrationError(name, current, error as Error)
  }
}

/** Error whose message includes the file, the line and the statement that failed. */
class MigrationError extends Error {
  constructor(name: string, statement: Statement | undefined, cause: Error) {
    const location = statement ? `, line ${statement.line}, in «${shortenStatement(statement.text)}»` : ''
    super(`migrations/${name}${location}: ${cause.message}; the migration was rolled back`, { cause })
  }
}

function shortenStatement(text: string): string {
  const singleLine = text.replace(/--.*$/gm, ' ').replace(/\s+/g, ' ').trim()
  return singleLine.length > 120 ? `${singleLine.slice(0, 120)}…` : singleLine
}
