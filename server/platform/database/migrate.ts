import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { type Statement, splitStatements } from './split-statements.ts'

export interface Migration {
  name: string
  sql: string
  checksum: string
  /** Number of the migration that a version must know to run on a database with this migration; null: this migration itself. */
  compatibleWith: string | null
  /** False if each statement is committed separately, as concurrent index builds need it. The statements must then be repeatable. */
  isTransaction: boolean
}

const MIGRATIONS_FOLDER = new URL('../../../migrations/', import.meta.url)
const FILE_NAME_PATTERN = /^\d{4}_[a-z0-9_]+\.sql$/
/** Comment in a migration that versions without it can run with, such as `-- compatible with: 0021`. */
const COMPATIBILITY_PATTERN = /^-- compatible with: (\d{4})$/m
const NO_TRANSACTION_PATTERN = /^-- without a transaction$/m
const INSUFFICIENT_PRIVILEGE = '42501'
/** Arbitrary, but different from the other advisory locks in the database. */
export const ADVISORY_LOCK_ID = 7_411_001
const LOCK_POLL_INTERVAL_MS = 100

export async function readMigrations(folder: URL = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const numbers = new Set<string>()
  for (const name of names) {
    if (!FILE_NAME_PATTERN.test(name)) throw new Error(`migrations/${name}: the name must have the form 0001_noun.sql`)
    const number = name.slice(0, 4)
    if (numbers.has(number)) throw new Error(`migrations/${name}: another migration already has the number ${number}`)
    numbers.add(number)
  }
  return names.map((name) => {
    // Reading many small files in the background takes this thread five times longer.
    const sql = readFileSync(new URL(name, folder), 'utf8')
    return {
      name,
      sql,
      checksum: createHash('sha256').update(sql).digest('hex'),
      compatibleWith: COMPATIBILITY_PATTERN.exec(sql)?.[1] ?? null,
      isTransaction: !NO_TRANSACTION_PATTERN.test(sql),
    }
  })
}

/**
 * Applies the pending migrations, each in its own transaction unless it excludes that, and returns their names. Processes that start together wait for
 * the first one (advisory lock), and find nothing left to apply.
 */
export async function migrate(
  pool: pg.Pool,
  migrations: Migration[],
  onApplied?: (name: string) => void,
): Promise<string[]> {
  const client = await pool.connect()
  try {
    await waitForLock(client)
    await createMigrationsTable(client)
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

/** Waits for the lock with short queries, because a concurrent index build waits until all earlier queries have ended. */
async function waitForLock(client: pg.PoolClient): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      ADVISORY_LOCK_ID,
    ])
    if (rows[0]!.locked) return
    await delay(LOCK_POLL_INTERVAL_MS)
  }
}

/**
 * Creates the table of applied migrations, and the column that earlier versions did not have. Checks first: altering a table waits for
 * a running backup, and a role that cannot create tables may start on a database that is up to date.
 */
async function createMigrationsTable(client: pg.PoolClient): Promise<void> {
  if (!(await hasMigrationsTable(client)))
    await client.query(`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const { rows } = await client.query(
    `select from pg_attribute where attrelid = 'schema_migrations'::regclass and attname = 'compatible_with'`,
  )
  if (rows.length === 0) await client.query('alter table schema_migrations add column compatible_with text')
}

async function hasMigrationsTable(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('schema_migrations') is not null as exists`,
  )
  return rows[0]?.exists === true
}

/** Returns the names of the migrations that have not been applied. Throws a SchemaTooNewError if the database is too new. */
export async function pendingMigrations(pool: pg.Pool, migrations: Migration[]): Promise<string[]> {
  const client = await pool.connect()
  try {
    if (!(await hasMigrationsTable(client))) return migrations.map(({ name }) => name)
    return (await findPending(client, migrations)).map(({ name }) => name)
  } finally {
    client.release()
  }
}

/** The database has migrations that this version does not know, and that it cannot run with. */
export class SchemaTooNewError extends Error {
  constructor(unknownName: string, newestKnownNumber: string) {
    super(
      `the database was migrated by a newer version of Attestry: it has migration ${unknownName}, and this version knows migrations up to ${newestKnownNumber}. Start the newer version; to return to this one, restore a backup from before the upgrade`,
    )
  }
}

/** Throws unless this version can run with the applied migrations that it does not know. */
function requireCompatible(applied: { name: string; compatible_with?: string | null }[], migrations: Migration[]) {
  const knownNames = new Set(migrations.map(({ name }) => name))
  const newestKnownNumber = migrations.at(-1)?.name.slice(0, 4) ?? '0000'
  const incompatible = applied
    .filter(
      ({ name, compatible_with }) =>
        !knownNames.has(name) && !(compatible_with && compatible_with <= newestKnownNumber),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  if (incompatible[0]) throw new SchemaTooNewError(incompatible[0].name, newestKnownNumber)
}

async function findPending(client: pg.PoolClient, migrations: Migration[]): Promise<Migration[]> {
  // The column `compatible_with` is missing until this version has migrated the database.
  const { rows } = await client.query<{ name: string; checksum: string; compatible_with?: string | null }>(
    'select * from schema_migrations',
  )
  requireCompatible(rows, migrations)
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

async function applyMigration(client: pg.PoolClient, migration: Migration) {
  const { name, sql, checksum, compatibleWith, isTransaction } = migration
  if (isTransaction) await client.query('begin')
  let current: Statement | undefined
  try {
    for (const statement of splitStatements(sql)) {
      current = statement
      await client.query(statement.text)
    }
    await client.query('insert into schema_migrations (name, checksum, compatible_with) values ($1, $2, $3)', [
      name,
      checksum,
      compatibleWith,
    ])
    if (isTransaction) await client.query('commit')
  } catch (error) {
    if (isTransaction) await client.query('rollback').catch(() => {})
    throw new MigrationError(migration, current, error as Error)
  }
}

/** Error whose message includes the file, the line and the statement that failed. */
class MigrationError extends Error {
  constructor({ name, isTransaction }: Migration, statement: Statement | undefined, cause: Error) {
    const location = statement ? `, line ${statement.line}, in «${shortenStatement(statement.text)}»` : ''
    const result = isTransaction
      ? 'the migration was rolled back'
      : 'the statements before it were applied, and the next start repeats the whole migration'
    const advice =
      (cause as { code?: string }).code === INSUFFICIENT_PRIVILEGE
        ? '. Set DATABASE_OWNER_URL to the role that owns the tables, or run `npx attestry migrate` with it'
        : ''
    super(`migrations/${name}${location}: ${cause.message}; ${result}${advice}`, { cause })
  }
}

function shortenStatement(text: string): string {
  const singleLine = text.replace(/--.*$/gm, ' ').replace(/\s+/g, ' ').trim()
  return singleLine.length > 120 ? `${singleLine.slice(0, 120)}…` : singleLine
}
