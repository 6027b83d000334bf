import type pg from 'pg'
import { TABLES_WITHOUT_POLICY } from '../../server/platform/database/row-access.ts'

/** The column that decides on which machine of Citus a row is stored. */
export const DISTRIBUTION_COLUMN = 'org_id'

/**
 * Tables without rows of organisations that are joined with rows of organisations, or that these refer to. Citus copies them to every
 * machine. The other tables without rows of organisations stay on the coordinator.
 */
const REFERENCE_TABLES = new Set([
  'bank_items',
  'data_keys',
  'item_sets',
  'master_skills',
  'processes',
  'service_switch',
  'skills',
  'sub_skills',
])

type TableKind = 'distributed' | 'reference' | 'local'

export interface Table {
  name: string
  kind: TableKind
  hasColumn: boolean
}

/** Lists the tables of the product. Partitions count as their parent. */
export async function listTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<{ name: string; has_column: boolean }>(
    `select relname as name, exists (
       select from pg_attribute
       where attrelid = pg_class.oid and attname = $1 and attnotnull and not attisdropped) as has_column
     from pg_class
     where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
     order by relname`,
    [DISTRIBUTION_COLUMN],
  )
  return rows.map(({ name, has_column: hasColumn }) => ({ name, kind: kindOf(name), hasColumn }))
}

function kindOf(table: string): TableKind {
  if (REFERENCE_TABLES.has(table)) return 'reference'
  return table in TABLES_WITHOUT_POLICY ? 'local' : 'distributed'
}

interface UniqueIndex {
  table: string
  name: string
  has_column: boolean
}

interface ForeignKey {
  table: string
  name: string
  parent: string
  has_column: boolean
}

/**
 * Finds what Citus would not accept, one line each:
 * - `column TABLE`: rows of organisations without the distribution column, or with a column that may be null
 * - `unique INDEX of TABLE`: a primary key or unique index that does not contain the column
 * - `foreign key NAME of TABLE`: one that does not compare the columns of both tables, or that refers to a table of another kind
 * - `trigger NAME of TABLE`: triggers of distributed tables are not supported
 */
export async function findSchemaViolations(client: pg.ClientBase): Promise<string[]> {
  const tables = await listTables(client)
  const kinds = new Map(tables.map(({ name, kind }) => [name, kind]))
  const isDistributed = (table: string) => kinds.get(table) === 'distributed'
  const uniqueIndexes = await listUniqueIndexes(client)
  const foreignKeys = await listForeignKeys(client)
  const triggers = await listTriggers(client)
  return [
    ...tables.filter((table) => table.kind === 'distributed' && !table.hasColumn).map(({ name }) => `column ${name}`),
    ...uniqueIndexes
      .filter(({ table, has_column }) => isDistributed(table) && !has_column)
      .map(({ table, name }) => `unique ${name} of ${table}`),
    ...foreignKeys
      .filter(
        ({ table, parent, has_column }) => !isForeignKeySupported(kinds.get(table)!, kinds.get(parent)!, has_column),
      )
      .map(({ table, name }) => `foreign key ${name} of ${table}`),
    ...triggers.filter(({ table }) => isDistributed(table)).map(({ table, name }) => `trigger ${name} of ${table}`),
  ]
}

function isForeignKeySupported(child: TableKind, parent: TableKind, hasColumn: boolean): boolean {
  if (child === 'distributed') return parent === 'reference' || (parent === 'distributed' && hasColumn)
  return parent !== 'distributed'
}

async function listUniqueIndexes(client: pg.ClientBase): Promise<UniqueIndex[]> {
  const { rows } = await client.query<UniqueIndex>(
    `select tables.relname as table, indexes.relname as name, exists (
       select from pg_attribute
       where attrelid = indrelid and attnum = any (indkey) and attname = $1) as has_column
     from pg_index
       join pg_class as tables on tables.oid = indrelid
       join pg_class as indexes on indexes.oid = indexrelid
     where indisunique and tables.relnamespace = 'public'::regnamespace and not tables.relispartition
       and tables.relkind in ('r', 'p')
     order by 1, 2`,
    [DISTRIBUTION_COLUMN],
  )
  return rows
}

async function listForeignKeys(client: pg.ClientBase): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select children.relname as table, conname as name, parents.relname as parent, exists (
       select from unnest(conkey, confkey) as pair (child, parent)
         join pg_attribute as a on a.attrelid = conrelid and a.attnum = pair.child
         join pg_attribute as b on b.attrelid = confrelid and b.attnum = pair.parent
       where a.attname = $1 and b.attname = $1) as has_column
     from pg_constraint
       join pg_class as children on children.oid = conrelid
       join pg_class as parents on parents.oid = confrelid
     where contype = 'f' and connamespace = 'public'::regnamespace and not children.relispartition
       and not parents.relispartition
     order by 1, 2`,
    [DISTRIBUTION_COLUMN],
  )
  return rows
}

async function listTriggers(client: pg.ClientBase): Promise<{ table: string; name: string }[]> {
  const { rows } = await client.query<{ table: string; name: string }>(
    `select relname as table, tgname as name from pg_trigger join pg_class on pg_class.oid = tgrelid
     where not tgisinternal and relnamespace = 'public'::regnamespace and not relispartition
     order by 1, 2`,
  )
  return rows
}
