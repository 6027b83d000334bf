import type pg from 'pg'

/** Table that exists while a backup is restored. It is created before the schema, and dropped in the transaction that loads the rows. */
const MARKER_TABLE = 'public.restore_in_progress'

type Client = Pick<pg.Pool, 'query'>

export async function beginRestore(client: Client): Promise<void> {
  await client.query(`create table if not exists ${MARKER_TABLE} (started_at timestamptz not null default now())`)
}

export async function endRestore(client: Client): Promise<void> {
  await client.query(`drop table ${MARKER_TABLE}`)
}

export async function isRestoreUnfinished(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    MARKER_TABLE,
  ])
  return rows[0]!.exists
}

/** Throws if a backup is being restored, or if restoring one was interrupted. The database then has tables, but no rows. */
export async function requireFinishedRestore(client: Client): Promise<void> {
  if (await isRestoreUnfinished(client))
    throw new Error(
      'a backup is being restored into this database, or restoring it was interrupted; wait until it is finished, or run "attestry restore" again',
    )
}
