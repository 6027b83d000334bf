import { sql } from 'kysely'
import type { ChannelName } from '../channels/channel.ts'
import { questionPoint } from '../conversation/flow.ts'
import { type Clock, realClock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import { indianDate } from '../platform/india-time.ts'
import { type Campaign, countEndedCandidates, type EndedCounts, recordCompletion } from './campaigns.ts'
import type { Candidacy, ResultReason, ResultStatus } from './candidacy.ts'
import { recordCandidateResponses } from './candidate-responses.ts'
import { refundCredit } from './credits.ts'
import { splitConversation } from './personal-values.ts'
import { hasReached, type Stage, stagesIn } from './stages.ts'

/** The part of the conversation in which a candidate who did not complete it dropped off. */
type DropOff = 'no_response' | 'consent' | 'language' | 'enrichment' | 'skills' | 'interest'

type CallOutcome = 'placed' | 'answered' | 'no_answer' | 'busy' | 'failed'

/** One change of a candidate, for results and analytics. */
export interface CandidateChange {
  orgId: string
  mode: 'test' | 'live'
  workflowId: string
  mandateId: string
  campaignId: string
  candidateId: string
  /** Dates in India of the enrolment and of the change. */
  enrolledDay: string
  day: string
  /** Whether this change is the enrolment. */
  enrolled: boolean
  /** Funnel stages that the candidate reached with this change. */
  reached: Stage[]
  channels: { channel: ChannelName; event: 'sent' | 'delivered' | 'read' | 'replied' | 'failed' }[]
  followUps: { followUpNumber: number; event: 'sent' | 'replied' }[]
  calls: { outcome: CallOutcome; seconds: number }[]
  language: string
  /** Equals `language` if it did not change. */
  languageBefore: string
  /** The final status, if this change ended the conversation. */
  ended: Exclude<ResultStatus, 'pending'> | undefined
  dropOff: DropOff | undefined
  /** The candidate after the change. */
  candidate: Candidacy
}

/** A change to a candidate. Only `recordTransitions` updates `candidate_progress`. */
export interface CandidateTransition {
  /** The candidate before the change, locked by this transaction. */
  before: Candidacy
  /** New values of changed fields. */
  changes?: Partial<Pick<Candidacy, 'state' | 'stages' | 'contact_step' | 'channel' | 'started_at'>>
  end?: { status: Exclude<ResultStatus, 'pending'>; reason: ResultReason | null }
  /** Whether the credit is refunded. */
  refund?: boolean
  channels?: CandidateChange['channels']
  followUps?: CandidateChange['followUps']
  calls?: CandidateChange['calls']
}

/**
 * Runs in the transaction of every change to candidates. The results module records events, the analytics module updates its counters,
 * the credentials module issues credentials to candidates who want them, the ats module queues reports to applicant tracking systems,
 * the privacy module stores consents, and the console adds notifications.
 */
export const candidatesChanged = defineHook<[tx: Tx, changes: CandidateChange[], clock: Clock]>(
  'candidatesChanged',
).handledBy('results', 'analytics', 'credentials', 'ats', 'privacy', 'console')

export async function publishChanges(tx: Tx, clock: Clock, changes: CandidateChange[]): Promise<void> {
  if (changes.length > 0) await candidatesChanged.run(tx, changes, clock)
}

/**
 * Stores transitions, at most one per candidate, updates their campaigns and credits, and publishes the changes. Returns the
 * updated candidates.
 */
export async function recordTransitions(
  tx: Tx,
  clock: Clock,
  transitions: CandidateTransition[],
): Promise<Candidacy[]> {
  if (transitions.length === 0) return []
  const time = new Date(clock.now())
  const updatedCandidates = transitions.map(({ before, changes, end }): Candidacy => {
    const finalFields = end ? { ...end, completed_at: time } : {}
    return { ...before, ...changes, ...finalFields, version: before.version + 1, updated_at: time }
  })
  const conversations = updatedCandidates.map(({ person_key, candidate_id, state, flow }) =>
    splitConversation(person_key, candidate_id, state, flow),
  )
  await sql`
    update candidate_progress p set status = n.status, reason = n.reason, conversation = n.conversation, personal = n.personal, stages = n.stages,
      contact_step = n.contact_step, channel = n.channel, started_at = n.started_at, completed_at = n.completed_at,
      version = n.version, updated_at = ${time}, moved = true
    from unnest(${updatedCandidates.map((c) => c.candidate_id)}::text[], ${updatedCandidates.map((c) => c.status)}::text[],
      ${updatedCandidates.map((c) => c.reason)}::text[], ${conversations.map(({ conversation }) => conversation)}::text[],
      ${updatedCandidates.map((c) => c.stages)}::int[], ${updatedCandidates.map((c) => c.contact_step)}::int[], ${updatedCandidates.map((c) => c.channel)}::text[],
      ${updatedCandidates.map((c) => c.started_at)}::timestamptz[], ${updatedCandidates.map((c) => c.completed_at)}::timestamptz[],
      ${updatedCandidates.map((c) => c.version)}::int[], ${conversations.map(({ personal }) => personal)}::bytea[])
      as n (candidate_id, status, reason, conversation, stages, contact_step, channel, started_at, completed_at, version, personal)
    where p.candidate_id = n.candidate_id`.execute(tx)
  const endedTransitions = transitions.filter(({ end }) => end)
  await recordCandidateResponses(
    tx,
    realClock(clock).now(),
    updatedCandidates.filter((_, index) => transitions[index]!.end),
  )
  const completedCampaigns = endedTransitions.length > 0 ? await settleEndedCandidates(tx, clock, endedTransitions) : []
  await publishChanges(
    tx,
    clock,
    transitions.map((transition, index) => changeOf(transition, updatedCandidates[index]!, time.getTime())),
  )
  // The completion event follows the events of the results.
  for (const campaign of completedCampaigns) await recordCompletion(tx, clock, campaign)
  return updatedCandidates
}

/** Cancels contacts of ended candidates, updates the campaigns' counts and refunds credits; returns completed campaigns. */
async function settleEndedCandidates(tx: Tx, clock: Clock, ended: CandidateTransition[]): Promise<Campaign[]> {
  const ids = ended.map(({ before }) => before.candidate_id)
  await sql`delete from contacts where candidate_id = any (${ids})`.execute(tx)
  const stoppedIds = ended.filter(({ end }) => end!.reason === 'stopped').map(({ before }) => before.candidate_id)
  // Drop queued contacts, but still send responses to the last reply. After an opt-out, earlier responses are dropped, too.
  await sql`update messages set state = 'dropped', updated_at = ${new Date(clock.now())}
    where candidate_id = any (${ids}) and state = 'queued'
      and (contact_step is not null or (not is_code and candidate_id = any (${stoppedIds})))`.execute(tx)
  const endedByCampaign = Map.groupBy(ended, ({ before }) => before.campaign_id)
  // Lock order: campaigns by ID, then the balance, as in enrolment.
  const completedCampaigns: Campaign[] = []
  for (const id of [...endedByCampaign.keys()].sort()) {
    const counts: EndedCounts = { completed: 0, declined: 0, failed: 0 }
    for (const { end } of endedByCampaign.get(id)!) counts[end!.status]++
    const campaign = await countEndedCandidates(tx, clock, id, counts)
    if (campaign) completedCampaigns.push(campaign)
  }
  for (const { before, refund } of ended) {
    const { org_id: orgId, mode, campaign_id, candidate_id } = before
    if (refund) await refundCredit(tx, { orgId, mode }, clock, campaign_id, candidate_id)
  }
  return completedCampaigns
}

function changeOf(transition: CandidateTransition, after: Candidacy, now: number): CandidateChange {
  const { before, end } = transition
  return {
    orgId: after.org_id,
    mode: after.mode,
    workflowId: after.workflow_id,
    mandateId: after.mandate_id,
    campaignId: after.campaign_id,
    candidateId: after.candidate_id,
    enrolledDay: indianDate(after.created_at.getTime()),
    day: indianDate(now),
    enrolled: false,
    reached: stagesIn(after.stages & ~before.stages),
    channels: transition.channels ?? [],
    followUps: transition.followUps ?? [],
    calls: transition.calls ?? [],
    language: after.state.language,
    languageBefore: before.state.language,
    ended: end?.status,
    dropOff: end && end.status !== 'completed' ? dropOffOf(before, after) : undefined,
    candidate: after,
  }
}

/** Returns the part in which the candidate dropped off; `no_response` for candidates who never responded. */
function dropOffOf(before: Candidacy, after: Candidacy): DropOff {
  return hasReached(after.stages, 'responded') ? (questionPoint(before.state.point).at as DropOff) : 'no_response'
}
