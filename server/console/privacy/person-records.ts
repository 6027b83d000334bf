import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { OrgScope } from '../../access/caller.ts'
import type { ResultStatus } from '../../campaigns/candidacy.ts'
import { findRecordIds, getPerson, refOf } from '../../people/people.ts'
import type { Queries } from '../../platform/database/database.ts'
import { listSessions } from '../../verification/listing.ts'
import { findCampaignTitles } from '../candidates/records.ts'
import type { PersonRecordsRecord } from './schema.ts'

/** Returns the candidacies and verifications of a person, without personal values: they remain after the erasure. */
export async function findPersonRecords(
  queries: Queries,
  scope: OrgScope,
  personId: string,
  now: number,
): Promise<Static<typeof PersonRecordsRecord>> {
  const person = await getPerson(queries, scope, personId)
  const { candidates = [], students = [], reviews = [] } = await findRecordIds(queries, refOf(person))
  const titles = await findCampaignTitles(queries, [...new Set(candidates.map(({ campaign_id }) => campaign_id))])
  const { rows: states } = await sql<{ candidate_id: string; status: ResultStatus; created_at: Date }>`
    select candidate_id, status, created_at from candidate_progress
    where candidate_id = any (${candidates.map(({ candidate_id }) => candidate_id)}::text[])`.execute(queries)
  const stateOf = new Map(states.map((row) => [row.candidate_id, row]))
  const roles = [
    ...students.flatMap(({ external_student_id, verification_ids }) =>
      verification_ids.map((id) => ({ id, role: 'student' as const, external_student_id })),
    ),
    ...reviews.map(({ verification_id }) => ({
      id: verification_id,
      role: 'reviewer' as const,
      external_student_id: null,
    })),
  ]
  const verifications: Static<typeof PersonRecordsRecord>['verifications'] = []
  for (const { id, role, external_student_id } of roles) {
    const [session] = await listSessions(queries, scope, now, { id, limit: 1 })
    if (!session) continue
    const { status, method, skills, created_at } = session
    verifications.push({
      verification_id: id,
      role,
      external_student_id,
      status,
      method,
      skills,
      created_at: created_at.toISOString(),
    })
  }
  return {
    candidacies: candidates.map(({ candidate_id, external_candidate_id, campaign_id }) => {
      const title = titles.get(campaign_id)
      const state = stateOf.get(candidate_id)
      return {
        candidate_id,
        external_candidate_id,
        campaign_id,
        campaign_name: title?.campaign_name ?? '',
        job_title: title?.job_title ?? '',
        company_name: title?.company_name ?? '',
        status: state?.status ?? null,
        enrolled_at: state?.created_at.toISOString() ?? null,
      }
    }),
    verifications,
  }
}
