import { sql } from 'kysely'
import { type ErasureDeps, type ExportSection, type PersonRef, recordIdsRequested } from '../people/identity/hooks.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { type CredentialRow, credentialColumns, credentialRecord } from './credentials.ts'
import { eraseHolders } from './revocation.ts'

/** Returns the condition that a consent or a credential belongs to a candidacy or a session of the person. */
async function belongsTo(queries: Queries, person: PersonRef) {
  const { campaigns, verification } = await recordIdsRequested.run(queries, person)
  const candidateIds = (campaigns.candidates ?? []).map(({ candidate_id }) => candidate_id)
  const sessionIds = (verification.students ?? []).flatMap(({ verification_ids }) => verification_ids)
  return sql`(source_kind = 'candidate' and source_id = any (${candidateIds}::text[])
    or source_kind = 'session' and source_id = any (${sessionIds}::text[]))`
}

/** Revokes the credentials of a person who is erased, and deletes their content, their links and their profile. */
export async function revokeCredentialsOfPerson(tx: Tx, deps: ErasureDeps, person: PersonRef): Promise<void> {
  const isOwn = await belongsTo(tx, person)
  const { rows } = await sql<{ holder_id: string }>`
    select holder_id from credential_holders where holder_id in (
      select holder_id from credential_consents where ${isOwn} union select holder_id from credentials where ${isOwn})
    order by holder_id for no key update`.execute(tx)
  if (rows.length > 0)
    await eraseHolders(
      tx,
      deps,
      rows.map(({ holder_id }) => holder_id),
    )
}

/** Returns the credentials of a person. */
export async function exportCredentials(
  queries: Queries,
  { clock }: ErasureDeps,
  person: PersonRef,
): Promise<ExportSection[]> {
  const { rows } = await sql<CredentialRow>`
    select ${credentialColumns} from credentials where ${await belongsTo(queries, person)} order by credential_id`.execute(
    queries,
  )
  const records = rows.map((row) => ({ ...credentialRecord(row, clock.now()), shows_name: row.shows_name }))
  return [{ name: 'credentials', title: 'Credentials', records }]
}
