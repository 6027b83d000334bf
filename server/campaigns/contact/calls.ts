import { sql } from 'kysely'
import { keyMeaning, spokenQuestion } from '../../channels/call-keys.ts'
import { addressField } from '../../channels/channel.ts'
import { availableChannels } from '../../channels/credentials.ts'
import type { CallAnswer, CallTurn, InboundHandler } from '../../channels/inbound.ts'
import { questionIn } from '../../channels/message-text.ts'
import type { Context } from '../../context.ts'
import { currentPrompts, MAX_MISSES, type Prompt } from '../../conversation/conversation.ts'
import type { RenderedPrompt } from '../../conversation/render.ts'
import type { ConversationInput } from '../../conversation/reply-meaning.ts'
import type { Tx } from '../../platform/database/database.ts'
import type { Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'
import { getWorkflow } from '../../workflows/workflows.ts'
import { type Candidacy, lockCandidacy } from '../candidacy.ts'
import type { ContactDeps } from './contact.ts'
import { currentQuestion, renderAll } from './current-question.ts'
import { queueMessages } from './messages.ts'
import { handleReply } from './replies.ts'
import { contactNotice } from './requested-contacts.ts'

type CallDeps = ContactDeps & Pick<Context, 'keyring'>

/** The progress of a call that accepts only keys. Its provider requests the questions and reports the keys separately. */
interface CallProgress {
  /** Number of answers. */
  answers: number
  /** Step of the question that was asked and has no answer yet. */
  askedStep?: number
  /** Whether the last answer was not understood. */
  wasMisunderstood?: boolean
}

/** Handles the turns of calls. A call ends if its organisation is paused. */
export function createCallHandler(deps: CallDeps): Pick<InboundHandler, 'turn' | 'keypadQuestion' | 'keypadAnswer'> {
  return {
    async turn(tx, orgId, messageId, answer) {
      const call = await lockCall(tx, orgId, messageId)
      if (!call) return undefined
      const { candidate } = call
      if (deps.keyring.isServicePaused(orgId)) return pausedTurn(candidate)
      if (!answer) return turnOf(candidate, currentPrompts(candidate.state, candidate.flow), true)
      return (await applyAnswer(tx, candidate, answer)).turn
    },
    async keypadQuestion(tx, orgId, messageId, languages) {
      const call = await lockCall(tx, orgId, messageId)
      if (!call) return undefined
      const { candidate, progress } = call
      if (deps.keyring.isServicePaused(orgId)) return pausedTurn(candidate)
      const turn = keypadTurn(candidate, progress)
      const question = turn.isOver ? undefined : questionIn(turn.prompts)
      if (!question) return turn
      if (!isForKeys(question, languages)) return continueInWriting(tx, candidate, messageId, turn)
      await saveProgress(tx, messageId, { ...progress, askedStep: question.step })
      return turn
    },
    async keypadAnswer(tx, orgId, messageId, languages, { callId, digits }) {
      const call = await lockCall(tx, orgId, messageId)
      if (!call) return false
      const { candidate, progress } = call
      if (deps.keyring.isServicePaused(orgId)) return true
      const { answers, askedStep: step } = progress
      // A repeated request, or keys during the last words of the call.
      if (step === undefined) return canContinue(keypadTurn(candidate, progress), languages)
      const providerId = `${callId}/${step}/${answers}`
      const answer = { providerId, step, languages, ...(digits === undefined ? {} : { digits }) }
      const { turn, wasMisunderstood } = await applyAnswer(tx, candidate, answer)
      await saveProgress(tx, messageId, { answers: answers + 1, wasMisunderstood })
      return turn.prompts.length > 0
    },
  }

  /** Applies an answer and returns the next turn. Without prompts, the turn only ends the call. */
  async function applyAnswer(
    tx: Tx,
    candidateBefore: Candidacy,
    answer: CallAnswer,
  ): Promise<{ turn: CallTurn; wasMisunderstood: boolean }> {
    const { providerId } = answer
    const input = callInput(candidateBefore, answer)
    const candidateAfter = await handleReply(tx, deps, candidateBefore, {
      channel: 'voice',
      providerId,
      input,
      inCall: true,
    })
    const { step, point, misses } = candidateAfter.state
    const wasMisunderstood = misses > candidateBefore.state.misses
    // The call ends once another contact is agreed; a duplicate of the answer ends it too.
    const notice = contactNotice(candidateAfter, deps.clock.now())
    if (notice.length > 0 && answer.step < step)
      return { turn: { ...turnOf(candidateAfter, notice, false), isOver: true }, wasMisunderstood }
    const apology: Prompt[] = wasMisunderstood ? [{ kind: 'not_understood', step, point }] : []
    // Text channels ignore further replies that are not understood; a call ends instead.
    if (
      input.kind === 'reply' &&
      candidateBefore.state.misses === MAX_MISSES &&
      misses === MAX_MISSES &&
      answer.step === step
    )
      return { turn: { ...turnOf(candidateAfter, [], false), isOver: true }, wasMisunderstood }
    const prompts = [...apology, ...currentPrompts(candidateAfter.state, candidateAfter.flow)]
    return { turn: turnOf(candidateAfter, prompts, false), wasMisunderstood }
  }

  /** Returns the next turn of a call that accepts only keys. The call ends once another contact is agreed. */
  function keypadTurn(candidate: Candidacy, { answers, wasMisunderstood }: CallProgress): CallTurn {
    const { state, flow } = candidate
    const notice = answers > 0 ? contactNotice(candidate, deps.clock.now()) : []
    if (notice.length > 0) return { ...turnOf(candidate, notice, false), isOver: true }
    const { step, point } = state
    const apology: Prompt[] = wasMisunderstood ? [{ kind: 'not_understood', step, point }] : []
    return turnOf(candidate, [...apology, ...currentPrompts(state, flow)], answers === 0)
  }

  /** Sends the current question on the first written channel of the workflow, once, and returns the last turn of the call. */
  async function continueInWriting(tx: Tx, candidate: Candidacy, messageId: string, turn: CallTurn): Promise<CallTurn> {
    const { candidate_id, org_id: orgId, mode, workflow_id, state } = candidate
    const { channels } = await getWorkflow(tx, { orgId, mode }, workflow_id)
    const usableChannels = await availableChannels(tx, orgId, deps.config.smtpUrl !== undefined)
    const channel = channels.find(
      (name) => name !== 'voice' && usableChannels.has(name) && candidate[addressField[name]] !== null,
    )
    const { rows: sentMessages } = await sql`
      select from messages where candidate_id = ${candidate_id} and direction = 'out' and channel <> 'voice'
        and conversation_step = ${state.step} and message_id > ${messageId} limit 1`.execute(tx)
    if (channel && sentMessages.length === 0)
      await queueMessages(tx, deps.clock, [{ candidate, channel, prompts: currentPrompts(state, candidate.flow) }])
    const notices = turn.prompts.slice(0, -1)
    const lastWords = channel ? [noticePrompt(state.step, prompt('call_link', turn.language))] : []
    return { ...turn, prompts: [...notices, ...lastWords], isOver: true }
  }
}

/** Locks the candidate of a call. Returns undefined for an unknown call. */
async function lockCall(
  tx: Tx,
  orgId: string,
  messageId: string,
): Promise<{ candidate: Candidacy; progress: CallProgress } | undefined> {
  const { rows: messages } = await sql<{ candidate_id: string }>`
    select candidate_id from messages where message_id = ${messageId} and org_id = ${orgId} and channel = 'voice'
      and mode = 'live' and direction = 'out' and contact_step is not null`.execute(tx)
  if (!messages[0]) return undefined
  const candidate = (await lockCandidacy(tx, messages[0].candidate_id))!
  const { rows } = await sql<{ call_progress: CallProgress | null }>`
    select call_progress from messages where message_id = ${messageId}`.execute(tx)
  return { candidate, progress: rows[0]?.call_progress ?? { answers: 0 } }
}

async function saveProgress(tx: Tx, messageId: string, progress: CallProgress): Promise<void> {
  await sql`update messages set call_progress = ${JSON.stringify(progress)} where message_id = ${messageId}`.execute(tx)
}

function isForKeys(question: RenderedPrompt, languages: readonly Language[]): boolean {
  return question.kind !== 'words' && spokenQuestion(question, languages).choices.length > 0
}

function canContinue({ isOver, prompts }: CallTurn, languages: readonly Language[]): boolean {
  const question = isOver ? undefined : questionIn(prompts)
  return question !== undefined && isForKeys(question, languages)
}

function turnOf(candidate: Candidacy, prompts: Prompt[], withGreeting: boolean): CallTurn {
  const { state, flow, name, status } = candidate
  const { language } = state
  const greeting = withGreeting
    ? prompt('call_opening', language, { name, company: flow.company_name, title: flow.title })
    : undefined
  const isClosed = status !== 'pending' && state.ending === null // expired or ended by the campaign
  const renderedPrompts = isClosed
    ? [noticePrompt(state.step, prompt('ended', language))]
    : renderAll(candidate, prompts, 'call')
  return { language, greeting, prompts: renderedPrompts, isOver: status !== 'pending' }
}

/** Returns the turn that ends a call because the organisation is paused. */
function pausedTurn({ state: { language, step } }: Candidacy): CallTurn {
  return { language, greeting: undefined, prompts: [noticePrompt(step, prompt('paused', language))], isOver: true }
}

function noticePrompt(step: number, text: string): RenderedPrompt {
  return { step, kind: 'notice', text, choices: [] }
}

function callInput(candidate: Candidacy, { step, digits, speech, languages }: CallAnswer): ConversationInput {
  if (digits === undefined) return { kind: 'reply', step, text: speech ?? '' }
  const question = currentQuestion(candidate)
  const meaning =
    question && question.step === step ? keyMeaning(spokenQuestion(question, languages), digits) : undefined
  if (meaning === 'stop' || meaning === 'repeat') return { kind: meaning }
  return meaning ? { kind: 'reply', step, value: meaning.value } : { kind: 'reply', step, text: digits }
}
