import { sql } from 'kysely'
import type { OwnerScope } from '../../access/caller.ts'
import type { Reason, ResultStatus } from '../../campaigns/candidacy.ts'
import type { ChannelName } from '../../channels/channel.ts'
import type { Queries } from '../../platform/database/database.ts'

/** A candidate's phone in the simulator's list of all of them. */
export interface Handset {
  candidate_id: string
  campaign_id: string
  campaign_name: string | null
  external_candidate_id: string
  name: string
  phone: string | null
  email: string | null
  status: ResultStatus
  reason: Reason | null
  result_id: string
  channel: ChannelName | null
  conversation: string
  updated_at: Date
  direction: 'in' | 'out' | null
  last_channel: string | null
  content: string | null
  last_at: Date | null
}

export interface HandsetFilter {
  campaign_id?: string | undefined
  /** Found in the name, the phone number, the mail address or the partner's id. */
  q?: string | undefined
  after?: HandsetPosition | undefined
  limit: number
}

export interface HandsetPosition {
  campaign: string
  candidate: string
}

/** The newest campaign first, in it the newest candidate; each with what was said last. */
export async function listHandsets(
  queries: Queries,
  { orgId, mode }: OwnerScope,
  { campaign_id, q, after, limit }: HandsetFilter,
): Promise<Handset[]> {
  const conditions = [sql`g.org_id = ${orgId} and g.mode = ${mode}`]
  if (campaign_id !== undefined) conditions.push(sql`g.campaign_id = ${campaign_id}`)
  if (after !== undefined)
    conditions.push(sql`(g.campaign_id, c.candidate_id) < (${after.campaign}, ${after.candidate})
      and g.campaign_id <= ${after.campaign}`)
  // All that fit the words are found in one go: going through the campaigns in their order would visit every row by itself.
  const candidates =
    q === undefined
      ? sql`candidates`
      : sql`(
          select * from candidates where org_id = ${orgId} and mode = ${mode}
            and strpos(lower(concat_ws(' ', name, phone, email, external_candidate_id)), lower(${q})) > 0 offset 0
        )`
  // The page first: only its candidates are looked up elsewhere.
  const { rows } = await sql<Handset>`
    select c.candidate_id, c.campaign_id, c.campaign_name, c.external_candidate_id, c.name, c.phone, c.email, p.status,
      p.reason, p.result_id, p.channel, p.conversation, p.updated_at, m.direction, m.channel as last_channel, m.content,
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

/** When the candidate is contacted next, as far as that is known. */
export async function nextContactOf(queries: Queries, candidateId: string): Promise<Date | undefined> {
  const { rows } = await sql<{ due_at: Date | null }>`
    select due_at from contacts where candidate_id = ${candidateId} and kind = 'contact' and not held`.execute(queries)
  return rows[0]?.due_at ?? undefined
}
