import type pg from 'pg'
import { type ArchiveRecord, encodeRecord, type Manifest, type SequenceValue } from './archive.ts'
import { copyRows, listTables, TEXT_SETTINGS, tableName } from './copied-tables.ts'
import { RowDigest } from './table-digest.ts'

/** The content of a backup is sent to the compression in parts of about this size. */
const PART_BYTES = 256 * 1024
/** Ends the transaction of a process that was paused or lost. A slow destination can delay the dump, but not for this long. */
const IDLE_TIMEOUT_MS = 10 * 60_000

export interface DumpOptions {
  attestryVersion: string
  secrets?: Manifest['secrets'] | undefined
  /** Called with the manifest, when the snapshot has been taken. */
  onSnapshot?: (manifest: Manifest) => void
}

/** Writes all rows of one consistent snapshot as records. Readers and writers are not blocked. */
export async function* dumpDatabase(client: pg.ClientBase, options: DumpOptions): AsyncGenerator<Buffer> {
  const names = (await listTables(client)).map((table) => tableName(table))
  await client.query('begin isolation level repeatable read read only')
  for (const setting of TEXT_SETTINGS) await client.query(setting)
  await client.query(`set local idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`)
  // A lock does not take the snapshot, the first query does. So no table or partition can be dropped between the snapshot and the copy.
  await client.query(`lock table ${names.join(', ')} in access share mode`)
  const manifest = await readDatabase(client, options)
  options.onSnapshot?.(manifest)
  yield* joinParts(records())
  await client.query('commit')

  async function* records(): AsyncGenerator<ArchiveRecord> {
    yield manifest
    const tables = await listTables(client)
    for (const table of tables) {
      yield table
      const digest = new RowDigest()
      for await (const bytes of copyRows(client, table)) {
        digest.update(bytes)
        yield { kind: 'rows', bytes }
      }
      yield { kind: 'table_end', ...digest.result() }
    }
    // Sequences are not part of the snapshot. Read last, they are ahead of every copied row.
    yield { kind: 'sequences', sequences: await readSequences(client) }
    yield { kind: 'end', tables: tables.length }
  }
}

/** Joins consecutive rows, which PostgreSQL sends one by one, to fewer and larger records. */
async function* joinParts(records: AsyncGenerator<ArchiveRecord>): AsyncGenerator<Buffer> {
  let rows: Buffer[] = []
  let bytes = 0
  for await (const record of records) {
    if (record.kind === 'rows') {
      rows.push(record.bytes)
      bytes += record.bytes.length
      if (bytes < PART_BYTES) continue
    }
    if (rows.length > 0) yield encodeRecord({ kind: 'rows', bytes: Buffer.concat(rows) })
    rows = []
    bytes = 0
    if (record.kind !== 'rows') yield encodeRecord(record)
  }
}

async function readDatabase(client: pg.ClientBase, { attestryVersion, secrets }: DumpOptions): Promise<Manifest> {
  const { rows } = await client.query<Omit<Manifest, 'kind' | 'format' | 'attestryVersion' | 'secrets'>>(
    `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "takenAt",
       current_setting('server_version') as "postgresVersion",
       (select jsonb_agg(jsonb_build_object('name', name, 'checksum', checksum) order by name) from schema_migrations) as migrations,
       (select version from pgboss.version) as "queueVersion",
       array(select distinct master_key_id from data_keys where status = 'active' order by 1) as "masterKeyIds",
       (select coalesce(jsonb_agg(jsonb_build_object('schema', nspname, 'parent', parent.relname, 'name', child.relname,
           'bound', pg_get_expr(child.relpartbound, child.oid)) order by child.relname), '[]')
         from pg_inherits join pg_class as child on child.oid = inhrelid join pg_class as parent on parent.oid = inhparent
           join pg_namespace on pg_namespace.oid = parent.relnamespace
         where child.relispartition and nspname in ('public', 'pgboss') and parent.relkind = 'p'
           and child.relkind = 'r') as partitions`,
  )
  return { kind: 'manifest', format: 1, attestryVersion, ...rows[0]!, ...(secrets ? { secrets } : {}) }
}

async function readSequences(client: pg.ClientBase): Promise<SequenceValue[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `select nspname as schema, relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind = 'S' and nspname in ('public', 'pgboss') order by 1, 2`,
  )
  const sequences: SequenceValue[] = []
  for (const sequence of rows) {
    const result = await client.query<{ value: string; isCalled: boolean }>(
      `select last_value::text as value, is_called as "isCalled" from ${tableName(sequence)}`,
    )
    sequences.push({ ...sequence, ...result.rows[0]! })
  }
  return sequences
}
