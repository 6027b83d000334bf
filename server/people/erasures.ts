import { sql } from 'kysely'
import type pg from 'pg'
import type { Queries } from '../platform/database/database.ts'

/** An erasure as it is copied to the backup storage. It contains no personal values. */
export interface Erasure {
  person_id: string
  org_id: string
  mode: 'test' | 'live'
  basis: string
  requested_by: string
  /** IDs of the candidates, sessions and reviews. They find the person in a backup in which people have different IDs. */
  records: { candidates: string[]; sessions: string[]; reviews: string[] }
  erased_at: string
}

type ErasureRow = Omit<Erasure, 'erased_at'> & { erased_at: Date }

const columns = sql`person_id, org_id, mode, basis, requested_by, records, erased_at`
/** Maximum number of erasures in one list, which limits its size to a few megabytes. */
const MAX_NOT_COPIED = 10_000

/** Returns the erasures since a time, oldest first. */
export async function listErasures(queries: Queries, since: Date = new Date(0)): Promise<Erasure[]> {
  const { rows } = await sql<ErasureRow>`
    select ${columns} from erasures where erased_at >= ${since} order by erased_at, person_id`.execute(queries)
  return rows.map(erasureRecord)
}

/** Returns the oldest erasures that have not been copied to the backup storage yet. */
export async function listErasuresToCopy(queries: Queries): Promise<Erasure[]> {
  const { rows } = await sql<ErasureRow>`
    select ${columns} from erasures where copied_at is null order by erased_at limit ${MAX_NOT_COPIED}`.execute(queries)
  return rows.map(erasureRecord)
}

export async function markErasuresCopied(queries: Queries, personIds: string[], now: Date): Promise<void> {
  await sql`update erasures set copied_at = ${now} where person_id = any (${personIds})`.execute(queries)
}

function erasureRecord({ erased_at, ...row }: ErasureRow): Erasure {
  return { ...row, erased_at: erased_at.toISOString() }
}

/** Creates the table of erasures to repeat, in a database restored from a backup that does not have this table. */
export async function createRestoredErasures(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  await client.query(
    'create table if not exists restored_erasures (person_id text primary key, erasure jsonb not null)',
  )
}

/** Stores erasures that must be repeated before the database is used. */
export async function queueRestoredErasures(
  client: Pick<pg.ClientBase, 'query'>,
  erasures: readonly Erasure[],
): Promise<void> {
  await client.query(
    `insert into restored_erasures (person_id, erasure)
     select value ->> 'person_id', value from jsonb_array_elements($1::jsonb) on conflict do nothing`,
    [JSON.stringify(erasures)],
  )
}
