import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { endSessionsOfTarget } from '../embeds/embed-sessions.ts'
import type { Tx } from '../platform/database/database.ts'
import { randomToken } from '../platform/ids.ts'
import { hashToken } from '../platform/token-hash.ts'
import { tokenPurpose } from './enrolment.ts'

/**
 * Revokes the link of a candidate, for example because another person has it. The candidate gets a new link with the next message. The
 * old link then shows that it does not work. Embedded pages of the candidate end, too.
 */
export async function revokeCandidateLink(
  tx: Tx,
  { vault, clock }: Pick<Context, 'vault' | 'clock'>,
  { orgId, mode }: OrgScope,
  campaignId: string,
  candidateId: string,
): Promise<void> {
  const token = randomToken(32)
  const { rows } = await sql`
    update candidates set token_hash = ${hashToken(token)}, token = ${vault.seal(token, tokenPurpose(candidateId))}
    where candidate_id = ${candidateId} and campaign_id = ${campaignId} and org_id = ${orgId} and mode = ${mode} returning 1`.execute(
    tx,
  )
  if (rows.length === 0) throw problem('NOT_FOUND', `Candidate ${candidateId} not found in campaign ${campaignId}.`)
  await endSessionsOfTarget(tx, clock, 'candidate', candidateId)
}
