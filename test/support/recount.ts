import { sql } from 'kysely'
import type { OrgScope } from '../../server/access/caller.ts'
import { findCandidacies } from '../../server/campaigns/candidacy.ts'
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
  requested: boolean
  /** Whether the provider accepted the message, even if the delivery failed later. */
  accepted: boolean
}

/** Computes the counts of an analytics overview directly from the results and messages, as a reference for tests. */
export async function recountOverview(db: Database, scope: OrgScope, filter: RecountFilter) {
  const { rows: enrolled } = await sql<{ candidate_id: string }>`
    select candidate_id from candidate_progress where org_id = ${scope.orgId} and mode = ${scope.mode}`.execute(
    db.queries,
  )
  const allCandidacies = await findCandidacies(
    db.queries,
    enrolled.map(({ candidate_id }) => candidate_id),
  )
  const { rows: messages } = await sql<RecordedMessage>`
    select candidate_id, direction, channel, state, contact_step, requested,
      state in ('sent', 'delivered', 'read') or (state = 'failed' and provider_id is not null) as accepted from messages
    where org_id = ${scope.orgId} and mode = ${scope.mode} order by message_id`.execute(db.queries)
  const messagesByCandidate = Map.groupBy(messages, ({ candidate_id }) => candidate_id)
  const candidacies = allCandidacies.filter((candidacy) =>
    (['workflow_id', 'mandate_id', 'campaign_id'] as const).every(
      (name) => filter[name] === undefined || candidacy[name] === filter[name],
    ),
  )
  const isTimeWithin = (time: Date | null) => time !== null && isWithin(indianDate(time.getTime()), filter)
  const counts: Record<string, number> = {}
  const addCount = (name: string, amount: boolean | number = true) => {
    if (amount) counts[name] = (counts[name] ?? 0) + Number(amount)
  }
  for (const candidacy of candidacies.filter(({ created_at }) => isTimeWithin(created_at))) {
    const { status, output } = resultRecord(candidacy)
    const reached = stagesIn(candidacy.stages)
    addCount('funnel enrolled')
    for (const stage of reached)
      if (!['completed', 'qualified', 'interested'].includes(stage)) addCount(`funnel ${stage}`)
    addCount('funnel completed', status === 'completed')
    addCount('funnel qualified', output.qualified === true)
    addCount('funnel interested', output.interest === 'interested' && status === 'completed')
    const candidateMessages = messagesByCandidate.get(candidacy.candidate_id) ?? []
    const contacts = candidateMessages.filter((message) => message.direction === 'out' && message.contact_step !== null)
    for (const { channel, state, contact_step, requested, accepted } of contacts) {
      addCount(`channel ${channel} sent`, accepted)
      addCount(`channel ${channel} delivered`, state === 'delivered' || state === 'read')
      addCount(`channel ${channel} read`, state === 'read')
      addCount(`channel ${channel} failed`, state === 'failed')
      addCount(`follow_up ${contact_step} sent`, accepted && contact_step! > 0 && !requested)
      addCount('call placed', channel === 'voice' && (accepted || state === 'failed'))
    }
    // Messages after the end of the conversation are stored but not counted.
    const firstReply = reached.includes('responded')
      ? candidateMessages.findIndex(({ direction }) => direction === 'in')
      : -1
    if (firstReply >= 0) {
      const messagesBeforeReply = candidateMessages.slice(0, firstReply)
      const lastContact = messagesBeforeReply.findLast((message) => message.contact_step !== null && message.accepted)
      const { channel } = candidateMessages[firstReply]!
      addCount(
        `channel ${channel === 'page' ? lastContact?.channel : channel} replied`,
        channel !== 'page' || lastContact !== undefined,
      )
      addCount(`follow_up ${lastContact?.contact_step} replied`, (lastContact?.contact_step ?? 0) > 0)
    }
    const isLost = status === 'declined' || status === 'failed'
    addCount('lost', isLost)
    addCount('drop_off no_response', isLost && firstReply < 0)
    addCount(`language ${output.language} candidates`)
    addCount(`language ${output.language} completed`, status === 'completed')
    addCount(`${indianDate(candidacy.created_at.getTime())} enrolled`)
  }
  for (const { status, completed_at } of candidacies)
    if (isTimeWithin(completed_at)) addCount(`${indianDate(completed_at!.getTime())} ${status}`)
  return counts
}

function isWithin(day: string, { from, to }: RecountFilter) {
  return from <= day && day <= to
}

/** Returns the counts of an overview in the format of `recountOverview`. */
export function countsInOverview(overview: any): Record<string, number> {
  const counts: Record<string, number> = {}
  const addCounts = (prefix: string, values: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(values))
      if (typeof value === 'number' && value !== 0) counts[`${prefix} ${name}`.trim()] = value
  }
  addCounts('funnel', overview.funnel)
  for (const { channel, ...counted } of overview.channels) addCounts(`channel ${channel}`, counted)
  for (const { step, ...counted } of overview.follow_ups) addCounts(`follow_up ${step}`, counted)
  addCounts('call', { placed: overview.calls.placed })
  const lostCount = overview.drop_offs.reduce((sum: number, { candidates }: any) => sum + candidates, 0)
  addCounts('', { lost: lostCount })
  for (const { at, candidates } of overview.drop_offs)
    if (at === 'no_response') addCounts('drop_off', { [at]: candidates })
  for (const { language, ...counted } of overview.languages) addCounts(`language ${language}`, counted)
  for (const { date, ...counted } of overview.daily) addCounts(date, counted)
  return counts
}
