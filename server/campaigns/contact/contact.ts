import { sql } from 'kysely'
import { addressField, type ChannelName } from '../../channels/channel.ts'
import { availableChannels } from '../../channels/credentials.ts'
import { findPendingReplies } from '../../channels/simulator/pending-replies.ts'
import { personaOf, TEST_NUMBER_WAIT_MS } from '../../channels/simulator/test-numbers.ts'
import type { Context } from '../../context.ts'
import { currentPrompts } from '../../conversation/conversation.ts'
import { HOUR } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { getWorkflow, type Workflow } from '../../workflows/workflows.ts'
import { type Candidacy, lockAvailableCandidacies } from '../candidacy.ts'
import { type CandidateChange, type CandidateTransition, recordTransitions } from '../progress.ts'
import { hasReached, stagesUpTo } from '../stages.ts'
import { nextContactTime } from './contact-hours.ts'
import { queueMessages } from './messages.ts'
import { findOptedOut } from './opt-outs.ts'

export type ContactDeps = Pick<Context, 'clock' | 'config'>

/** Time after the last message until a candidate who never replied expires. */
const NO_REPLY_TIMEOUT_HOURS = 72

/** Converts a delay in hours to milliseconds; test numbers use a short fixed delay. */
export function waitMs(candidate: Candidacy, hours: number): number {
  return isTestNumber(candidate) ? TEST_NUMBER_WAIT_MS : hours * HOUR
}

function isTestNumber({ mode, phone }: Candidacy) {
  return mode === 'test' && personaOf(phone) !== undefined
}

interface DueContact {
  candidate_id: string
  kind: 'contact' | 'give_up'
  step: number
}

/** Processes up to `limit` due contacts and returns their number. */
export async function contactDue(tx: Tx, deps: ContactDeps, limit: number): Promise<number> {
  const now = deps.clock.now()
  const { rows: due } = await sql<DueContact>`
    select candidate_id, kind, step from contacts where due_at <= ${new Date(now)} and not held
    order by due_at limit ${limit} for update skip locked`.execute(tx)
  if (due.length === 0) return 0
  const byId = new Map(due.map((row) => [row.candidate_id, row]))
  // A locked candidate has probably just replied; the next poll checks again.
  const available = (await lockAvailableCandidacies(tx, [...byId.keys()])).filter(({ status }) => status === 'pending')
  const replying = await findPendingReplies(tx, [...byId.keys()])
  await postpone(
    tx,
    available.filter(({ candidate_id }) => replying.has(candidate_id)),
    () => now + TEST_NUMBER_WAIT_MS,
  )
  const ready = available.filter(({ candidate_id }) => !replying.has(candidate_id))
  const kinds = Map.groupBy(ready, ({ candidate_id }) => byId.get(candidate_id)!.kind)
  await expireCandidates(tx, deps, kinds.get('give_up') ?? [])
  const toContact = kinds.get('contact') ?? []
  const outsideHours = new Set(toContact.filter((candidate) => !isTestNumber(candidate) && nextContactTime(now) > now))
  await postpone(tx, [...outsideHours], () => nextContactTime(now))
  const optedOut = new Set(await findOptedOut(tx, toContact))
  await recordTransitions(tx, deps.clock, [...optedOut].map(declineOptedOut))
  const numbers = new Map(due.map(({ candidate_id, step }) => [candidate_id, step]))
  await contactCandidates(
    tx,
    deps,
    toContact
      .filter((candidate) => !outsideHours.has(candidate) && !optedOut.has(candidate))
      .map((candidate) => ({ candidate, followUpNumber: numbers.get(candidate.candidate_id)!, tried: [], failed: [] })),
  )
  return due.length
}

/** Declines a candidate who has opted out; refunds the credit if the candidate was never contacted. */
export function declineOptedOut(before: Candidacy): CandidateTransition {
  return { before, end: { status: 'declined', reason: 'stopped' }, refund: !hasReached(before.stages, 'contacted') }
}

async function expireCandidates(tx: Tx, { clock }: ContactDeps, candidates: Candidacy[]) {
  const transitions = candidates.map((before): CandidateTransition => {
    const responded = hasReached(before.stages, 'responded')
    return { before, end: { status: 'failed', reason: responded ? 'expired' : 'no_response' } }
  })
  await recordTransitions(tx, clock, transitions)
}

async function postpone(tx: Tx, candidates: Candidacy[], until: () => number) {
  if (candidates.length === 0) return
  await sql`update contacts set due_at = ${new Date(until())}
    where candidate_id = any (${candidates.map(({ candidate_id }) => candidate_id)})`.execute(tx)
}

export interface ContactAttempt {
  candidate: Candidacy
  /** 0 for the first message, then 1, 2, … for the follow-ups. */
  followUpNumber: number
  /** Channels already used for this message. */
  tried: ChannelName[]
  /** Tried channels whose failure is not counted yet. */
  failed: ChannelName[]
}

/** Sends each candidate the due message on the next usable channel. */
export async function contactCandidates(tx: Tx, deps: ContactDeps, attempts: ContactAttempt[]): Promise<void> {
  const { clock } = deps
  const workflows = new Map<string, Workflow>()
  const channelsByOrg = new Map<string, Set<ChannelName>>()
  let remaining = attempts
  while (remaining.length > 0) {
    const sending: (ContactAttempt & { channel: ChannelName; workflow: Workflow })[] = []
    const exhausted: (ContactAttempt & { workflow: Workflow })[] = []
    for (const attempt of remaining) {
      const workflow = await workflowOf(attempt.candidate)
      const channel = (await channelsFor(attempt, workflow)).find((name) => !attempt.tried.includes(name))
      if (channel) sending.push({ ...attempt, channel, workflow })
      else exhausted.push({ ...attempt, workflow })
    }
    const outcomes = await queueMessages(
      tx,
      clock,
      sending.map(({ candidate, channel, followUpNumber }) => {
        return { candidate, channel, prompts: currentPrompts(candidate.state, candidate.flow), followUpNumber }
      }),
    )
    const queued = sending.filter((_, index) => outcomes[index] === 'queued')
    await waitForProvider(tx, queued)
    await countFailures(tx, deps, queued)
    const delivered = sending.filter((_, index) => outcomes[index] === 'delivered')
    await recordContacts(tx, deps, delivered, true)
    await endUnreachable(tx, deps, exhausted)
    remaining = sending
      .filter((_, index) => outcomes[index] === 'failed')
      .map(({ candidate, followUpNumber, tried, failed, channel }) => {
        return { candidate, followUpNumber, tried: [...tried, channel], failed: [...failed, channel] }
      })
  }

  async function workflowOf({ org_id: orgId, mode, workflow_id }: Candidacy): Promise<Workflow> {
    const workflow = workflows.get(workflow_id) ?? (await getWorkflow(tx, { orgId, mode }, workflow_id))
    workflows.set(workflow_id, workflow)
    return workflow
  }

  async function channelsFor(
    { candidate, followUpNumber }: ContactAttempt,
    workflow: Workflow,
  ): Promise<ChannelName[]> {
    const usable = candidate.mode === 'test' ? undefined : await channelsOf(candidate.org_id)
    return channelOrder(workflow, followUpNumber).filter(
      (name) => candidate[addressField[name]] !== null && (usable === undefined || usable.has(name)),
    )
  }

  async function channelsOf(orgId: string) {
    const channels = channelsByOrg.get(orgId) ?? (await availableChannels(tx, orgId, deps.config.smtpUrl !== undefined))
    channelsByOrg.set(orgId, channels)
    return channels
  }
}

/** Returns the workflow's channels in order; a follow-up starts with its own channel. */
function channelOrder({ channels, follow_ups }: Pick<Workflow, 'channels' | 'follow_ups'>, followUpNumber: number) {
  const first = follow_ups[followUpNumber - 1]?.channel
  return first ? [first, ...channels.filter((name) => name !== first)] : channels
}

async function waitForProvider(tx: Tx, queued: ContactAttempt[]) {
  if (queued.length === 0) return
  await sql`update contacts set due_at = null
    where candidate_id = any (${queued.map(({ candidate }) => candidate.candidate_id)})`.execute(tx)
}

/** Records sent messages and schedules the next follow-ups from now. */
export async function recordContacts(
  tx: Tx,
  deps: ContactDeps,
  sent: (ContactAttempt & { channel: ChannelName; workflow: Workflow })[],
  delivered: boolean,
): Promise<void> {
  const { clock } = deps
  const time = new Date(clock.now())
  await recordTransitions(
    tx,
    clock,
    sent.map(({ candidate: before, followUpNumber, channel, failed }): CandidateTransition => {
      const events = delivered ? (['sent', 'delivered'] as const) : (['sent'] as const)
      return {
        before,
        changes: {
          stages: before.stages | stagesUpTo(delivered ? 'delivered' : 'contacted'),
          contact_step: followUpNumber,
          channel,
          started_at: before.started_at ?? time,
        },
        channels: [...failures(failed), ...events.map((what) => ({ channel, what }))],
        followUps: followUpNumber > 0 ? [{ step: followUpNumber, what: 'sent' }] : [],
        calls: [...failedCalls(failed), ...(channel === 'voice' ? callsOf(before, followUpNumber) : [])],
      }
    }),
  )
  await scheduleNextContact(tx, deps, sent)
}

function failures(failed: ChannelName[]) {
  return failed.map((channel) => ({ channel, what: 'failed' as const }))
}

/** Simulated calls end immediately; real calls are reported by the provider. */
const SIMULATED_CALL_SECONDS = 30

function callsOf({ mode, phone }: Candidacy, followUpNumber: number): CandidateChange['calls'] {
  const placed = { outcome: 'placed' as const, seconds: 0 }
  if (mode === 'live') return [placed]
  const persona = personaOf(phone)
  const unanswered = persona === 'never_answers' || (persona === 'answers_late' && followUpNumber === 0)
  return [
    placed,
    unanswered ? { outcome: 'no_answer', seconds: 0 } : { outcome: 'answered', seconds: SIMULATED_CALL_SECONDS },
  ]
}

function failedCalls(failed: ChannelName[]): CandidateChange['calls'] {
  if (!failed.includes('voice')) return []
  return [
    { outcome: 'placed', seconds: 0 },
    { outcome: 'failed', seconds: 0 },
  ]
}

async function countFailures(tx: Tx, { clock }: ContactDeps, attempts: ContactAttempt[]) {
  const transitions = attempts
    .filter(({ failed }) => failed.length > 0)
    .map(({ candidate, failed }) => ({ before: candidate, channels: failures(failed) }))
  await recordTransitions(tx, clock, transitions)
}

/** Schedules the next follow-up, or else the expiry. Skips candidates who have replied since. */
export async function scheduleNextContact(
  tx: Tx,
  { clock }: ContactDeps,
  sent: { candidate: Candidacy; followUpNumber: number; workflow: Workflow }[],
): Promise<void> {
  if (sent.length === 0) return
  const now = clock.now()
  const next = sent.map(({ candidate, followUpNumber, workflow }) => {
    const followUp = workflow.follow_ups[followUpNumber]
    const due = now + waitMs(candidate, followUp?.after_hours ?? NO_REPLY_TIMEOUT_HOURS)
    const hasContactHours = followUp && !isTestNumber(candidate)
    return { kind: followUp ? 'contact' : 'give_up', due: new Date(hasContactHours ? nextContactTime(due) : due) }
  })
  await sql`update contacts c set kind = n.kind, step = n.step + 1, due_at = n.due_at
    from unnest(${sent.map(({ candidate }) => candidate.candidate_id)}::text[], ${next.map(({ kind }) => kind)}::text[],
      ${sent.map(({ followUpNumber }) => followUpNumber)}::int[], ${next.map(({ due }) => due)}::timestamptz[]) as n (candidate_id, kind, step, due_at)
    where c.candidate_id = n.candidate_id and c.kind = 'contact' and c.step = n.step`.execute(tx)
}

/** Handles candidates without a remaining channel: fails those never reached, schedules the next follow-up for the others. */
async function endUnreachable(tx: Tx, deps: ContactDeps, exhausted: (ContactAttempt & { workflow: Workflow })[]) {
  if (exhausted.length === 0) return
  const { rows } = await sql<{ candidate_id: string }>`
    select distinct candidate_id from messages where state in ('sent', 'delivered', 'read', 'unknown') and direction = 'out'
      and candidate_id = any (${exhausted.map(({ candidate }) => candidate.candidate_id)})`.execute(tx)
  const possiblyReached = new Set(rows.map(({ candidate_id }) => candidate_id))
  const unreached = exhausted.filter(({ candidate }) => !possiblyReached.has(candidate.candidate_id))
  await recordTransitions(
    tx,
    deps.clock,
    unreached.map(({ candidate, failed }) => {
      return {
        before: candidate,
        end: { status: 'failed', reason: 'unreachable' },
        refund: true,
        channels: failures(failed),
        calls: failedCalls(failed),
      }
    }),
  )
  const waiting = exhausted.filter(({ candidate }) => possiblyReached.has(candidate.candidate_id))
  await countFailures(tx, deps, waiting)
  await scheduleNextContact(tx, deps, waiting)
}

/** Returns the earliest due time of contacts, simulated replies and lost sends, in epoch milliseconds. It may be in the past. */
export async function nextContactDue(queries: Queries): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select least((select min(due_at) from contacts where due_at is not null and not held),
      (select min(due_at) from simulator_turns),
      (select min(leased_until) from messages where state = 'sending')) as due`.execute(queries)
  return rows[0]!.due?.getTime()
}
