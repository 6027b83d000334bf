import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { TableDigest, TableHeader } from './archive.ts'
import { RowDigest } from './table-digest.ts'

/** Tables whose rows describe the database or its processes and not the data. A restored database has its own. */
const EXCLUDED_TABLES = ['public.schema_migrations', 'public.restore_in_progress', 'public.processes', 'pgboss.version']

/** Settings that make the text of values the same in every database. */
export const TEXT_SETTINGS = [
  `set local timezone = 'UTC'`,
  `set local datestyle = 'ISO, YMD'`,
  `set local intervalstyle = 'postgres'`,
  `set local bytea_output = 'hex'`,
  'set local extra_float_digits = 1',
  'set local statement_timeout = 0',
  'set local lock_timeout = 0',
]

/** Lists the tables whose rows are copied, with the columns that are stored. Rows of partitions are copied through their parent. */
export async function listTables(client: pg.ClientBase): Promise<TableHeader[]> {
  const { rows } = await client.query<TableHeader>(
    `select 'table' as kind, nspname as schema, relname as name, array(
       select attname::text from pg_attribute
       where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p') and not relispartition and nspname in ('public', 'pgboss')
       and nspname || '.' || relname <> all ($1) and relname !~ '^(events|webhook_deliveries)_[0-9]{8}$'
     order by 2, 3`,
    [EXCLUDED_TABLES],
  )
  return rows
}

export function tableName({ schema, name }: { schema: string; name: string }): string {
  return `${quoteName(schema)}.${quoteName(name)}`
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Returns the rows of a table as text. */
export function copyRows(client: pg.ClientBase, table: TableHeader): AsyncIterable<Buffer> {
  const columns = table.columns.map((column) => quoteName(column)).join(', ')
  return client.query(copyTo(`copy (select ${columns} from ${tableName(table)}) to stdout`))
}

/** Counts and hashes the rows of a table. */
export async function digestTable(client: pg.ClientBase, table: TableHeader): Promise<TableDigest> {
  const digest = new RowDigest()
  for await (const bytes of copyRows(client, table)) digest.update(bytes)
  return digest.result()
}
