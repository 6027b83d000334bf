import { sql } from 'kysely'
import type { ErasureDeps, ExportSection, PersonRef } from '../people/identity/hooks.ts'
import type { Queries, Tx } from '../platform/database/database.ts'

/** Deletes the links to the reports of a person who is erased; they stop working at once. */
export async function deleteReportLinksOf(tx: Tx, _deps: ErasureDeps, { personId }: PersonRef): Promise<void> {
  // Lock the person first, as `createReportLink` does, so that no link is created at the same time.
  await sql`select 1 from people where person_id = ${personId} for update`.execute(tx)
  await sql`delete from report_links where candidate_id in (
    select candidate_id from candidates where person_id = ${personId})`.execute(tx)
}

/** Returns the links with which reports about a person were shared. */
export async function exportReportLinks(
  queries: Queries,
  _deps: ErasureDeps,
  { personId }: PersonRef,
): Promise<ExportSection[]> {
  const { rows } = await sql<{
    link_id: string
    candidate_id: string
    created_at: Date
    expires_at: Date
    revoked_at: Date | null
    times_opened: number
    last_opened_at: Date | null
  }>`
    select link_id, l.candidate_id, created_at, expires_at, revoked_at, times_opened, last_opened_at
    from report_links l join candidates c using (candidate_id) where c.person_id = ${personId} order by link_id`.execute(
    queries,
  )
  const records = rows.map(({ created_at, expires_at, revoked_at, last_opened_at, ...row }) => ({
    ...row,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    revoked_at: revoked_at?.toISOString() ?? null,
    last_opened_at: last_opened_at?.toISOString() ?? null,
  }))
  return [{ name: 'report_links', title: 'Links to shared reports', records }]
}
