import { sql } from 'kysely'
import type { Keyring } from '../../access/keyring.ts'
import {
  claimDueReplies,
  delayReplies,
  deleteReplies,
  type ReplyFilter,
} from '../../channels/simulator/pending-replies.ts'
import { simulatedReply, simulatedSeconds } from '../../channels/simulator/simulated-reply.ts'
import { behaviourOf } from '../../channels/simulator/test-script.ts'
import { advance, type ReplyOutcome } from '../../conversation/conversation.ts'
import type { ConversationInput } from '../../conversation/reply-meaning.ts'
import type { ConversationState } from '../../conversation/state.ts'
import type { Tx } from '../../platform/database/database.ts'
import { isOptOutReply } from '../../questions/prompts.ts'
import { withLockedClock } from '../../test-clocks/test-clocks.ts'
import { type Candidacy, lockAvailableCandidacies } from '../candidacy.ts'
import { findSeenItems } from '../candidate-responses.ts'
import { type CandidateTransition, recordTransitions } from '../progress.ts'
import { hasReached, stagesOf } from '../stages.ts'
import { type ContactDeps, contactDelayMs, declineOptedOut } from './contact.ts'
import { type ConversationChannel, queueMessages, recordReplies } from './messages.ts'
import { lockCandidatesWithSameAddress, recordOptOut } from './opt-outs.ts'
import { scheduleRequestedContacts, withContactTime } from './requested-contacts.ts'

export interface Reply {
  channel: ConversationChannel
  input: ConversationInput
  /** The ID from the provider or the page, used to ignore duplicates. */
  providerId?: string | undefined
  /** Whether the reply was given in a call: the response is spoken there and not sent. */
  inCall?: boolean
  /** The time that a test number claims to have needed. */
  seconds?: number
}

interface CandidateReply {
  candidate: Candidacy
  reply: Reply
}

/** Time after the last reply until an unfinished conversation expires. */
const INACTIVITY_TIMEOUT_HOURS = 72

export function isOptOut(input: ConversationInput): boolean {
  if (input.kind !== 'reply') return input.kind === 'stop'
  return input.value === 'stop' || (input.text !== undefined && isOptOutReply(input.text))
}

/** Handles one reply of a locked candidate and returns the updated candidate. */
export async function handleReply(tx: Tx, deps: ContactDeps, candidate: Candidacy, reply: Reply): Promise<Candidacy> {
  // The data of an erased or restricted person are not processed, except for an opt-out.
  if (candidate.person_key === null || (candidate.is_restricted && !isOptOut(reply.input))) return candidate
  const ownDeps = await withLockedClock(tx, deps, candidate)
  const [updatedCandidate] = await handleReplies(tx, ownDeps, [{ candidate, reply }])
  return updatedCandidate!
}

/** Handles replies of different candidates: stores them, advances the conversations and queues the responses. */
async function handleReplies(tx: Tx, deps: ContactDeps, candidateReplies: CandidateReply[]): Promise<Candidacy[]> {
  const { clock } = deps
  const isNew = await recordReplies(
    tx,
    clock,
    candidateReplies.map(({ candidate, reply: { channel, input, providerId } }) => ({
      candidate,
      channel,
      providerId,
      ...contentOf(input),
    })),
  )
  const newReplies = await withSeenItems(
    tx,
    candidateReplies.filter((_, index) => isNew[index]),
  )
  const processedReplies = newReplies.map(({ candidate, reply }) => ({
    candidate,
    reply,
    outcome: replyOutcome({ candidate, reply }, clock.now()),
  }))
  const optedOutCandidates = processedReplies.filter(({ outcome }) => outcome.stop).map(({ candidate }) => candidate)
  for (const candidate of optedOutCandidates) await recordOptOut(tx, clock, candidate)
  const sameAddressCandidates = await lockCandidatesWithSameAddress(
    tx,
    optedOutCandidates,
    candidateReplies.map(({ candidate }) => candidate.candidate_id),
  )
  // A conversation that has ended for another reason stays ended.
  const effectiveReplies = processedReplies.filter(
    ({ candidate, outcome }) => candidate.status === 'pending' && hasEffect(candidate, outcome),
  )
  const time = new Date(clock.now())
  const updatedCandidates = await recordTransitions(tx, clock, [
    ...effectiveReplies.map((processedReply) => transitionFor(processedReply, time)),
    ...sameAddressCandidates.map(declineOptedOut),
  ])
  await rescheduleContacts(tx, deps, updatedCandidates, effectiveReplies)
  await queueMessages(
    tx,
    clock,
    effectiveReplies.flatMap(({ reply, outcome }, index) =>
      outcome.prompts.length > 0
        ? [
            {
              candidate: updatedCandidates[index]!,
              channel: reply.channel,
              prompts: outcome.prompts,
              inCall: reply.inCall === true,
            },
          ]
        : [],
    ),
  )
  const updatedById = new Map(updatedCandidates.map((updated) => [updated.candidate_id, updated]))
  return candidateReplies.map(({ candidate }) => updatedById.get(candidate.candidate_id) ?? candidate)
}

/** Adds the items that candidates have been asked before, until the items of this conversation are drawn. */
async function withSeenItems(tx: Tx, candidateReplies: CandidateReply[]): Promise<CandidateReply[]> {
  const beforeDraw = candidateReplies.filter(
    ({ candidate: { state, flow } }) => state.point.at === 'consent' && flow.skills.length > 0,
  )
  if (beforeDraw.length === 0) return candidateReplies
  const seenItems = await findSeenItems(
    tx,
    beforeDraw.map(({ candidate }) => candidate),
  )
  return candidateReplies.map((entry) => {
    const seen = seenItems.get(entry.candidate.candidate_id)
    if (!seen) return entry
    return { ...entry, candidate: { ...entry.candidate, state: { ...entry.candidate.state, seenItems: seen } } }
  })
}

function replyOutcome({ candidate, reply: { input, channel, seconds } }: CandidateReply, now: number): ReplyOutcome {
  return withContactTime(candidate, advance(candidate.state, candidate.flow, input, { now, channel, seconds }), now)
}

/** Returns false for replies that must not change the result, such as a reply to an earlier question. */
function hasEffect({ state, stages }: Candidacy, outcome: ReplyOutcome) {
  return outcome.state !== state || outcome.prompts.length > 0 || !hasReached(stages, 'responded')
}

function contentOf(input: ConversationInput): { value?: string | undefined; text?: string | undefined } {
  if (input.kind === 'reply') return { value: input.value, text: input.text }
  return { value: input.kind === 'language' ? input.language : input.kind }
}

interface ProcessedReply {
  candidate: Candidacy
  reply: Reply
  outcome: ReplyOutcome
}

function transitionFor({ candidate: before, reply, outcome }: ProcessedReply, time: Date): CandidateTransition {
  const { state } = outcome
  const channel = reply.channel === 'page' ? before.channel : reply.channel
  const isFirstReply = !hasReached(before.stages, 'responded')
  const finalState = outcome.ending ? { end: endOf(state) } : {}
  return {
    before,
    changes: {
      state,
      stages: before.stages | stagesOf(state, before.flow),
      channel,
      started_at: before.started_at ?? time,
    },
    // Only the first reply is counted.
    channels: isFirstReply && channel ? [{ channel, event: 'replied' }] : [],
    followUps: isFirstReply && before.contact_step ? [{ followUpNumber: before.contact_step, event: 'replied' }] : [],
    ...finalState,
  }
}

function endOf({ ending }: ConversationState): NonNullable<CandidateTransition['end']> {
  if (ending === 'refused' || ending === 'stopped') return { status: 'declined', reason: ending }
  return { status: 'completed', reason: null }
}

/**
 * After a reply, cancels the follow-ups and schedules the contact that the candidate asked for, or the expiry of the conversation. A
 * contact that was agreed before stays scheduled until the candidate answers a question.
 */
async function rescheduleContacts(
  tx: Tx,
  deps: ContactDeps,
  candidates: Candidacy[],
  replies: ProcessedReply[],
): Promise<void> {
  const requestingIds = new Set(
    replies.filter(({ outcome }) => outcome.contactAgain).map(({ candidate }) => candidate.candidate_id),
  )
  const requestingCandidates = candidates.filter(({ candidate_id }) => requestingIds.has(candidate_id))
  const otherCandidates = candidates.filter(
    ({ candidate_id, state }) => !requestingIds.has(candidate_id) && state.contactAt === undefined,
  )
  await scheduleExpiry(tx, deps, otherCandidates)
  await scheduleRequestedContacts(tx, requestingCandidates)
}

async function scheduleExpiry(tx: Tx, { clock }: ContactDeps, candidates: Candidacy[]) {
  const pendingCandidates = candidates.filter(({ status }) => status === 'pending')
  if (pendingCandidates.length === 0) return
  const now = clock.now()
  await sql`update contacts c set kind = 'give_up', requested = false, due_at = n.due_at
    from unnest(${pendingCandidates.map(({ candidate_id }) => candidate_id)}::text[],
      ${pendingCandidates.map((candidate) => new Date(now + contactDelayMs(candidate, INACTIVITY_TIMEOUT_HOURS)))}::timestamptz[]) as n (candidate_id, due_at)
    where c.candidate_id = n.candidate_id`.execute(tx)
  await sql`update messages set state = 'dropped', updated_at = ${new Date(now)}
    where candidate_id = any (${pendingCandidates.map(({ candidate_id }) => candidate_id)}) and state = 'queued'
      and contact_step is not null`.execute(tx)
}

/** Sends the due replies of simulated candidates, up to `limit`, and returns how many were due. */
export async function sendSimulatedReplies(
  tx: Tx,
  deps: ContactDeps & { keyring: Pick<Keyring, 'isServicePaused'> },
  limit: number,
  filter: ReplyFilter = {},
): Promise<number> {
  const dueReplies = await claimDueReplies(tx, deps.clock, limit, filter)
  if (dueReplies.length === 0) return 0
  const stepByCandidateId = new Map(dueReplies.map((reply) => [reply.candidate_id, reply.conversation_step]))
  const candidates = await lockAvailableCandidacies(tx, [...stepByCandidateId.keys()])
  // In a paused campaign or organisation, and for restricted people, the replies of test numbers are delayed.
  const isPaused = ({ hold, org_id, is_restricted }: Candidacy) =>
    hold === 'paused' || is_restricted || deps.keyring.isServicePaused(org_id)
  await delayReplies(
    tx,
    deps.clock,
    candidates.filter(isPaused).map(({ candidate_id }) => candidate_id),
  )
  const activeCandidates = candidates.filter((candidate) => !isPaused(candidate))
  // Delete the scheduled replies first, because handling them may schedule new ones.
  await deleteReplies(
    tx,
    activeCandidates.map(({ candidate_id }) => candidate_id),
  )
  const replies = activeCandidates.flatMap((candidate) => {
    const behaviour = behaviourOf(candidate)
    if (!behaviour || !candidate.channel || candidate.state.step !== stepByCandidateId.get(candidate.candidate_id))
      return []
    const input = simulatedReply(behaviour, candidate.state, candidate.flow, candidate.contact_step ?? 0)
    return input
      ? [{ candidate, reply: { channel: candidate.channel, input, seconds: simulatedSeconds(candidate.state) } }]
      : []
  })
  if (replies.length > 0) await handleReplies(tx, deps, replies)
  return dueReplies.length
}
