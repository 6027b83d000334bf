import { sql } from 'kysely'
import { claimDueReplies, delayReplies, deleteReplies } from '../../channels/simulator/pending-replies.ts'
import { personaReply } from '../../channels/simulator/personas.ts'
import { personaOf } from '../../channels/simulator/test-numbers.ts'
import { advance, type Outcome } from '../../conversation/conversation.ts'
import type { ConversationInput } from '../../conversation/reply-meaning.ts'
import type { ConversationState } from '../../conversation/state.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type Candidacy, lockAvailableCandidacies } from '../candidacy.ts'
import { type CandidateTransition, recordTransitions } from '../progress.ts'
import { hasReached, stagesOf } from '../stages.ts'
import { type ContactDeps, declineOptedOut, waitMs } from './contact.ts'
import { type ConversationChannel, queueMessages, recordReplies } from './messages.ts'
import { lockSameAddress, recordOptOut } from './opt-outs.ts'

export interface Reply {
  channel: ConversationChannel
  input: ConversationInput
  /** The ID from the provider or the page, used to ignore duplicates. */
  providerId?: string | undefined
  /** Whether the reply was given in a call: the response is spoken there and not sent. */
  inCall?: boolean
}

/** Time after the last reply until an unfinished conversation expires. */
const INACTIVITY_TIMEOUT_HOURS = 72

/** Handles one reply of a locked candidate and returns the updated candidate. */
export async function handleReply(tx: Tx, deps: ContactDeps, candidate: Candidacy, reply: Reply): Promise<Candidacy> {
  const [after] = await handleReplies(tx, deps, [{ candidate, reply }])
  return after!
}

/** Handles replies of different candidates: stores them, advances the conversations and queues the responses. */
async function handleReplies(
  tx: Tx,
  deps: ContactDeps,
  list: { candidate: Candidacy; reply: Reply }[],
): Promise<Candidacy[]> {
  const { clock } = deps
  const isNew = await recordReplies(
    tx,
    clock,
    list.map(({ candidate, reply: { channel, input, providerId } }) => ({
      candidate,
      channel,
      providerId,
      ...contentOf(input),
    })),
  )
  const processed = list
    .filter((_, index) => isNew[index])
    .map((one) => ({ ...one, outcome: advance(one.candidate.state, one.candidate.flow, one.reply.input) }))
  const optedOut = processed.filter(({ outcome }) => outcome.stop).map(({ candidate }) => candidate)
  for (const candidate of optedOut) await recordOptOut(tx, clock, candidate)
  const sameAddress = await lockSameAddress(
    tx,
    optedOut,
    list.map(({ candidate }) => candidate.candidate_id),
  )
  // A conversation that has ended for another reason stays ended.
  const open = processed.filter(
    ({ candidate, outcome }) => candidate.status === 'pending' && hasEffect(candidate, outcome),
  )
  const time = new Date(clock.now())
  const after = await recordTransitions(tx, clock, [
    ...open.map((one) => transitionFor(one, time)),
    ...sameAddress.map(declineOptedOut),
  ])
  await scheduleExpiry(tx, deps, after)
  await queueMessages(
    tx,
    clock,
    open.flatMap(({ reply, outcome }, index) =>
      outcome.prompts.length > 0
        ? [
            {
              candidate: after[index]!,
              channel: reply.channel,
              prompts: outcome.prompts,
              inCall: reply.inCall === true,
            },
          ]
        : [],
    ),
  )
  const changed = new Map(after.map((one) => [one.candidate_id, one]))
  return list.map(({ candidate }) => changed.get(candidate.candidate_id) ?? candidate)
}

/** A reply without an effect, such as one to an earlier question, does not change the result. */
function hasEffect({ state, stages }: Candidacy, outcome: Outcome) {
  return outcome.state !== state || outcome.prompts.length > 0 || !hasReached(stages, 'responded')
}

function contentOf(input: ConversationInput): { value?: string | undefined; text?: string | undefined } {
  if (input.kind === 'reply') return { value: input.value, text: input.text }
  return { value: input.kind === 'language' ? input.language : input.kind }
}

interface ProcessedReply {
  candidate: Candidacy
  reply: Reply
  outcome: Outcome
}

function transitionFor({ candidate: before, reply, outcome }: ProcessedReply, time: Date): CandidateTransition {
  const { state } = outcome
  const channel = reply.channel === 'page' ? before.channel : reply.channel
  const first = !hasReached(before.stages, 'responded')
  const end = outcome.ending ? { end: endOf(state) } : {}
  return {
    before,
    changes: {
      state,
      stages: before.stages | stagesOf(state, before.flow),
      channel,
      started_at: before.started_at ?? time,
    },
    // Counted once, for the first reply.
    channels: first && channel ? [{ channel, what: 'replied' }] : [],
    followUps: first && before.contact_step ? [{ step: before.contact_step, what: 'replied' }] : [],
    ...end,
  }
}

function endOf({ ending }: ConversationState): NonNullable<CandidateTransition['end']> {
  if (ending === 'refused' || ending === 'stopped') return { status: 'declined', reason: ending }
  return { status: 'completed', reason: null }
}

/** Replaces follow-ups by the expiry of the conversation after a reply. */
async function scheduleExpiry(tx: Tx, { clock }: ContactDeps, candidates: Candidacy[]) {
  const pending = candidates.filter(({ status }) => status === 'pending')
  if (pending.length === 0) return
  const now = clock.now()
  await sql`update contacts c set kind = 'give_up', due_at = n.due_at
    from unnest(${pending.map(({ candidate_id }) => candidate_id)}::text[],
      ${pending.map((one) => new Date(now + waitMs(one, INACTIVITY_TIMEOUT_HOURS)))}::timestamptz[]) as n (candidate_id, due_at)
    where c.candidate_id = n.candidate_id`.execute(tx)
  await sql`update messages set state = 'dropped', updated_at = ${new Date(now)}
    where candidate_id = any (${pending.map(({ candidate_id }) => candidate_id)}) and state = 'queued'
      and contact_step is not null`.execute(tx)
}

/** Sends the due replies of test numbers and returns their number. */
export async function answerForTestNumbers(tx: Tx, deps: ContactDeps, limit: number): Promise<number> {
  const due = await claimDueReplies(tx, deps.clock, limit)
  if (due.length === 0) return 0
  const steps = new Map(due.map((reply) => [reply.candidate_id, reply.conversation_step]))
  const found = await lockAvailableCandidacies(tx, [...steps.keys()])
  // Test numbers of paused campaigns wait.
  await delayReplies(
    tx,
    deps.clock,
    found.filter(({ hold }) => hold === 'paused').map(({ candidate_id }) => candidate_id),
  )
  const active = found.filter(({ hold }) => hold !== 'paused')
  // Delete these before handling the replies, which may schedule new ones.
  await deleteReplies(
    tx,
    active.map(({ candidate_id }) => candidate_id),
  )
  const replies = active.flatMap((candidate) => {
    const persona = personaOf(candidate.phone)
    if (!persona || !candidate.channel || candidate.state.step !== steps.get(candidate.candidate_id)) return []
    const input = personaReply(persona, candidate.state, candidate.flow, candidate.contact_step ?? 0)
    return input ? [{ candidate, reply: { channel: candidate.channel, input } }] : []
  })
  if (replies.length > 0) await handleReplies(tx, deps, replies)
  return due.length
}
