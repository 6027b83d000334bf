import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { ResultReason, ResultStatus } from '../../campaigns/candidacy.ts'
import type { CandidateMessage } from '../../campaigns/contact/messages.ts'
import { openCandidate, openMessage } from '../../campaigns/personal-values.ts'
import type { ChannelName } from '../../channels/channel.ts'
import type { Context } from '../../context.ts'
import { openPersonKey } from '../../people/identity/person-key.ts'
import type { Queries } from '../../platform/database/database.ts'
import { vaultOf } from '../../platform/database/database-vault.ts'
import { isFrequent, MAX_SORTED_MATCHES, parseSearch } from '../candidates/candidate-search.ts'

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
  content: CandidateMessage['content'] | null
  last_at: Date | null
}

type StoredPhoneRow = Omit<SimulatorPhoneRow, 'name' | 'phone' | 'email' | 'content'> & {
  person_id: string
  sealed_key: Buffer | null
  personal: Buffer | null
  message_id: string | null
  message: Buffer | null
}

export interface PhoneFilter {
  campaign_id?: string | undefined
  /** The beginning of names, the end of a phone number, or a whole external ID or email address. */
  q?: string | undefined
  after?: PhonePosition | undefined
  limit: number
}

export interface PhonePosition {
  campaign: string
  candidate: string
}

/** Returns simulator phones, newest campaign first, then newest candidate. With `q`, call `refreshCandidateList` first. */
export async function listSimulatorPhones(
  queries: Queries,
  deps: Pick<Context, 'mailboxes'>,
  scope: OrgScope,
  { campaign_id, q, after, limit }: PhoneFilter,
): Promise<SimulatorPhoneRow[]> {
  const conditions = [sql`g.org_id = ${scope.orgId} and g.mode = ${scope.mode}`]
  if (campaign_id !== undefined) conditions.push(sql`g.campaign_id = ${campaign_id}`)
  if (after !== undefined) conditions.push(isAfter(after))
  const search = parseSearch(deps, scope, q, { values: campaign_id === undefined ? [] : [campaign_id] })
  const isFrequentSearch = search !== undefined && (await isFrequent(queries, search))
  if (search)
    conditions.push(
      isFrequentSearch
        ? search.hasTokens
        : sql`c.candidate_id in (select candidate_id from (${search.matches(MAX_SORTED_MATCHES)}) as matches)`,
    )
  // The page is selected first, so that only its candidates are joined.
  const { rows } = await sql<StoredPhoneRow>`
    select c.candidate_id, c.campaign_id, c.campaign_name, c.external_candidate_id, c.person_id, o.sealed_key, c.personal, p.status,
      p.reason, p.result_id, p.mandate_id, p.flow_version, p.channel, p.conversation, p.updated_at, m.direction, m.channel as last_channel,
      m.message_id, m.message, m.created_at as last_at
    from (
      select c.candidate_id, c.campaign_id, g.name as campaign_name, c.external_candidate_id, c.person_id, c.personal
      from campaigns g join candidates c on c.campaign_id = g.campaign_id
        ${isFrequentSearch ? sql`join candidate_list l on l.candidate_id = c.candidate_id` : sql``}
      where ${sql.join(conditions, sql` and `)}
      order by g.campaign_id desc, c.candidate_id desc limit ${limit}
    ) c
    join candidate_progress p on p.candidate_id = c.candidate_id
    join people o on o.person_id = c.person_id
    left join lateral (
      select message_id, direction, channel, personal as message, created_at from messages
      where candidate_id = c.candidate_id and state <> 'dropped' order by message_id desc limit 1
    ) m on true
    order by c.campaign_id desc, c.candidate_id desc`.execute(queries)
  const vault = vaultOf(queries)
  return rows.map(({ person_id, sealed_key, personal, message_id, message, ...row }) => {
    const key = openPersonKey(vault, person_id, sealed_key)
    const { name, phone, email } = openCandidate(key, row.candidate_id, personal)
    const { direction } = row
    const content =
      direction === null
        ? null
        : openMessage<CandidateMessage['content']>(key, { message_id: message_id!, direction, personal: message })
    return { ...row, name, phone, email, content }
  })
}

function isAfter({ campaign, candidate }: PhonePosition) {
  return sql`(c.campaign_id, c.candidate_id) < (${campaign}, ${candidate}) and g.campaign_id <= ${campaign}`
}

export async function findNextContactTime(queries: Queries, candidateId: string): Promise<Date | undefined> {
  const { rows } = await sql<{ due_at: Date | null }>`
    select due_at from contacts where candidate_id = ${candidateId} and kind = 'contact' and not held`.execute(queries)
  return rows[0]?.due_at ?? undefined
}
