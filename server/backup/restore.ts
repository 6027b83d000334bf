import { once } from 'node:events'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { ConnectionSettings } from '../platform/database/connection-settings.ts'
import type { Database } from '../platform/database/database.ts'
import { type Migration, migrate } from '../platform/database/migrate.ts'
import { beginRestore, endRestore, isRestoreUnfinished } from '../platform/database/restore-marker.ts'
import { installQueue } from '../platform/jobs/queue.ts'
import type { Log } from '../platform/log.ts'
import type { ArchiveRecord, Manifest, SequenceValue, TableDigest, TableHeader } from './archive.ts'
import { listTables, quoteName, TEXT_SETTINGS, tableName } from './copied-tables.ts'
import { BackupError } from './encryption.ts'
import { RowDigest } from './table-digest.ts'

/**
 * New events get sequences that are this much higher than in the backup, so that they follow the events of the time between the backup and
 * the failure, which consumers may have read.
 */
const EVENT_SEQUENCE_GAP = 10_000_000
/** Arbitrary, but different from the other advisory locks in the database. */
const ADVISORY_LOCK_ID = 7_411_003

export interface RestoreOptions {
  manifest: Manifest
  /** The records after the manifest. */
  records: AsyncGenerator<ArchiveRecord>
  /** Connections of the role that owns the tables. */
  owner: Database
  connection: ConnectionSettings
  migrations: Migration[]
  log: Log
  /** Called when the rows of a table have been loaded. */
  onTable?: (table: TableHeader, digest: TableDigest) => void
  /** Runs in the transaction that makes the restored data visible. */
  beforeCommit?: (client: pg.PoolClient) => Promise<void>
}

/** Throws unless the database has no tables, or those of a restore that did not finish. */
export async function requireEmptyDatabase(owner: Database, databaseName: string): Promise<void> {
  if (await isRestoreUnfinished(owner.pool)) return
  const { rows } = await owner.pool.query<{ tables: number }>(
    `select count(*)::int as tables from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p') and nspname in ('public', 'pgboss')`,
  )
  if (rows[0]!.tables > 0)
    throw new Error(
      `the database ${databaseName} is not empty: it has ${rows[0]!.tables} tables. A backup is restored into an empty database only; create one, or choose an empty DATA_DIR`,
    )
}

/** Returns the migrations of the backup. Throws if this version cannot restore it. */
export function migrationsOf(manifest: Manifest, known: Migration[]): Migration[] {
  const knownByName = new Map(known.map((migration) => [migration.name, migration]))
  return manifest.migrations.map(({ name, checksum }) => {
    const migration = knownByName.get(name)
    if (!migration)
      throw new BackupError(
        `the backup was made by a newer version of Attestry (${manifest.attestryVersion}): it has migration ${name}. Restore it with that version or a later one`,
      )
    if (migration.checksum !== checksum)
      throw new BackupError(
        `migration ${name} differs from the one in the backup, which was made by version ${manifest.attestryVersion}; restore it with that version`,
      )
    return migration
  })
}

/**
 * Restores a backup into an empty database: creates the schema of the backup, then loads all rows in one transaction. If the process is
 * killed, the database has no rows and is marked, so that no server starts on it and the restore can be repeated.
 */
export async function restoreDatabase(options: RestoreOptions): Promise<void> {
  const { manifest, owner, connection, log } = options
  const migrations = migrationsOf(manifest, options.migrations)
  const client = await owner.pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK_ID])
    await beginRestore(client)
    await migrate(owner.pool, migrations)
    await installQueue(connection, log)
    const { rows } = await client.query<{ version: number }>('select version from pgboss.version')
    if (rows[0]!.version !== manifest.queueVersion)
      throw new BackupError(
        `the job queue of the backup has the schema version ${manifest.queueVersion}, and this version of Attestry has ${rows[0]!.version}. Restore the backup with version ${manifest.attestryVersion}, and upgrade then`,
      )
    await client.query('begin')
    for (const setting of [...TEXT_SETTINGS, 'set local idle_in_transaction_session_timeout = 0'])
      await client.query(setting)
    await loadAll(client, options)
    await options.beforeCommit?.(client)
    await endRestore(client)
    await client.query('commit')
    await client.query('select pg_advisory_unlock($1)', [ADVISORY_LOCK_ID])
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
  await owner.pool.query('analyze')
}

async function loadAll(client: pg.PoolClient, { manifest, records, onTable }: RestoreOptions): Promise<void> {
  const tables = new Map((await listTables(client)).map((table) => [tableName(table), table]))
  await createPartitions(client, manifest)
  const constraints = await dropForeignKeys(client)
  for (const name of tables.keys()) await client.query(`alter table ${name} disable trigger user`)
  await client.query(`truncate ${[...tables.keys()].join(', ')}`)
  let loadedTables = 0
  let sequences: SequenceValue[] = []
  for await (const record of records) {
    if (record.kind === 'table') {
      const existing = tables.get(tableName(record))
      const missing = record.columns.filter((column) => !existing?.columns.includes(column))
      if (!existing || missing.length > 0)
        throw new BackupError(
          `the backup has ${missing.length > 0 && existing ? `the columns ${missing.join(', ')} of ` : ''}the table ${tableName(record)}, which this version of Attestry does not have; restore it with version ${manifest.attestryVersion}`,
        )
      onTable?.(record, await loadTable(client, record, records))
      loadedTables++
    } else if (record.kind === 'sequences') sequences = record.sequences
    else if (record.kind === 'end' && record.tables !== loadedTables)
      throw new BackupError(`the backup has ${loadedTables} of ${record.tables} tables; use another one`)
  }
  for (const name of tables.keys()) await client.query(`alter table ${name} enable trigger user`)
  for (const { table, name, definition } of constraints)
    await client.query(`alter table ${table} add constraint ${quoteName(name)} ${definition}`)
  for (const { schema, name, value, isCalled } of sequences) {
    const gap = name === 'event_sequence' ? EVENT_SEQUENCE_GAP : 0
    await client.query('select setval($1::regclass, $2::bigint + $3, $4)', [
      tableName({ schema, name }),
      value,
      gap,
      isCalled,
    ])
  }
}

/** Loads the rows of a table until its end record, and compares their number and digest with it. */
async function loadTable(
  client: pg.PoolClient,
  table: TableHeader,
  records: AsyncGenerator<ArchiveRecord>,
): Promise<TableDigest> {
  const columns = table.columns.map((column) => quoteName(column)).join(', ')
  const copy = client.query(copyFrom(`copy ${tableName(table)} (${columns}) from stdin`))
  const finished = once(copy, 'finish')
  finished.catch(() => {}) // reported where it is awaited
  const digest = new RowDigest()
  for (;;) {
    const { value: record } = await records.next()
    if (record?.kind === 'rows') {
      digest.update(record.bytes)
      if (!copy.write(record.bytes)) await Promise.race([once(copy, 'drain'), finished])
      continue
    }
    if (record?.kind !== 'table_end')
      throw new BackupError(`the backup has no end of the table ${tableName(table)}; use another one`)
    copy.end()
    await finished
    const result = digest.result()
    if (result.rows !== record.rows || result.digest !== record.digest || copy.rowCount !== record.rows)
      throw new BackupError(
        `the table ${tableName(table)} has ${copy.rowCount} rows, and the backup recorded ${record.rows}, or their hashes differ; use another backup`,
      )
    return result
  }
}

async function createPartitions(client: pg.PoolClient, { partitions }: Manifest): Promise<void> {
  for (const { schema, parent, name, bound } of partitions) {
    const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
      tableName({ schema, name }),
    ])
    if (!rows[0]!.exists)
      await client.query(
        `create table ${tableName({ schema, name })} partition of ${tableName({ schema, name: parent })} ${bound}`,
      )
  }
}

/** Drops the foreign keys, because tables are loaded in alphabetical order, and returns them. Adding them again checks all rows. */
async function dropForeignKeys(client: pg.PoolClient) {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select format('%I.%I', nspname, relname) as table, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
     from pg_constraint join pg_class on pg_class.oid = conrelid join pg_namespace on pg_namespace.oid = relnamespace
     where contype = 'f' and conparentid = 0 and nspname in ('public', 'pgboss') order by 1, 2`,
  )
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${quoteName(name)}`)
  return rows
}
