import { sql } from 'kysely'
import type { PausedOrganisations, Resumption } from '../../access/service-switch.ts'
import { addressField, type ChannelName } from '../../channels/channel.ts'
import { availableChannels } from '../../channels/credentials.ts'
import { findPendingReplies } from '../../channels/simulator/pending-replies.ts'
import { TEST_NUMBER_WAIT_MS } from '../../channels/simulator/test-numbers.ts'
import { behaviourOf, ignoresMessage } from '../../channels/simulator/test-script.ts'
import type { Context } from '../../context.ts'
import { currentPrompts, withoutContactTime } from '../../conversation/conversation.ts'
import { HOUR } from '../../platform/clock.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../../platform/database/database.ts'
import { type DueRow, isNoDeadLetter, nextDeadLetterRetry } from '../../platform/jobs/dead-letters.ts'
import { getWorkflow, type Workflow } from '../../workflows/workflows.ts'
import { type Candidacy, lockAvailableCandidacies } from '../candidacy.ts'
import { type CandidateChange, type CandidateTransition, recordTransitions } from '../progress.ts'
import { nextCapResumption } from '../spending/spending.ts'
import { hasReached, stagesUpTo } from '../stages.ts'
import { hasContactHours, nextContactTime } from './contact-hours.ts'
import { CONTACT_DUE, queueMessages } from './messages.ts'
import { findOptedOut } from './opt-outs.ts'

export type ContactDeps = Pick<Context, 'clock' | 'config' | 'mailboxes'>

/** Time after the last message until a candidate expires who never replied, or who asked for the message. */
const NO_REPLY_TIMEOUT_HOURS = 72

/** Converts a delay in hours to milliseconds; simulated candidates have a short fixed delay in real time. */
export function contactDelayMs(candidate: Candidacy, hours: number): number {
  return isFastSimulation(candidate) ? TEST_NUMBER_WAIT_MS : hours * HOUR
}

/** Returns whether a short delay replaces the delays in hours. With a test clock, simulated candidates wait like everyone else. */
export function isFastSimulation(candidate: Candidacy): boolean {
  return candidate.mode === 'test' && candidate.test_clock_id === null && behaviourOf(candidate) !== undefined
}

interface DueContact {
  candidate_id: string
  kind: 'contact' | 'give_up'
  step: number
  requested: boolean
}

/** Rows that an engine processes: those in real time, or those of a test clock; all, or only that of one candidate. */
export interface DueFilter {
  testClockId?: string | undefined
  onlyId?: string | undefined
}

/** Processes up to `limit` due contacts and returns their number. Contacts of paused organisations wait. */
export async function processDueContacts(
  tx: Tx,
  deps: ContactDeps,
  limit: number,
  paused: PausedOrganisations,
  filter: DueFilter = {},
): Promise<number> {
  const now = deps.clock.now()
  const { rows: dueContacts } = await sql<DueContact>`
    select candidate_id, kind, step, requested from contacts where ${isContactDue(now, paused, filter)}
    order by due_at limit ${limit} for update skip locked`.execute(tx)
  if (dueContacts.length === 0) return 0
  const dueById = new Map(dueContacts.map((row) => [row.candidate_id, row]))
  // A candidate that another transaction has locked has probably just replied; the next poll processes the contact.
  const availableCandidates = (await lockAvailableCandidacies(tx, [...dueById.keys()])).filter(
    ({ status }) => status === 'pending',
  )
  const replyingIds = await findPendingReplies(tx, deps.clock, [...dueById.keys()])
  await postponeContacts(
    tx,
    availableCandidates.filter(({ candidate_id }) => replyingIds.has(candidate_id)),
    now + TEST_NUMBER_WAIT_MS,
  )
  const readyCandidates = availableCandidates.filter(({ candidate_id }) => !replyingIds.has(candidate_id))
  const readyByKind = Map.groupBy(readyCandidates, ({ candidate_id }) => dueById.get(candidate_id)!.kind)
  await expireCandidates(tx, deps, readyByKind.get('give_up') ?? [])
  const candidatesToContact = readyByKind.get('contact') ?? []
  const candidatesOutsideHours = new Set(
    candidatesToContact.filter((candidate) => hasContactHours(candidate) && nextContactTime(now) > now),
  )
  await postponeContacts(tx, [...candidatesOutsideHours], nextContactTime(now))
  const optedOutCandidates = new Set(await findOptedOut(tx, candidatesToContact))
  await recordTransitions(tx, deps.clock, [...optedOutCandidates].map(declineOptedOut))
  await contactCandidates(
    tx,
    deps,
    candidatesToContact
      .filter((candidate) => !candidatesOutsideHours.has(candidate) && !optedOutCandidates.has(candidate))
      .map((candidate) => ({
        candidate,
        followUpNumber: dueById.get(candidate.candidate_id)!.step,
        isRequested: dueById.get(candidate.candidate_id)!.requested,
        triedChannels: [],
        failedChannels: [],
      })),
  )
  return dueContacts.length
}

function isContactDue(now: number, paused: PausedOrganisations, { testClockId, onlyId }: DueFilter) {
  // The contacts of campaigns with a test clock are always held.
  const isActive =
    testClockId === undefined
      ? sql`not held and not restricted`
      : sql`campaign_id in (select campaign_id from campaigns where test_clock_id = ${testClockId} and hold is distinct from 'paused')
          and not restricted`
  return sql`due_at <= ${new Date(now)} and dnd_check_at is null and ${isActive} and ${campaignIsNotPaused(paused)}
    and ${onlyId === undefined ? isNoDeadLetter('contacts', sql`candidate_id`) : sql`candidate_id = ${onlyId}`}`
}

/** Lists the contacts that `processDueContacts` would process. */
export async function listDueContacts(
  queries: Queries,
  now: number,
  limit: number,
  paused: PausedOrganisations,
  testClockId?: string,
): Promise<DueRow[]> {
  const { rows } = await sql<DueRow>`
    select candidate_id as id, org_id as "orgId", mode from (
      select candidate_id, due_at from contacts where ${isContactDue(now, paused, { testClockId })} order by due_at limit ${limit}
    ) as due left join candidates using (candidate_id) order by due_at`.execute(queries)
  return rows
}

/** Returns the condition that the campaign of a row belongs to an organisation that is not paused. */
function campaignIsNotPaused(paused: PausedOrganisations) {
  if (paused === 'all') return sql`false`
  if (paused.length === 0) return sql`true`
  return sql`campaign_id not in (select campaign_id from campaigns where org_id = any (${paused}::text[]))`
}

/**
 * Extends the time in which candidates can reply by the time that the organisations were paused. Contacts that became due during the
 * pause are made now, in their order.
 */
export async function resumeContacts(tx: Tx, { orgIds, pausedSince, extendByMs }: Resumption): Promise<void> {
  await sql`update contacts set due_at = due_at + make_interval(secs => ${extendByMs / 1000})
    where kind = 'give_up' and due_at > ${pausedSince}
      and campaign_id in (
        select campaign_id from campaigns where org_id = any (${orgIds}::text[]) and test_clock_id is null)`.execute(tx)
  notifyAfterCommit(tx, CONTACT_DUE)
}

/** Returns the transition that declines a candidate who has opted out and refunds the credit if the candidate was never contacted. */
export function declineOptedOut(before: Candidacy): CandidateTransition {
  return { before, end: { status: 'declined', reason: 'stopped' }, refund: !hasReached(before.stages, 'contacted') }
}

async function expireCandidates(tx: Tx, { clock }: ContactDeps, candidates: Candidacy[]) {
  const transitions = candidates.map((before): CandidateTransition => {
    const hasResponded = hasReached(before.stages, 'responded')
    return { before, end: { status: 'failed', reason: hasResponded ? 'expired' : 'no_response' } }
  })
  await recordTransitions(tx, clock, transitions)
}

async function postponeContacts(tx: Tx, candidates: Candidacy[], dueTime: number) {
  if (candidates.length === 0) return
  await sql`update contacts set due_at = ${new Date(dueTime)}
    where candidate_id = any (${candidates.map(({ candidate_id }) => candidate_id)})`.execute(tx)
}

export interface ContactAttempt {
  candidate: Candidacy
  /** 0 for the first message, then 1, 2, … for the follow-ups. */
  followUpNumber: number
  /** Whether the candidate asked for the contact. It is numbered like a follow-up, but does not belong to the workflow. */
  isRequested: boolean
  /** Channels already used for this message. */
  triedChannels: ChannelName[]
  /** Tried channels whose failure is not counted yet. */
  failedChannels: ChannelName[]
}

/** Sends each candidate the due message on the next usable channel. */
export async function contactCandidates(tx: Tx, deps: ContactDeps, attempts: ContactAttempt[]): Promise<void> {
  const { clock } = deps
  const workflows = new Map<string, Workflow>()
  const channelsByOrg = new Map<string, Set<ChannelName>>()
  let remainingAttempts = attempts
  while (remainingAttempts.length > 0) {
    const attemptsToSend: (ContactAttempt & { channel: ChannelName; workflow: Workflow })[] = []
    const exhaustedAttempts: (ContactAttempt & { workflow: Workflow })[] = []
    for (const attempt of remainingAttempts) {
      const workflow = await workflowOf(attempt.candidate)
      const channel = (await channelsFor(attempt, workflow)).find((name) => !attempt.triedChannels.includes(name))
      if (channel) attemptsToSend.push({ ...attempt, channel, workflow })
      else exhaustedAttempts.push({ ...attempt, workflow })
    }
    const outcomes = await queueMessages(
      tx,
      clock,
      attemptsToSend.map(({ candidate, channel, followUpNumber, isRequested }) => {
        const prompts = currentPrompts(candidate.state, candidate.flow)
        return { candidate, channel, prompts, followUpNumber, isRequested }
      }),
    )
    const queuedAttempts = attemptsToSend.filter((_, index) => outcomes[index] === 'queued')
    await suspendUntilSent(tx, queuedAttempts)
    await countFailures(tx, deps, queuedAttempts)
    const deliveredAttempts = attemptsToSend.filter((_, index) => outcomes[index] === 'delivered')
    await recordContacts(tx, deps, deliveredAttempts, true)
    await handleExhausted(tx, deps, exhaustedAttempts)
    remainingAttempts = attemptsToSend
      .filter((_, index) => outcomes[index] === 'failed')
      .map(({ candidate, followUpNumber, isRequested, triedChannels, failedChannels, channel }) => ({
        candidate,
        followUpNumber,
        isRequested,
        triedChannels: [...triedChannels, channel],
        failedChannels: [...failedChannels, channel],
      }))
  }

  async function workflowOf({ org_id: orgId, mode, workflow_id }: Candidacy): Promise<Workflow> {
    const workflow = workflows.get(workflow_id) ?? (await getWorkflow(tx, { orgId, mode }, workflow_id))
    workflows.set(workflow_id, workflow)
    return workflow
  }

  async function channelsFor(
    { candidate, followUpNumber, isRequested }: ContactAttempt,
    workflow: Workflow,
  ): Promise<ChannelName[]> {
    const usableChannels = candidate.mode === 'test' ? undefined : await channelsOf(candidate.org_id)
    const firstChannel = isRequested ? candidate.channel : workflow.follow_ups[followUpNumber - 1]?.channel
    const channels = channelOrder(workflow, firstChannel)
    // Orders of an ATS may have no phone number. The candidate is then contacted by email, whatever the channels of the workflow.
    const withEmail =
      candidate.phone === null && !channels.includes('email') ? [...channels, 'email' as const] : channels
    return withEmail.filter(
      (name) => candidate[addressField[name]] !== null && (usableChannels === undefined || usableChannels.has(name)),
    )
  }

  async function channelsOf(orgId: string) {
    const channels = channelsByOrg.get(orgId) ?? (await availableChannels(tx, orgId, deps.config.smtpUrl !== undefined))
    channelsByOrg.set(orgId, channels)
    return channels
  }
}

/**
 * Returns the workflow's channels in order. A follow-up starts with its own channel, and a contact that the candidate asked for with
 * the channel of their last reply.
 */
function channelOrder({ channels }: Pick<Workflow, 'channels'>, firstChannel: ChannelName | null | undefined) {
  return firstChannel ? [firstChannel, ...channels.filter((name) => name !== firstChannel)] : channels
}

/** Suspends the contacts while their messages are sent. Skips candidates whose next contact is another one, because they have replied. */
async function suspendUntilSent(tx: Tx, queuedAttempts: ContactAttempt[]) {
  if (queuedAttempts.length === 0) return
  await sql`update contacts c set due_at = null
    from unnest(${queuedAttempts.map(({ candidate }) => candidate.candidate_id)}::text[],
      ${queuedAttempts.map(({ followUpNumber }) => followUpNumber)}::int[]) as n (candidate_id, step)
    where c.candidate_id = n.candidate_id and c.kind = 'contact' and c.step = n.step`.execute(tx)
}

/** Records sent messages and schedules the next follow-ups from now. */
export async function recordContacts(
  tx: Tx,
  deps: ContactDeps,
  sentAttempts: (ContactAttempt & { channel: ChannelName; workflow: Workflow })[],
  isDelivered: boolean,
): Promise<void> {
  const { clock } = deps
  const time = new Date(clock.now())
  await recordTransitions(
    tx,
    clock,
    sentAttempts.map((attempt): CandidateTransition => {
      const { candidate: before, followUpNumber, isRequested, channel, failedChannels } = attempt
      const isTimePassed = isRequested && Date.parse(before.state.contactAt ?? '') <= time.getTime()
      const events = isDelivered ? (['sent', 'delivered'] as const) : (['sent'] as const)
      return {
        before,
        changes: {
          stages: before.stages | stagesUpTo(isDelivered ? 'delivered' : 'contacted'),
          ...(isTimePassed ? { state: withoutContactTime(before.state) } : {}),
          contact_step: followUpNumber,
          channel,
          started_at: before.started_at ?? time,
        },
        channels: [...channelFailures(failedChannels), ...events.map((event) => ({ channel, event }))],
        followUps: followUpNumber > 0 && !isRequested ? [{ followUpNumber, event: 'sent' }] : [],
        calls: [...failedCalls(failedChannels), ...(channel === 'voice' ? callsOf(before, followUpNumber) : [])],
      }
    }),
  )
  await scheduleNextContact(tx, deps, sentAttempts)
}

function channelFailures(failedChannels: ChannelName[]) {
  return failedChannels.map((channel) => ({ channel, event: 'failed' as const }))
}

/** Duration that is counted for a simulated call. The provider reports the duration of real calls. */
const SIMULATED_CALL_SECONDS = 30

/** Returns the calls to count for a sent voice message; the outcome of a real call is counted when the provider reports it. */
function callsOf(candidate: Candidacy, followUpNumber: number): CandidateChange['calls'] {
  const placedCall = { outcome: 'placed' as const, seconds: 0 }
  if (candidate.mode === 'live') return [placedCall]
  const behaviour = behaviourOf(candidate)
  const isUnanswered = behaviour !== undefined && ignoresMessage(behaviour, followUpNumber)
  return [
    placedCall,
    isUnanswered ? { outcome: 'no_answer', seconds: 0 } : { outcome: 'answered', seconds: SIMULATED_CALL_SECONDS },
  ]
}

function failedCalls(failedChannels: ChannelName[]): CandidateChange['calls'] {
  if (!failedChannels.includes('voice')) return []
  return [
    { outcome: 'placed', seconds: 0 },
    { outcome: 'failed', seconds: 0 },
  ]
}

async function countFailures(tx: Tx, { clock }: ContactDeps, attempts: ContactAttempt[]) {
  const transitions = attempts
    .filter(({ failedChannels }) => failedChannels.length > 0)
    .map(({ candidate, failedChannels }) => ({ before: candidate, channels: channelFailures(failedChannels) }))
  await recordTransitions(tx, clock, transitions)
}

/** Schedules the next follow-up, or the expiry after the last one or after a contact that the candidate asked for. Skips candidates who have replied in the meantime. */
export async function scheduleNextContact(
  tx: Tx,
  { clock }: ContactDeps,
  attempts: Pick<
    ContactAttempt & { workflow: Workflow },
    'candidate' | 'followUpNumber' | 'isRequested' | 'workflow'
  >[],
): Promise<void> {
  if (attempts.length === 0) return
  const now = clock.now()
  const nextContacts = attempts.map(({ candidate, followUpNumber, isRequested, workflow }) => {
    const followUp = isRequested ? undefined : workflow.follow_ups[followUpNumber]
    const dueTime = now + contactDelayMs(candidate, followUp?.after_hours ?? NO_REPLY_TIMEOUT_HOURS)
    const isLimitedToHours = followUp && hasContactHours(candidate)
    return {
      kind: followUp ? 'contact' : 'give_up',
      due: new Date(isLimitedToHours ? nextContactTime(dueTime) : dueTime),
    }
  })
  await sql`update contacts c set kind = n.kind, step = n.step + 1, due_at = n.due_at
    from unnest(${attempts.map(({ candidate }) => candidate.candidate_id)}::text[], ${nextContacts.map(({ kind }) => kind)}::text[],
      ${attempts.map(({ followUpNumber }) => followUpNumber)}::int[], ${nextContacts.map(({ due }) => due)}::timestamptz[]) as n (candidate_id, kind, step, due_at)
    where c.candidate_id = n.candidate_id and c.kind = 'contact' and c.step = n.step`.execute(tx)
}

/**
 * Handles candidates without a remaining channel: fails candidates who were never reached, and schedules the next follow-up for
 * the others.
 */
async function handleExhausted(tx: Tx, deps: ContactDeps, attempts: (ContactAttempt & { workflow: Workflow })[]) {
  if (attempts.length === 0) return
  const { rows } = await sql<{ candidate_id: string }>`
    select distinct candidate_id from messages where state in ('sent', 'delivered', 'read', 'unknown') and direction = 'out'
      and candidate_id = any (${attempts.map(({ candidate }) => candidate.candidate_id)})`.execute(tx)
  const possiblyReachedIds = new Set(rows.map(({ candidate_id }) => candidate_id))
  // Candidates who asked for a contact have been reached.
  const wasReached = ({ candidate, isRequested }: ContactAttempt) =>
    isRequested || possiblyReachedIds.has(candidate.candidate_id)
  const unreachedAttempts = attempts.filter((attempt) => !wasReached(attempt))
  await recordTransitions(
    tx,
    deps.clock,
    unreachedAttempts.map(({ candidate, failedChannels }) => {
      return {
        before: candidate,
        end: { status: 'failed', reason: 'unreachable' },
        refund: true,
        channels: channelFailures(failedChannels),
        calls: failedCalls(failedChannels),
      }
    }),
  )
  const possiblyReachedAttempts = attempts.filter((attempt) => wasReached(attempt))
  await countFailures(tx, deps, possiblyReachedAttempts)
  await scheduleNextContact(tx, deps, possiblyReachedAttempts)
}

/**
 * Returns the earliest due time of contacts, simulated replies, lost sends, their retries and the ends of pauses by a cap, in epoch
 * milliseconds. It may be in the past.
 */
export async function nextContactDue(
  queries: Queries,
  paused: PausedOrganisations,
  now: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select least(
      (select min(due_at) from contacts where due_at is not null and dnd_check_at is null and not held and not restricted and ${campaignIsNotPaused(paused)}
        and ${isNoDeadLetter('contacts', sql`candidate_id`)}),
      (select min(due_at) from simulator_turns where test_clock_id is null and ${isNoDeadLetter('test-replies', sql`candidate_id`)}),
      (select min(leased_until) from messages where state = 'sending' and ${isNoDeadLetter('lost-sends', sql`message_id`)}),
      ${nextCapResumption(now)},
      ${nextDeadLetterRetry('contacts', 'test-replies', 'lost-sends')}) as due`.execute(queries)
  return rows[0]!.due?.getTime()
}
