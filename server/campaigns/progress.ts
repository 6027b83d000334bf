import { sql } from 'kysely'
import type { ChannelName } from '../channels/channel.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { type Campaign, countEnded, type Ended, tellCompleted } from './campaigns.ts'
import type { Candidacy, Reason, ResultStatus } from './candidacy.ts'
import { indianDay } from './contact/contact-hours.ts'
import { refundCredit } from './credits.ts'
import { hasReached, type Stage, stagesIn } from './stages.ts'

/** Where somebody who did not complete was lost. */
export type DropOff = 'no_response' | 'consent' | 'language' | 'enrichment' | 'skills' | 'interest'

export type CallOutcome = 'placed' | 'answered' | 'no_answer' | 'busy' | 'failed'

/** What one step did, for those who keep figures. Every count is to be added to what was counted before. */
export interface CandidateChange {
  orgId: string
  mode: 'test' | 'live'
  workflowId: string
  mandateId: string
  campaignId: string
  candidateId: string
  /** Days in India: of the enrolment, and of the change. */
  enrolledDay: string
  day: string
  /** The candidate was enrolled by this very step. */
  enrolled: boolean
  /** Stages of the funnel that were reached now and not before. */
  reached: Stage[]
  channels: { channel: ChannelName; what: 'sent' | 'delivered' | 'read' | 'replied' | 'failed' }[]
  followUps: { step: number; what: 'sent' | 'replied' }[]
  calls: { outcome: CallOutcome; seconds: number }[]
  language: string
  /** Another one before this step; the same where it stayed. */
  languageBefore: string
  /** The end, where this step was the last. */
  ended: Exclude<ResultStatus, 'pending'> | undefined
  dropOff: DropOff | undefined
  /** As it is now. */
  candidate: Candidacy
}

/** What is new about a candidate. Nothing else writes `candidate_progress`. */
export interface Step {
  /** Locked by this transaction, as it was before. */
  before: Candidacy
  /** Fields that have another value now. */
  now?: Partial<Pick<Candidacy, 'state' | 'stages' | 'contact_step' | 'channel' | 'started_at'>>
  end?: { status: Exclude<ResultStatus, 'pending'>; reason: Reason | null }
  /** The credit goes back. */
  refund?: boolean
  channels?: CandidateChange['channels']
  followUps?: CandidateChange['followUps']
  calls?: CandidateChange['calls']
}

type Handler = (tx: Tx, changes: CandidateChange[], clock: Clock) => Promise<void>

const handlers = new Set<Handler>()

/** Modules above this one are told of every step here, in its transaction: results tell partners, analytics count. */
export function onCandidateChange(handler: Handler): () => void {
  handlers.add(handler)
  return () => void handlers.delete(handler)
}

export async function tellChanges(tx: Tx, clock: Clock, changes: CandidateChange[]): Promise<void> {
  if (changes.length > 0) for (const handle of handlers) await handle(tx, changes, clock)
}

/** Writes steps of candidates, at most one of each, with everything that follows from them; answers them as they are now. */
export async function recordSteps(tx: Tx, clock: Clock, steps: Step[]): Promise<Candidacy[]> {
  if (steps.length === 0) return []
  const time = new Date(clock.now())
  const after = steps.map(({ before, now, end }): Candidacy => {
    const ending = end ? { ...end, completed_at: time } : {}
    return { ...before, ...now, ...ending, version: before.version + 1, updated_at: time }
  })
  await sql`
    update candidate_progress p set status = n.status, reason = n.reason, conversation = n.conversation, stages = n.stages,
      contact_step = n.contact_step, channel = n.channel, started_at = n.started_at, completed_at = n.completed_at,
      version = n.version, updated_at = ${time}, moved = true
    from unnest(${after.map((c) => c.candidate_id)}::text[], ${after.map((c) => c.status)}::text[],
      ${after.map((c) => c.reason)}::text[], ${after.map((c) => JSON.stringify(c.state))}::text[],
      ${after.map((c) => c.stages)}::int[], ${after.map((c) => c.contact_step)}::int[], ${after.map((c) => c.channel)}::text[],
      ${after.map((c) => c.started_at)}::timestamptz[], ${after.map((c) => c.completed_at)}::timestamptz[],
      ${after.map((c) => c.version)}::int[])
      as n (candidate_id, status, reason, conversation, stages, contact_step, channel, started_at, completed_at, version)
    where p.candidate_id = n.candidate_id`.execute(tx)
  const ended = steps.filter(({ end }) => end)
  const completed = ended.length > 0 ? await settleEnds(tx, clock, ended) : []
  await tellChanges(
    tx,
    clock,
    steps.map((step, index) => changeOf(step, after[index]!, time.getTime())),
  )
  // After the results that completed them.
  for (const campaign of completed) await tellCompleted(tx, clock, campaign)
  return after
}

/** Whoever is through is contacted no more, and counts for the campaign as what became of them. */
async function settleEnds(tx: Tx, clock: Clock, ended: Step[]): Promise<Campaign[]> {
  const ids = ended.map(({ before }) => before.candidate_id)
  await sql`delete from contacts where candidate_id = any (${ids})`.execute(tx)
  // What would still approach them is not sent; an answer to what they said last is.
  await sql`update messages set state = 'dropped', updated_at = ${new Date(clock.now())}
    where candidate_id = any (${ids}) and state = 'queued' and contact_step is not null`.execute(tx)
  const campaigns = Map.groupBy(ended, ({ before }) => before.campaign_id)
  // In the order of their ids, and before the balance: whoever enrols locks in this order too.
  const completed: Campaign[] = []
  for (const id of [...campaigns.keys()].sort()) {
    const counts: Ended = { completed: 0, declined: 0, failed: 0 }
    for (const { end } of campaigns.get(id)!) counts[end!.status]++
    const over = await countEnded(tx, clock, id, counts)
    if (over) completed.push(over)
  }
  for (const { before, refund } of ended) {
    const { org_id: orgId, mode, campaign_id, candidate_id } = before
    if (refund) await refundCredit(tx, { orgId, mode }, clock, campaign_id, candidate_id)
  }
  return completed
}

function changeOf(step: Step, after: Candidacy, now: number): CandidateChange {
  const { before, end } = step
  return {
    orgId: after.org_id,
    mode: after.mode,
    workflowId: after.workflow_id,
    mandateId: after.mandate_id,
    campaignId: after.campaign_id,
    candidateId: after.candidate_id,
    enrolledDay: indianDay(after.created_at.getTime()),
    day: indianDay(now),
    enrolled: false,
    reached: stagesIn(after.stages & ~before.stages),
    channels: step.channels ?? [],
    followUps: step.followUps ?? [],
    calls: step.calls ?? [],
    language: after.state.language,
    languageBefore: before.state.language,
    ended: end?.status,
    dropOff: end && end.status !== 'completed' ? dropOffOf(before, after) : undefined,
    candidate: after,
  }
}

/** Who never answered was lost before the conversation began. */
function dropOffOf(before: Candidacy, after: Candidacy): DropOff {
  return hasReached(after.stages, 'responded') ? (before.state.point.at as DropOff) : 'no_response'
}
