import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { ResultReason, ResultStatus } from '../../campaigns/candidacy.ts'
import type { CandidateMessage } from '../../campaigns/contact/messages.ts'
import { openCandidate, openMessage } from '../../campaigns/personal-values.ts'
import type { ChannelName } from '../../channels/channel.ts'
import { blindIndexOf } from '../../people/identity/blind-index.ts'
import { openPersonKey } from '../../people/identity/person-key.ts'
import type { Queries } from '../../platform/database/database.ts'
import { vaultOf } from '../../platform/database/database-vault.ts'

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
  scope: OrgScope,
  { campaign_id, q, after, limit }: PhoneFilter,
): Promise<SimulatorPhoneRow[]> {
  const conditions = [sql`g.org_id = ${scope.orgId} and g.mode = ${scope.mode}`]
  if (campaign_id !== undefined) conditions.push(sql`g.campaign_id = ${campaign_id}`)
  if (after !== undefined) conditions.push(isAfter(after))
  if (q !== undefined)
    conditions.push(
      sql`c.candidate_id = any (${await findMatches(queries, scope, q, sql.join(conditions, sql` and `), limit)})`,
    )
  // The page is selected first, so that only its candidates are joined.
  const { rows } = await sql<StoredPhoneRow>`
    select c.candidate_id, c.campaign_id, c.campaign_name, c.external_candidate_id, c.person_id, o.sealed_key, c.personal, p.status,
      p.reason, p.result_id, p.mandate_id, p.flow_version, p.channel, p.conversation, p.updated_at, m.direction, m.channel as last_channel,
      m.message_id, m.message, m.created_at as last_at
    from (
      select c.candidate_id, c.campaign_id, g.name as campaign_name, c.external_candidate_id, c.person_id, c.personal
      from campaigns g join candidates c on c.campaign_id = g.campaign_id
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

/** Names are sealed, so they are compared in memory, in batches of this size, starting with the newest candidates. */
const SEARCH_BATCH_SIZE = 2000
/** Beyond this number of candidates, only external IDs, whole phone numbers and whole email addresses are found. */
const MAX_SEARCHED_CANDIDATES = 20_000

/** Returns the IDs of the first `limit` candidates that match the text, in the order of the list. */
async function findMatches(
  queries: Queries,
  scope: OrgScope,
  q: string,
  condition: ReturnType<typeof sql>,
  limit: number,
): Promise<string[]> {
  const blindIndex = blindIndexOf(queries)
  const { rows: exactMatches } = await sql<{ candidate_id: string }>`
    select c.candidate_id from campaigns g join candidates c on c.campaign_id = g.campaign_id
    where ${condition} and (strpos(lower(c.external_candidate_id), lower(${q})) > 0
      or c.phone_index = ${blindIndex.phone(scope, q)} or c.email_index = ${q.includes('@') ? blindIndex.email(scope, q) : null})
    order by g.campaign_id desc, c.candidate_id desc limit ${limit}`.execute(queries)
  const text = q.toLowerCase()
  const vault = vaultOf(queries)
  const matches: string[] = []
  let position: PhonePosition | undefined
  for (let searched = 0; searched < MAX_SEARCHED_CANDIDATES && matches.length < limit; searched += SEARCH_BATCH_SIZE) {
    const { rows } = await sql<{
      candidate_id: string
      campaign_id: string
      person_id: string
      sealed_key: Buffer | null
      personal: Buffer | null
    }>`
      select c.candidate_id, c.campaign_id, c.person_id, o.sealed_key, c.personal
      from campaigns g join candidates c on c.campaign_id = g.campaign_id join people o on o.person_id = c.person_id
      where ${condition} and ${position ? isAfter(position) : sql`true`}
      order by g.campaign_id desc, c.candidate_id desc limit ${SEARCH_BATCH_SIZE}`.execute(queries)
    for (const { candidate_id, person_id, sealed_key, personal } of rows) {
      const key = openPersonKey(vault, person_id, sealed_key)
      if (key === null) continue
      const { name, phone, email } = openCandidate(key, candidate_id, personal)
      if ([name, phone, email].some((value) => value?.toLowerCase().includes(text))) matches.push(candidate_id)
    }
    const last = rows.at(-1)
    if (!last || rows.length < SEARCH_BATCH_SIZE) break
    position = { campaign: last.campaign_id, candidate: last.candidate_id }
  }
  return [...exactMatches.map(({ candidate_id }) => candidate_id), ...matches]
}

export async function findNextContactTime(queries: Queries, candidateId: string): Promise<Date | undefined> {
  const { rows } = await sql<{ due_at: Date | null }>`
    select due_at from contacts where candidate_id = ${candidateId} and kind = 'contact' and not held`.execute(queries)
  return rows[0]?.due_at ?? undefined
}
