import { sql } from 'kysely'
import { openPersonal } from '../../people/identity/person-key.ts'
import type { Queries } from '../../platform/database/database.ts'
import { type ListedRow, notePurpose } from './candidate-list.ts'
import { recruiterResult } from './recruiter-result.ts'

/** Names of campaigns and jobs, by campaign ID. */
interface CampaignTitle {
  campaign_id: string
  campaign_name: string
  job_title: string
  company_name: string
}

export async function findCampaignTitles(queries: Queries, campaignIds: string[]): Promise<Map<string, CampaignTitle>> {
  const { rows } = await sql<CampaignTitle>`
    select g.campaign_id, coalesce(g.name, m.body::json ->> 'title') as campaign_name, m.body::json ->> 'title' as job_title,
      m.body::json ->> 'company_name' as company_name
    from campaigns g join mandates m using (mandate_id) where g.campaign_id = any (${campaignIds}::text[])`.execute(
    queries,
  )
  return new Map(rows.map((row) => [row.campaign_id, row]))
}

/** Returns the results of listed candidates, with the names of campaigns and jobs and the notes of recruiters. */
export async function candidateRecords(queries: Queries, rows: ListedRow[]) {
  const titles = await findCampaignTitles(queries, [...new Set(rows.map(({ candidacy }) => candidacy.campaign_id))])
  return rows.map(({ candidacy, decision, note, decided_by, decided_at, assigned_to }) => {
    const title = titles.get(candidacy.campaign_id)
    return {
      ...recruiterResult(candidacy),
      campaign_name: title?.campaign_name ?? '',
      job_title: title?.job_title ?? '',
      company_name: title?.company_name ?? '',
      decision,
      note: openPersonal<string>(candidacy.person_key, note, notePurpose(candidacy.candidate_id)) ?? null,
      decided_by,
      decided_at: decided_at?.toISOString() ?? null,
      assigned_to,
    }
  })
}

export type ListedCandidate = Awaited<ReturnType<typeof candidateRecords>>[number]

/** Returns the part of a candidate's record that lists show: without answers, which can be long, and without metadata. */
export function listedRecord({ candidate, output, flow_version: _, version: __, ...record }: ListedCandidate) {
  const { candidate_id, external_candidate_id, name, phone, email } = candidate
  const { enrichment: ___, ...shownOutput } = { enrichment: undefined, ...output }
  return { ...record, candidate: { candidate_id, external_candidate_id, name, phone, email }, output: shownOutput }
}
