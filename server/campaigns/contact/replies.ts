import { sql } from 'kysely'
import { claimTurns, delayTurns, endTurns } from '../../channels/simulator/pending-replies.ts'
import { replyOf } from '../../channels/simulator/personas.ts'
import { partOf } from '../../channels/simulator/test-numbers.ts'
import { type Outcome, type State, step } from '../../conversation/conversation.ts'
import type { Input } from '../../conversation/reply-meaning.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type Candidacy, lockIdle } from '../candidacy.ts'
import { recordSteps, type Step } from '../progress.ts'
import { hasReached, stagesOf } from '../stages.ts'
import { declineStopped, type Surroundings, waitOf } from './contact.ts'
import { hear, type Place, say } from './messages.ts'
import { keepStop, lockNamesakes } from './opt-outs.ts'

export interface Reply {
  channel: Place
  input: Input
  /** The provider's or the page's name for the message: the same one again does nothing. */
  providerId?: string | undefined
  /** It was said in a call that goes on: the answer is spoken there, and nothing is sent. */
  inCall?: boolean
}

/** After so many hours of silence in the middle of a conversation it is over. */
const SILENCE = 72

/** One reply of a candidate whom the transaction has locked; answers the candidate as it is afterwards. */
export async function handleReply(
  tx: Tx,
  around: Surroundings,
  candidate: Candidacy,
  reply: Reply,
): Promise<Candidacy> {
  const [after] = await handleReplies(tx, around, [{ candidate, reply }])
  return after!
}

/** Replies of different candidates at once: each is written down, moves its conversation on, and is answered. */
export async function handleReplies(
  tx: Tx,
  around: Surroundings,
  list: { candidate: Candidacy; reply: Reply }[],
): Promise<Candidacy[]> {
  const { clock } = around
  const fresh = await hear(
    tx,
    clock,
    list.map(({ candidate, reply: { channel, input, providerId } }) => ({
      candidate,
      channel,
      providerId,
      ...saidIn(input),
    })),
  )
  const heard = list
    .filter((_, index) => fresh[index])
    .map((one) => ({ ...one, outcome: step(one.candidate.state, one.candidate.flow, one.reply.input) }))
  const stopped = heard.filter(({ outcome }) => outcome.stop).map(({ candidate }) => candidate)
  for (const candidate of stopped) await keepStop(tx, clock, candidate)
  const namesakes = await lockNamesakes(
    tx,
    stopped,
    list.map(({ candidate }) => candidate.candidate_id),
  )
  // A conversation that is over for another reason stays over, whatever is said afterwards.
  const open = heard.filter(({ candidate, outcome }) => candidate.status === 'pending' && isNews(candidate, outcome))
  const time = new Date(clock.now())
  const after = await recordSteps(tx, clock, [
    ...open.map((one) => stepOf(one, time)),
    ...namesakes.map(declineStopped),
  ])
  await waitForMore(tx, around, after)
  await say(
    tx,
    clock,
    open.flatMap(({ reply, outcome }, index) =>
      outcome.prompts.length > 0
        ? [
            {
              candidate: after[index]!,
              channel: reply.channel,
              prompts: outcome.prompts,
              spoken: reply.inCall === true,
            },
          ]
        : [],
    ),
  )
  const changed = new Map(after.map((one) => [one.candidate_id, one]))
  return list.map(({ candidate }) => changed.get(candidate.candidate_id) ?? candidate)
}

/** A reply that changes nothing, such as one to an earlier question, leaves no trace in the result. */
function isNews({ state, stages }: Candidacy, outcome: Outcome) {
  return outcome.state !== state || outcome.prompts.length > 0 || !hasReached(stages, 'responded')
}

function saidIn(input: Input): { value?: string | undefined; text?: string | undefined } {
  if (input.kind === 'reply') return { value: input.value, text: input.text }
  return { value: input.kind === 'language' ? input.language : input.kind }
}

interface Answered {
  candidate: Candidacy
  reply: Reply
  outcome: Outcome
}

function stepOf({ candidate: before, reply, outcome }: Answered, time: Date): Step {
  const { state } = outcome
  const channel = reply.channel === 'page' ? before.channel : reply.channel
  const first = !hasReached(before.stages, 'responded')
  const end = outcome.ending ? { end: endOf(state) } : {}
  return {
    before,
    now: {
      state,
      stages: before.stages | stagesOf(state, before.flow),
      channel,
      started_at: before.started_at ?? time,
    },
    // Counted once, for the message that was answered.
    channels: first && channel ? [{ channel, what: 'replied' }] : [],
    followUps: first && before.contact_step ? [{ step: before.contact_step, what: 'replied' }] : [],
    ...end,
  }
}

function endOf({ ending }: State): NonNullable<Step['end']> {
  if (ending === 'refused' || ending === 'stopped') return { status: 'declined', reason: ending }
  return { status: 'completed', reason: null }
}

/** Follow-ups stop at the first reply; from there on it is silence that is waited out. */
async function waitForMore(tx: Tx, { clock }: Surroundings, candidates: Candidacy[]) {
  const pending = candidates.filter(({ status }) => status === 'pending')
  if (pending.length === 0) return
  const now = clock.now()
  await sql`update contacts c set kind = 'give_up', due_at = n.due_at
    from unnest(${pending.map(({ candidate_id }) => candidate_id)}::text[],
      ${pending.map((one) => new Date(now + waitOf(one, SILENCE)))}::timestamptz[]) as n (candidate_id, due_at)
    where c.candidate_id = n.candidate_id`.execute(tx)
  await sql`update messages set state = 'dropped', updated_at = ${new Date(now)}
    where candidate_id = any (${pending.map(({ candidate_id }) => candidate_id)}) and state = 'queued'
      and contact_step is not null`.execute(tx)
}

/** Lets the test numbers answer whose turn it is; answers how many there were. */
export async function playTurns(tx: Tx, around: Surroundings, limit: number): Promise<number> {
  const turns = await claimTurns(tx, around.clock, limit)
  if (turns.length === 0) return 0
  const asked = new Map(turns.map((turn) => [turn.candidate_id, turn.conversation_step]))
  const found = await lockIdle(tx, [...asked.keys()])
  // While their campaign is paused they wait as everybody does.
  await delayTurns(
    tx,
    around.clock,
    found.filter(({ hold }) => hold === 'paused').map(({ candidate_id }) => candidate_id),
  )
  const idle = found.filter(({ hold }) => hold !== 'paused')
  // Before the answers: each may bring the next turn.
  await endTurns(
    tx,
    idle.map(({ candidate_id }) => candidate_id),
  )
  const replies = idle.flatMap((candidate) => {
    const part = partOf(candidate.phone)
    if (!part || !candidate.channel || candidate.state.step !== asked.get(candidate.candidate_id)) return []
    const input = replyOf(part, candidate.state, candidate.flow, candidate.contact_step ?? 0)
    return input ? [{ candidate, reply: { channel: candidate.channel, input } }] : []
  })
  if (replies.length > 0) await handleReplies(tx, around, replies)
  return turns.length
}
