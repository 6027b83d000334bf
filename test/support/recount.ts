import { sql } from 'kysely'
import type { OwnerScope } from '../../server/access/caller.ts'
import { selectCandidacies } from '../../server/campaigns/candidacy.ts'
import { indianDay } from '../../server/campaigns/contact/contact-hours.ts'
import { stagesIn } from '../../server/campaigns/stages.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { resultRecord } from '../../server/results/record.ts'

export interface RecountFilter {
  from: string
  to: string
  workflow_id?: string
  mandate_id?: string
  campaign_id?: string
}

interface Said {
  candidate_id: string
  direction: 'in' | 'out'
  channel: string
  state: string
  contact_step: number | null
  /** The provider took it, whatever became of it. */
  taken: boolean
}

/** What the overview must say, counted anew from every result and every message. */
export async function recount(db: Database, scope: OwnerScope, filter: RecountFilter) {
  const all = await selectCandidacies(db.queries, sql`p.org_id = ${scope.orgId} and p.mode = ${scope.mode}`, sql``)
  const { rows: messages } = await sql<Said>`
    select candidate_id, direction, channel, state, contact_step,
      state in ('sent', 'delivered', 'read') or (state = 'failed' and provider_id is not null) as taken from messages
    where org_id = ${scope.orgId} and mode = ${scope.mode} order by message_id`.execute(db.queries)
  const said = Map.groupBy(messages, ({ candidate_id }) => candidate_id)
  const mine = all.filter((one) =>
    (['workflow_id', 'mandate_id', 'campaign_id'] as const).every(
      (name) => filter[name] === undefined || one[name] === filter[name],
    ),
  )
  const within = (time: Date | null) => time !== null && isWithin(indianDay(time.getTime()), filter)
  const counts: Record<string, number> = {}
  const add = (name: string, is: boolean | number = true) => {
    if (is) counts[name] = (counts[name] ?? 0) + Number(is)
  }
  for (const one of mine.filter(({ created_at }) => within(created_at))) {
    const { status, output } = resultRecord(one)
    const reached = stagesIn(one.stages)
    add('funnel enrolled')
    for (const stage of reached) if (!['completed', 'qualified', 'interested'].includes(stage)) add(`funnel ${stage}`)
    add('funnel completed', status === 'completed')
    add('funnel qualified', output.qualified === true)
    add('funnel interested', output.interest === 'interested' && status === 'completed')
    const lines = said.get(one.candidate_id) ?? []
    const contacts = lines.filter((line) => line.direction === 'out' && line.contact_step !== null)
    for (const { channel, state, contact_step, taken } of contacts) {
      add(`channel ${channel} sent`, taken)
      add(`channel ${channel} delivered`, state === 'delivered' || state === 'read')
      add(`channel ${channel} read`, state === 'read')
      add(`channel ${channel} failed`, state === 'failed')
      add(`follow_up ${contact_step} sent`, taken && contact_step! > 0)
      add('call placed', channel === 'voice' && (taken || state === 'failed'))
    }
    // What is said after the end is kept, and counts for nothing.
    const first = reached.includes('responded') ? lines.findIndex(({ direction }) => direction === 'in') : -1
    if (first >= 0) {
      const answered = lines.slice(0, first).findLast((line) => line.contact_step !== null && line.taken)
      const { channel } = lines[first]!
      add(
        `channel ${channel === 'page' ? answered?.channel : channel} replied`,
        channel !== 'page' || answered !== undefined,
      )
      add(`follow_up ${answered?.contact_step} replied`, (answered?.contact_step ?? 0) > 0)
    }
    const lost = status === 'declined' || status === 'failed'
    add('lost', lost)
    add('drop_off no_response', lost && first < 0)
    add(`language ${output.language} candidates`)
    add(`language ${output.language} completed`, status === 'completed')
    add(`${indianDay(one.created_at.getTime())} enrolled`)
  }
  for (const { status, completed_at } of mine)
    if (within(completed_at)) add(`${indianDay(completed_at!.getTime())} ${status}`)
  return counts
}

function isWithin(day: string, { from, to }: RecountFilter) {
  return from <= day && day <= to
}

/** An overview in the same words. */
export function spread(overview: any): Record<string, number> {
  const counts: Record<string, number> = {}
  const put = (prefix: string, numbers: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(numbers))
      if (typeof value === 'number' && value !== 0) counts[`${prefix} ${name}`.trim()] = value
  }
  put('funnel', overview.funnel)
  for (const { channel, ...numbers } of overview.channels) put(`channel ${channel}`, numbers)
  for (const { step, ...numbers } of overview.follow_ups) put(`follow_up ${step}`, numbers)
  put('call', { placed: overview.calls.placed })
  const lost = overview.drop_offs.reduce((sum: number, { candidates }: any) => sum + candidates, 0)
  put('', { lost })
  for (const { at, candidates } of overview.drop_offs) if (at === 'no_response') put('drop_off', { [at]: candidates })
  for (const { language, ...numbers } of overview.languages) put(`language ${language}`, numbers)
  for (const { date, ...numbers } of overview.daily) put(date, numbers)
  return counts
}
