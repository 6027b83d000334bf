import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { ResultReason, ResultStatus } from '../../campaigns/candidacy.ts'
import type { CandidateMessage } from '../../campaigns/contact/messages.ts'
import type { ChannelName } from '../../channels/channel.ts'
import type { Queries } from '../../platform/database/database.ts'

/** A candidate's simulator phone with its last message. */
export interface SimulatorPhoneRow {
  candidate_id: string
  campaign_id: string
  campaign_name: string | null
  external_candidate_id: string
  name: string
  phone: string | null
  email: string | null
  status: ResultStatus
  reason: ResultReason | null
  result_id: string
  mandate_id: string
  flow_version: number
  channel: ChannelName | null
  conversation: string
  updated_at: Date
  direction: 'in' | 'out' | null
  last_channel: CandidateMessage['channel'] | null
  content: string | null
  last_at: Date | null
}

export interface PhoneFilter {
  campaign_id?: string | undefined
  /** Substring of the candidate's name, phone number, email address or external ID. */
  q?: string | undefined
  after?: PhonePosition | undefined
  limit: number
}

export interface PhonePosition {
  campaign: string
  candidate: string
}

/** Returns simulator phones, newest campaign first, then newest candidate. */
export async function listSimulatorPhones(
  queries: Queries,
  { orgId, mode }: OrgScope,
  { campaign_id, q, after, limit }: PhoneFilter,
): Promise<SimulatorPhoneRow[]> {
  const conditions = [sql`g.org_id = ${orgId} and g.mode = ${mode}`]
  if (campaign_id !== undefined) conditions.push(sql`g.campaign_id = ${campaign_id}`)
  if (after !== undefined)
    conditions.push(sql`(g.campaign_id, c.candidate_id) < (${after.campaign}, ${after.candidate})
      and g.campaign_id <= ${after.campaign}`)
  // Matches are found in one scan (`offset 0` is an optimisation fence): reading campaigns in order would look up every row.
  const candidates =
    q === undefined
      ? sql`candidates`
      : sql`(
          select * from candidates where org_id = ${orgId} and mode = ${mode}
            and strpos(lower(concat_ws(' ', name, phone, email, external_candidate_id)), lower(${q})) > 0 offset 0
        )`
  // The page is selected first, so that only its candidates are joined.
  const { rows } = await sql<SimulatorPhoneRow>`
    select c.candidate_id, c.campaign_id, c.campaign_name, c.external_candidate_id, c.name, c.phone, c.email, p.status,
      p.reason, p.result_id, p.mandate_id, p.flow_version, p.channel, p.conversation, p.updated_at, m.direction, m.channel as last_channel, m.content,
      m.created_at as last_at
    from (
      select c.candidate_id, c.campaign_id, g.name as campaign_name, c.external_candidate_id, c.name, c.phone, c.email
      from campaigns g join ${candidates} c on c.campaign_id = g.campaign_id
      where ${sql.join(conditions, sql` and `)}
      order by g.campaign_id desc, c.candidate_id desc limit ${limit}
    ) c
    join candidate_progress p on p.candidate_id = c.candidate_id
    left join lateral (
      select direction, channel, content, created_at from messages where candidate_id = c.candidate_id and state <> 'dropped'
      order by message_id desc limit 1
    ) m on true
    order by c.campaign_id desc, c.candidate_id desc`.execute(queries)
  return rows
}

export async function findNextContactTime(queries: Queries, candidateId: string): Promise<Date | undefined> {
  const { rows } = await sql<{ due_at: Date | null }>`
    select due_at from contacts where candidate_id = ${candidateId} and kind = 'contact' and not held`.execute(queries)
  return rows[0]?.due_at ?? undefined
}
