import { sql } from 'kysely'
import type { CallAnswer, CallTurn, InboundReply, Receiver } from '../../channels/inbound.ts'
import { choiceIn, questionIn } from '../../channels/message-text.ts'
import { keyMeaning } from '../../channels/twilio/twiml.ts'
import { asking, MOST_MISSES, type Prompt } from '../../conversation/conversation.ts'
import { type Rendered, render } from '../../conversation/render.ts'
import type { Input } from '../../conversation/reply-meaning.ts'
import type { Tx } from '../../platform/database/database.ts'
import { isStop, prompt } from '../../questions/prompts.ts'
import { type Candidacy, lockCandidacy } from '../candidacy.ts'
import type { Surroundings } from './contact.ts'
import { keepStop } from './opt-outs.ts'
import { handleReply } from './replies.ts'
import { handleStatus } from './statuses.ts'

/** Brings what providers report to the conversations that it belongs to. Only LIVE conversations have providers. */
export function openReceiver(around: Surroundings): Receiver {
  return {
    async reply(tx, orgId, reply) {
      const candidateId = await whoWrote(tx, orgId, reply)
      if (candidateId === undefined) return hearStranger(tx, orgId, reply)
      const candidate = (await lockCandidacy(tx, candidateId))!
      const { channel, providerId } = reply
      await handleReply(tx, around, candidate, { channel, providerId, input: inputOf(candidate, reply) })
    },
    async status(tx, orgId, report) {
      await handleStatus(tx, around, { ...report, orgId })
    },
    turn: (tx, orgId, messageId, answer) => takeTurn(tx, orgId, messageId, answer),
  }

  /** Somebody unknown may ask to be left in peace too. */
  async function hearStranger(tx: Tx, orgId: string, { from, text }: InboundReply) {
    if (isStop(text ?? '')) await keepStop(tx, around.clock, { org_id: orgId, mode: 'live', phone: from, email: null })
  }

  async function takeTurn(
    tx: Tx,
    orgId: string,
    messageId: string,
    answer: CallAnswer | undefined,
  ): Promise<CallTurn | undefined> {
    const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from messages where message_id = ${messageId} and org_id = ${orgId} and channel = 'voice'
        and mode = 'live' and direction = 'out' and contact_step is not null`.execute(tx)
    if (!rows[0]) return undefined
    const before = (await lockCandidacy(tx, rows[0].candidate_id))!
    if (!answer) return turnOf(before, asking(before.state, before.flow), true)
    const { providerId } = answer
    const input = callInput(before, answer)
    const after = await handleReply(tx, around, before, { channel: 'voice', providerId, input, inCall: true })
    const { step, point, misses } = after.state
    const sorry: Prompt[] = misses > before.state.misses ? [{ say: 'not_understood', step, point }] : []
    // Whoever is not understood again and again is met with silence elsewhere, and with a goodbye here.
    if (input.kind === 'reply' && before.state.misses === MOST_MISSES && misses === MOST_MISSES && answer.step === step)
      return { ...turnOf(after, [], false), over: true }
    return turnOf(after, [...sorry, ...asking(after.state, after.flow)], false)
  }
}

function turnOf(candidate: Candidacy, said: Prompt[], greet: boolean): CallTurn {
  const { state, flow, name, status } = candidate
  const { language } = state
  const greeting = greet
    ? prompt('call_opening', language, { name, company: flow.company_name, title: flow.title })
    : undefined
  const closed = status !== 'pending' && state.ending === null // given up or stopped from our side
  const prompts = closed ? [ended(state.step, prompt('ended', language))] : renderAll(candidate, said)
  return { language, greeting, prompts, over: status !== 'pending' }
}

function ended(step: number, text: string): Rendered {
  return { step, kind: 'notice', text, choices: [] }
}

function renderAll(candidate: Candidacy, said: Prompt[]): Rendered[] {
  return said.map((one) => render(one, candidate.state.language, candidate.flow, candidate))
}

function openQuestion(candidate: Candidacy): Rendered | undefined {
  return questionIn(renderAll(candidate, asking(candidate.state, candidate.flow)))
}

/** Which option of the question that stands is meant by these words, or by this number. */
export function chosenBy(candidate: Candidacy, text: string): string | undefined {
  return choiceIn(openQuestion(candidate), text)
}

/** A button names its step; what was written answers the question that stands. */
function inputOf(candidate: Candidacy, { step, value, text }: InboundReply): Input {
  if (value !== undefined) return { kind: 'reply', value, ...(step === undefined ? {} : { step }) }
  const chosen = chosenBy(candidate, text ?? '')
  return chosen === undefined ? { kind: 'reply', text: text ?? '' } : { kind: 'reply', value: chosen }
}

function callInput(candidate: Candidacy, { step, digits, speech }: CallAnswer): Input {
  if (digits === undefined) return { kind: 'reply', step, text: speech ?? '' }
  const question = openQuestion(candidate)
  const meaning = question && question.step === step ? keyMeaning(question, digits) : undefined
  if (meaning === 'stop' || meaning === 'repeat') return { kind: meaning }
  return meaning ? { kind: 'reply', step, value: meaning.value } : { kind: 'reply', step, text: digits }
}

/**
 * Whose reply it is: of whom it was taken for before; of whoever got the message that it answers; else of whoever with that number
 * was written to last, first those who have not ended, and those written to on the same channel.
 */
async function whoWrote(tx: Tx, orgId: string, reply: InboundReply): Promise<string | undefined> {
  const { channel, from, answers, providerId } = reply
  const { rows: before } = await sql<{ candidate_id: string }>`
    select candidate_id from candidates c join messages m using (candidate_id)
    where c.org_id = ${orgId} and c.mode = 'live' and c.phone = ${from} and m.direction = 'in' and m.channel = ${channel}
      and m.provider_id = ${providerId} limit 1`.execute(tx)
  if (before[0]) return before[0].candidate_id
  if (answers !== undefined) {
    const { rows } = await sql<{ candidate_id: string }>`
      select m.candidate_id from messages m join candidates c using (candidate_id)
      where m.channel = ${channel} and m.provider_id = ${answers} and m.direction = 'out' and m.org_id = ${orgId}
        and m.mode = 'live' and c.phone = ${from} limit 1`.execute(tx)
    if (rows[0]) return rows[0].candidate_id
  }
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidates c join candidate_progress p using (candidate_id) left join lateral (
      select max(message_id) filter (where channel = ${channel}) as here, max(message_id) as anywhere from messages m
      where m.candidate_id = c.candidate_id and m.direction = 'out' and m.state not in ('queued', 'dropped')
    ) said on true
    where c.org_id = ${orgId} and c.mode = 'live' and c.phone = ${from}
    order by (p.status = 'pending' and said.anywhere is not null) desc, said.here desc nulls last, said.anywhere desc nulls last, c.candidate_id desc limit 1`.execute(
    tx,
  )
  return rows[0]?.candidate_id
}
