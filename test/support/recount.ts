import { sql } from 'kysely'
import type { OrgScope } from '../../server/access/caller.ts'
import { selectCandidacies } from '../../server/campaigns/candidacy.ts'
import { stagesIn } from '../../server/campaigns/stages.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { indianDate } from '../../server/platform/india-time.ts'
import { resultRecord } from '../../server/results/record.ts'

export interface RecountFilter {
  from: string
  to: string
  workflow_id?: string
  mandate_id?: string
  campaign_id?: string
}

interface RecordedMessage {
  candidate_id: string
  direction: 'in' | 'out'
  channel: string
  state: string
  contact_step: number | null
  /** The provider accepted it, even if the delivery failed later. */
  accepted: boolean
}

/** Computes the counts of an analytics overview from the results and messages themselves, as a reference for tests. */
export async function recountOverview(db: Database, scope: OrgScope, filter: RecountFilter) {
  const all = await selectCandidacies(db.queries, sql`p.org_id = ${scope.orgId} and p.mode = ${scope.mode}`, sql``)
  const { rows: messages } = await sql<RecordedMessage>`
    select candidate_id, direction, channel, state, contact_step,
      state in ('sent', 'delivered', 'read') or (state = 'failed' and provider_id is not null) as accepted from messages
    where org_id = ${scope.orgId} and mode = ${scope.mode} order by message_id`.execute(db.queries)
  const messagesByCandidate = Map.groupBy(messages, ({ candidate_id }) => candidate_id)
  const candidacies = all.filter((one) =>
    (['workflow_id', 'mandate_id', 'campaign_id'] as const).every(
      (name) => filter[name] === undefined || one[name] === filter[name],
    ),
  )
  const within = (time: Date | null) => time !== null && isWithin(indianDate(time.getTime()), filter)
  const counts: Record<string, number> = {}
  const add = (name: string, amount: boolean | number = true) => {
    if (amount) counts[name] = (counts[name] ?? 0) + Number(amount)
  }
  for (const one of candidacies.filter(({ created_at }) => within(created_at))) {
    const { status, output } = resultRecord(one)
    const reached = stagesIn(one.stages)
    add('funnel enrolled')
    for (const stage of reached) if (!['completed', 'qualified', 'interested'].includes(stage)) add(`funnel ${stage}`)
    add('funnel completed', status === 'completed')
    add('funnel qualified', output.qualified === true)
    add('funnel interested', output.interest === 'interested' && status === 'completed')
    const candidateMessages = messagesByCandidate.get(one.candidate_id) ?? []
    const contacts = candidateMessages.filter((message) => message.direction === 'out' && message.contact_step !== null)
    for (const { channel, state, contact_step, accepted } of contacts) {
      add(`channel ${channel} sent`, accepted)
      add(`channel ${channel} delivered`, state === 'delivered' || state === 'read')
      add(`channel ${channel} read`, state === 'read')
      add(`channel ${channel} failed`, state === 'failed')
      add(`follow_up ${contact_step} sent`, accepted && contact_step! > 0)
      add('call placed', channel === 'voice' && (accepted || state === 'failed'))
    }
    // Messages after the end of the conversation are stored but not counted.
    const firstReply = reached.includes('responded')
      ? candidateMessages.findIndex(({ direction }) => direction === 'in')
      : -1
    if (firstReply >= 0) {
      const before = candidateMessages.slice(0, firstReply)
      const contact = before.findLast((message) => message.contact_step !== null && message.accepted)
      const { channel } = candidateMessages[firstReply]!
      add(
        `channel ${channel === 'page' ? contact?.channel : channel} replied`,
        channel !== 'page' || contact !== undefined,
      )
      add(`follow_up ${contact?.contact_step} replied`, (contact?.contact_step ?? 0) > 0)
    }
    const lost = status === 'declined' || status === 'failed'
    add('lost', lost)
    add('drop_off no_response', lost && firstReply < 0)
    add(`language ${output.language} candidates`)
    add(`language ${output.language} completed`, status === 'completed')
    add(`${indianDate(one.created_at.getTime())} enrolled`)
  }
  for (const { status, completed_at } of candidacies)
    if (within(completed_at)) add(`${indianDate(completed_at!.getTime())} ${status}`)
  return counts
}

function isWithin(day: string, { from, to }: RecountFilter) {
  return from <= day && day <= to
}

/** Returns the counts of an overview in the format of `recountOverview`. */
export function countsInOverview(overview: any): Record<string, number> {
  const counts: Record<string, number> = {}
  const put = (prefix: string, values: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(values))
      if (typeof value === 'number' && value !== 0) counts[`${prefix} ${name}`.trim()] = value
  }
  put('funnel', overview.funnel)
  for (const { channel, ...counted } of overview.channels) put(`channel ${channel}`, counted)
  for (const { step, ...counted } of overview.follow_ups) put(`follow_up ${step}`, counted)
  put('call', { placed: overview.calls.placed })
  const lost = overview.drop_offs.reduce((sum: number, { candidates }: any) => sum + candidates, 0)
  put('', { lost })
  for (const { at, candidates } of overview.drop_offs) if (at === 'no_response') put('drop_off', { [at]: candidates })
  for (const { language, ...counted } of overview.languages) put(`language ${language}`, counted)
  for (const { date, ...counted } of overview.daily) put(date, counted)
  return counts
}
