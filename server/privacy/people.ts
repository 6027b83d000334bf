import { sql } from 'kysely'
import type { ErasureDeps, ExportSection, PersonRef } from '../people/identity/hooks.ts'
import type { Queries } from '../platform/database/database.ts'

/** Returns the consents of a person, and the requests that they made on the page `/your-data`. */
export async function exportConsents(
  queries: Queries,
  _deps: ErasureDeps,
  { personId }: PersonRef,
): Promise<ExportSection[]> {
  const { rows: consents } = await sql<Record<string, unknown>>`
    select subject_kind as page, subject_id as record, notice_version, language, given_at, withdrawn_at from consents
    where person_id = ${personId} order by given_at`.execute(queries)
  const { rows: requests } = await sql<Record<string, unknown>>`
    select request_id, action, channel, created_at, confirmed_at from privacy_requests
    where person_id = ${personId} order by request_id`.execute(queries)
  return [
    { name: 'consents', title: 'Consents', records: consents },
    { name: 'privacy_requests', title: 'Requests about personal data', records: requests },
  ]
}
