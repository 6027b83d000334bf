import pg from 'pg'

/** A row of a table, as text. */
export interface DumpedRow {
  table: string
  text: string
}

/** Returns every row of every table, as `COPY` writes it. */
export async function dumpTables(ownerUrl: string): Promise<DumpedRow[]> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind in ('r', 'p') and not relispartition and nspname in ('public', 'pgboss') order by 1`,
    )
    const dump: DumpedRow[] = []
    for (const { name: table } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from ${table} t`)
      dump.push(...rows.map(({ text }) => ({ table, text })))
    }
    return dump
  } finally {
    await client.end()
  }
}
