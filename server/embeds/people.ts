import { sql } from 'kysely'
import type { ErasureDeps, ExportSection, PersonRef } from '../people/identity/hooks.ts'
import type { Queries, Tx } from '../platform/database/database.ts'

/** Ends the embedded pages of a person who is erased. */
export async function endEmbedSessionsOf(tx: Tx, { clock }: ErasureDeps, { personId }: PersonRef): Promise<void> {
  // Lock the person first, as the routes that create sessions do, so that none is created at the same time.
  await sql`select 1 from people where person_id = ${personId} for update`.execute(tx)
  await sql`update embed_sessions set ended_at = ${new Date(clock.now())}, ended_reason = 'erased'
    where person_id = ${personId} and ended_reason is distinct from 'erased'`.execute(tx)
}

/** Returns the sessions with which pages of a person were shown on other websites. */
export async function exportEmbedSessions(
  queries: Queries,
  _deps: ErasureDeps,
  { personId }: PersonRef,
): Promise<ExportSection[]> {
  const { rows } = await sql<{
    embed_id: string
    view: string
    origin: string
    created_at: Date
    opened_at: Date | null
  }>`
    select embed_id, view, origin, created_at, opened_at from embed_sessions
    where person_id = ${personId} order by embed_id`.execute(queries)
  const records = rows.map(({ created_at, opened_at, ...row }) => ({
    ...row,
    created_at: created_at.toISOString(),
    opened_at: opened_at?.toISOString() ?? null,
  }))
  return [{ name: 'embed_sessions', title: 'Pages shown on other websites', records }]
}
