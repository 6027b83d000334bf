import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { flowOf, type ResultReason, type ResultStatus } from '../campaigns/candidacy.ts'
import { joinConversation, openCandidate } from '../campaigns/personal-values.ts'
import { fromStoredState, type StoredState } from '../conversation/earlier-format.ts'
import type { ConversationState } from '../conversation/state.ts'
import type { Flow } from '../mandates/flow.ts'
import { openPersonKey } from '../people/identity/person-key.ts'
import type { Queries } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { knockoutOf, resultOutput } from '../results/record.ts'
import type { OverviewFigure } from './figures.ts'
import { type AnalyticsSubject, subjectColumn } from './rollups.ts'

/** A candidate who is counted in a number of the overview. */
export interface CountedCandidateRow {
  candidate_id: string
  campaign_id: string
  campaign_name: string | null
  mandate_id: string
  result_id: string
  name: string
  external_candidate_id: string
  status: ResultStatus
  reason: ResultReason | null
  /** State and flow of the conversation, from which the verdict is derived. */
  state: ConversationState
  flow: Flow
  /** How often the candidate is counted in the number. */
  times: number
  /** Day on which the candidate is counted. */
  day: string
}

type QueriedRow = Omit<CountedCandidateRow, 'state' | 'flow' | 'name'> & {
  conversation: string
  flow_version: number
  person_id: string
  sealed_key: Buffer | null
  personal: Buffer | null
  answers: Buffer | null
}

export type CountedCandidatePosition = Pick<CountedCandidateRow, 'campaign_id' | 'day' | 'candidate_id'>

/**
 * Lists the candidates behind one figure of the analytics overview: the newest campaign first, and within a campaign the latest
 * day first. In this order, each campaign is one index range, and reading stops when the page is full.
 */
export async function listCountedCandidates(
  tx: Queries,
  { orgId, mode }: OrgScope,
  { kind, id }: AnalyticsSubject,
  { counter, from, to }: OverviewFigure,
  { after, limit }: { after: CountedCandidatePosition | undefined; limit: number },
): Promise<CountedCandidateRow[]> {
  const subjectCondition = kind === 'all' ? sql`true` : sql`g.${sql.ref(subjectColumn[kind])} = ${id}`
  const campaignCondition = after ? sql`g.campaign_id <= ${after.campaign_id}` : sql`true`
  const candidateCondition = after
    ? sql`(a.day, a.candidate_id) < (case g.campaign_id when ${after.campaign_id} then ${after.day}::date else 'infinity' end, ${after.candidate_id})`
    : sql`true`
  const { rows } = await sql<QueriedRow>`
    select l.candidate_id, l.campaign_id, l.campaign_name, p.mandate_id, p.result_id, c.person_id, o.sealed_key, c.personal, c.external_candidate_id, p.status,
      p.reason, p.conversation, p.personal as answers, p.flow_version, l.amount as times, l.day::text
    from (
      select g.campaign_id, g.name as campaign_name, a.day, a.candidate_id, a.amount
      from campaigns g cross join lateral (
        select a.day, a.candidate_id, a.amount from analytics_candidates a
        where a.campaign_id = g.campaign_id and a.counter = ${counter} and a.day between ${from}::date and ${to}::date
          and a.amount > 0 and ${candidateCondition}
        order by a.day desc, a.candidate_id desc limit ${limit}
      ) a
      where g.org_id = ${orgId} and g.mode = ${mode} and ${subjectCondition} and ${campaignCondition}
      order by g.campaign_id desc, a.day desc, a.candidate_id desc limit ${limit}
    ) l join candidates c using (candidate_id) join candidate_progress p using (candidate_id)
      join people o on o.person_id = c.person_id
    order by l.campaign_id desc, l.day desc, l.candidate_id desc`.execute(tx)
  const countedRows: CountedCandidateRow[] = []
  const vault = vaultOf(tx)
  for (const { conversation, flow_version, person_id, sealed_key, personal, answers, ...row } of rows) {
    const flow = await flowOf(tx, { orgId, mode }, row.mandate_id, flow_version)
    const key = openPersonKey(vault, person_id, sealed_key)
    const { name } = openCandidate(key, row.candidate_id, personal)
    const storedState = fromStoredState(JSON.parse(conversation) as StoredState, flow)
    countedRows.push({ ...row, name, state: joinConversation(key, row.candidate_id, storedState, answers), flow })
  }
  return countedRows
}

/** Builds the API record of a counted candidate, with the outcome and its reason. */
export function toCountedCandidate({ campaign_name, day: _, state, flow, ...row }: CountedCandidateRow) {
  const { qualified, reasons, enrichment, skills, interest } = {
    ...resultOutput({ state, flow, channel: null, status: row.status }),
  }
  return {
    ...row,
    ...(campaign_name === null ? {} : { campaign_name }),
    qualified,
    reasons,
    knocked_out_by: enrichment ? knockoutOf({ state, flow }) : null,
    ...(skills
      ? {
          skills: skills.map(({ skill_id, name, verdict, correct, asked, confidence }) => ({
            skill_id,
            name,
            verdict,
            correct,
            asked,
            confidence,
          })),
        }
      : {}),
    ...(interest === undefined ? {} : { interest }),
  }
}
