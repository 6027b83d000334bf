import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Tx } from '../platform/database/database.ts'

interface Selection {
  candidateId: string
  /** Undefined for any campaign. */
  campaignId?: string
  /** The message if there is no such candidate. */
  notFound: string
}

/**
 * Returns the person of a candidate whose page is shown on another website, and locks the person, so that an erasure waits. Throws if the
 * person was erased, or if the processing of the data is restricted.
 */
export async function lockCandidateToShow(
  tx: Tx,
  { orgId, mode }: OrgScope,
  { candidateId, campaignId, notFound }: Selection,
): Promise<string> {
  const { rows } = await sql<{ person_id: string; erased: boolean; restricted: boolean }>`
    select o.person_id, o.erased_at is not null as erased, o.restricted_at is not null as restricted
    from candidates c join people o using (person_id)
    where c.candidate_id = ${candidateId} and c.org_id = ${orgId} and c.mode = ${mode}
      and (${campaignId ?? null}::text is null or c.campaign_id = ${campaignId ?? null}) for update of o`.execute(tx)
  const person = rows[0]
  if (!person) throw problem('NOT_FOUND', notFound)
  if (person.erased) throw problem('CONFLICT', 'The person was erased; there is no page to show.')
  if (person.restricted)
    throw problem('CONFLICT', 'The processing of this person’s data is restricted; the page cannot be shown.')
  return person.person_id
}
