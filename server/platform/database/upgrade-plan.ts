import type pg from 'pg'
import { ADVISORY_LOCK_ID, type Migration, pendingMigrations } from './migrate.ts'
import { splitStatements } from './split-statements.ts'

/** Statements that read or rewrite a whole table, and the table. */
const TABLE_STATEMENTS = [
  /^create (?:unique )?index\b.*?\bon (?:only )?([a-z_]+)/is,
  /^update (?:only )?([a-z_]+)/i,
  /^delete from (?:only )?([a-z_]+)/i,
  /^insert into [a-z_]+\b.*?\bselect\b.*?\bfrom ([a-z_]+)/is,
  /^alter table (?:if exists )?(?:only )?([a-z_]+)\b.*?\b(?:type|set not null|add constraint|add primary key|add unique|add check|add foreign key|validate constraint)\b/is,
]
/** Statements that wait until no transaction uses the table any more, and the table. */
const LOCKING_STATEMENT =
  /^(?:alter table (?:if exists )?(?:only )?|drop table (?:if exists )?|lock table |create (?:unique )?index\b.*?\bon (?:only )?)([a-z_]+)/is

/** Bytes of a table that one statement processes per second: a cautious figure for a small server with a network disk. */
const BYTES_PER_SECOND = 20 * 1024 ** 2
/** Time of a migration on empty tables: parsing, catalogue changes and the commit. */
const SECONDS_PER_MIGRATION = 0.1
/** Transactions of the server are shorter. An older one belongs to a person, a report or a process that hangs. */
const LONG_TRANSACTION_SECONDS = 30
/** A transaction that uses a table of the migrations is reported earlier. */
const LOCKING_TRANSACTION_SECONDS = 1

export interface UpgradePlan {
  /** Migrations that this version would apply, in order. */
  pending: string[]
  /** Applied migrations that this version does not know, but can run with. */
  unknown: string[]
  /** Whether processes of the version that is running can keep running while and after the migrations are applied. */
  isRolling: boolean
  /** Whether the database has no tables of Attestry yet. */
  isNew: boolean
  /** Estimated duration of the pending migrations, including the time in which they hold locks. */
  estimatedSeconds: number
  /** Tables that the pending migrations read or rewrite completely, largest first. */
  tables: { name: string; bytes: number; rows: number }[]
  /** Sessions that a migration would wait for. */
  blockers: Blocker[]
  /** Whether another process is applying migrations now. */
  isMigrating: boolean
}

interface Blocker {
  /** Process ID of the session in PostgreSQL, or the name of a prepared transaction. */
  session: string
  program: string
  seconds: number
  /** Tables with a lock that a pending migration needs; empty if the transaction is only old. */
  tables: string[]
}

/**
 * Reads what an upgrade to this version would do, without changing anything. Throws a SchemaTooNewError if the database was migrated by
 * a newer version that this one cannot run with.
 */
export async function readUpgradePlan(pool: pg.Pool, migrations: Migration[]): Promise<UpgradePlan> {
  const pendingNames = await pendingMigrations(pool, migrations)
  const pending = migrations.filter(({ name }) => pendingNames.includes(name))
  const applied = await readAppliedNames(pool)
  const newestApplied = applied.at(-1)?.slice(0, 4) ?? '0000'
  const statements = pending.flatMap(({ sql }) => splitStatements(sql).map(({ text }) => withoutComments(text)))
  const scans = statements.flatMap((text) => firstMatch(TABLE_STATEMENTS, text) ?? [])
  const tables = await readTableSizes(pool, [...new Set(scans)])
  const sizes = new Map(tables.map(({ name, bytes }) => [name, bytes]))
  const scannedBytes = scans.reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0)
  const lockedTables = statements.flatMap((text) => firstMatch([LOCKING_STATEMENT], text) ?? [])
  return {
    pending: pendingNames,
    unknown: applied.filter((name) => !migrations.some((known) => known.name === name)),
    isRolling: pending.every(({ compatibleWith }) => compatibleWith !== null && compatibleWith <= newestApplied),
    isNew: applied.length === 0,
    estimatedSeconds: pending.length * SECONDS_PER_MIGRATION + scannedBytes / BYTES_PER_SECOND,
    tables,
    blockers: pending.length > 0 ? await readBlockers(pool, [...new Set(lockedTables)]) : [],
    isMigrating: await isLockHeld(pool),
  }
}

async function readAppliedNames(pool: pg.Pool): Promise<string[]> {
  const { rows: tables } = await pool.query(`select from pg_class where oid = to_regclass('schema_migrations')`)
  if (tables.length === 0) return []
  const { rows } = await pool.query<{ name: string }>('select name from schema_migrations order by name')
  return rows.map(({ name }) => name)
}

/** Returns the sizes of those tables that exist, with their partitions and without their indexes. */
async function readTableSizes(pool: pg.Pool, names: string[]): Promise<UpgradePlan['tables']> {
  const { rows } = await pool.query<{ name: string; bytes: string; rows: string }>(
    `select tables.name, sum(pg_table_size(part.relid))::text as bytes,
       sum(greatest(pg_class.reltuples, 0))::bigint::text as rows
     from unnest($1::text[]) as tables(name)
     cross join lateral pg_partition_tree(to_regclass(tables.name)) as part
     join pg_class on pg_class.oid = part.relid
     group by tables.name
     order by sum(pg_table_size(part.relid)) desc, tables.name`,
    [names],
  )
  return rows.map(({ name, bytes, rows }) => ({ name, bytes: Number(bytes), rows: Number(rows) }))
}

/** Finds old transactions, and prepared transactions, that hold locks on tables of the migrations or are old enough to do so soon. */
async function readBlockers(pool: pg.Pool, tables: string[]): Promise<Blocker[]> {
  const { rows } = await pool.query<{ session: string; program: string; seconds: string; tables: string[] }>(
    `with open_transactions as (
       select pid::text as session, coalesce(nullif(application_name, ''), usename, 'unknown') as program, xact_start as started,
         array(
           select distinct relation::regclass::text from pg_locks
           where pg_locks.pid = pg_stat_activity.pid
             and relation = any(array(select to_regclass(name)::oid from unnest($1::text[]) as name))
         ) as tables
       from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
       union all
       select gid, 'prepared transaction', prepared, '{}'::text[] from pg_prepared_xacts where database = current_database()
     )
     select session, program, extract(epoch from now() - started)::int::text as seconds, tables
     from open_transactions
     where started < now() - make_interval(secs => case when tables = '{}' then $2::float else $3::float end)
     order by started limit 20`,
    [tables, LONG_TRANSACTION_SECONDS, LOCKING_TRANSACTION_SECONDS],
  )
  return rows.map((row) => ({ ...row, seconds: Number(row.seconds) }))
}

async function isLockHeld(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query(
    `select from pg_locks
     where locktype = 'advisory' and objid = $1 and database = (select oid from pg_database where datname = current_database())`,
    [ADVISORY_LOCK_ID],
  )
  return rows.length > 0
}

function withoutComments(text: string): string {
  return text.replace(/--.*$/gm, ' ').trim()
}

function firstMatch(patterns: RegExp[], text: string): string | undefined {
  for (const pattern of patterns) {
    const name = pattern.exec(text)?.[1]
    if (name) return name
  }
  return undefined
}
