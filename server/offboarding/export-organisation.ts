import { sql } from 'kysely'
import { getOrganisation } from '../access/organisations.ts'
import { exportPerson } from '../people/export.ts'
import type { ErasureDeps } from '../people/identity/hooks.ts'
import { getPerson } from '../people/people.ts'
import type { Database, Tx } from '../platform/database/database.ts'

/** One line of the export: a row of a table, or all data that is stored about a person. */
export type ExportEntry = { table: string; row: Record<string, unknown> } | { person: object }

/** Tables that contain only secrets, or copies of other tables. */
const OMITTED_TABLES = [
  'partner_keys',
  'session_keys',
  'ats_keys',
  'channel_credentials',
  'credential_keys',
  'idempotency_records',
]

/** Columns with bytes that are neither encrypted nor hashes. They are exported in Base64. */
const EXPORTED_BYTES = ['branding.logo']

const ROWS_PER_FETCH = 500

/**
 * Writes all data that is stored about an organisation: the rows of its tables, without encrypted columns, and then each person, with the
 * values that the encrypted columns contain. The rows are read from one snapshot; people are read after it. Returns the number of entries.
 */
export async function exportOrganisation(
  db: Database,
  deps: ErasureDeps,
  orgId: string,
  write: (entry: ExportEntry) => Promise<void>,
): Promise<{ rows: number; people: number }> {
  await getOrganisation(db.queries, orgId)
  const counts = { rows: 0, people: 0 }
  await db.transaction(async (tx) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(tx)
    for (const table of await listTables(tx)) {
      for await (const row of readRows(tx, table, orgId)) {
        await write({ table: table.name, row })
        counts.rows++
      }
    }
  })
  let lastId = ''
  for (;;) {
    const { rows } = await sql<{ person_id: string; mode: 'test' | 'live' }>`
      select person_id, mode from people where org_id = ${orgId} and erased_at is null and person_id > ${lastId}
      order by person_id limit ${ROWS_PER_FETCH}`.execute(db.queries)
    for (const { person_id, mode } of rows) {
      await write({
        person: await exportPerson(db.queries, deps, await getPerson(db.queries, { orgId, mode }, person_id)),
      })
      counts.people++
    }
    if (rows.length < ROWS_PER_FETCH) return counts
    lastId = rows.at(-1)!.person_id
  }
}

interface ExportedTable {
  name: string
  /** Columns that contain no encrypted values or hashes. */
  columns: string[]
}

/** Lists the tables with a column `org_id`, in alphabetical order. */
async function listTables(tx: Tx): Promise<ExportedTable[]> {
  const { rows } = await sql<ExportedTable>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and (a.atttypid <> 'bytea'::regtype or c.relname || '.' || a.attname = any (${EXPORTED_BYTES}::text[])) and c.relname <> all (${OMITTED_TABLES}::text[])
      and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'org_id' and not o.attisdropped)
    group by c.relname order by c.relname`.execute(tx)
  return rows
}

async function* readRows(
  tx: Tx,
  { name, columns }: ExportedTable,
  orgId: string,
): AsyncGenerator<Record<string, unknown>> {
  const selected = sql.join(
    columns.map((column) =>
      EXPORTED_BYTES.includes(`${name}.${column}`)
        ? sql`encode(${sql.ref(column)}, 'base64') as ${sql.ref(column)}`
        : sql.ref(column),
    ),
  )
  await sql`declare exported no scroll cursor for select ${selected} from ${sql.table(name)} where org_id = ${sql.lit(orgId)}`.execute(
    tx,
  )
  for (;;) {
    const { rows } = await sql<Record<string, unknown>>`fetch ${sql.lit(ROWS_PER_FETCH)} from exported`.execute(tx)
    yield* rows
    if (rows.length < ROWS_PER_FETCH) break
  }
  await sql`close exported`.execute(tx)
}
