import type { ConversationFlow } from '../../conversation/flow.ts'
import type { ConversationInput } from '../../conversation/reply-meaning.ts'
import { itemById, responsesOf } from '../../conversation/skill-form.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { progressOf } from '../../conversation/verdicts.ts'
import { KEY } from '../../measurement/form.ts'
import { weighResponses } from '../../measurement/sequential-test.ts'
import { type Behaviour, ignoresMessage, type ScriptedAnswer } from './test-script.ts'

/** Returns the reply of a simulated candidate to the current question; undefined if there is none. */
export function simulatedReply(
  behaviour: Behaviour,
  state: ConversationState,
  flow: ConversationFlow,
  followUpNumber: number,
): ConversationInput | undefined {
  if (state.point.at === 'ended' || behaviour.unreachable || ignoresMessage(behaviour, followUpNumber)) return undefined
  if (state.contactAt !== undefined) return undefined // waits for the contact that was agreed
  const ending = endingOf(behaviour, state, flow)
  if (ending === 'silence') return undefined
  if (ending === 'stop') return { kind: 'reply', text: 'STOP' }
  return { kind: 'reply', step: state.step, ...answerOf(behaviour, state, flow, followUpNumber) }
}

/** The step of the first question. Each reply of a simulated candidate is understood and leads to the next step. */
const FIRST_STEP = 1

function endingOf(
  { endsMidway, silent_after, stop_after }: Behaviour,
  state: ConversationState,
  flow: ConversationFlow,
): Behaviour['endsMidway'] {
  const replyCount = state.step - FIRST_STEP
  if (silent_after !== undefined && replyCount >= silent_after) return 'silence'
  if (stop_after !== undefined && replyCount >= stop_after) return 'stop'
  const { done, total } = progressOf(state, flow)
  const isMidway = state.point.at !== 'consent' && state.point.at !== 'language' && done >= Math.min(1, total - 1)
  return isMidway ? endsMidway : undefined
}

/** The times that simulated candidates claim to need for an answer, in turn. They reply at once, and 0 seconds would look like guessing. */
const SIMULATED_SECONDS = [14, 9, 18, 11, 12]

/** Returns the time that a simulated candidate claims to have needed for the answer to the current question. */
export function simulatedSeconds({ step }: ConversationState): number {
  return SIMULATED_SECONDS[step % SIMULATED_SECONDS.length]!
}

function answerOf(
  behaviour: Behaviour,
  state: ConversationState,
  flow: ConversationFlow,
  followUpNumber: number,
): { value: string } | { text: string } {
  const { point, language } = state
  switch (point.at) {
    case 'consent': {
      const { consent = 'yes', postpone, ignored_messages = 0 } = behaviour
      return { value: postpone && followUpNumber === ignored_messages ? 'later' : consent }
    }
    case 'language':
      return { value: language }
    case 'skill_language':
      return { value: flow.skills[point.skill]!.languages[0]! }
    case 'enrichment':
      return enrichmentAnswer(behaviour, flow.enrichment[point.question]!)
    case 'skills': {
      const options = state.skills[point.skill]![point.item]!.options
      const key = options.indexOf(KEY)
      return { value: String(isWrong(behaviour, state, flow, point) ? (key + 1) % options.length : key) }
    }
    case 'interest':
      return { value: behaviour.interest ?? 'yes' }
    case 'later':
      return { value: behaviour.postpone ?? 'today' }
    case 'ended':
      return { text: '' }
  }
}

function enrichmentAnswer(
  { enrichment = {}, givesKnockoutAnswers = false }: Behaviour,
  { key, type, knockout }: ConversationFlow['enrichment'][number],
): { value: string } | { text: string } {
  const scripted = Object.hasOwn(enrichment, key) ? enrichment[key] : undefined
  if (type === 'voice') return { text: scripted ?? 'I have done this work for three years.' }
  if (scripted !== undefined) return { value: scripted }
  if (givesKnockoutAnswers && knockout) return { value: knockout }
  return { value: knockout === 'yes' ? 'no' : 'yes' }
}

type SkillPoint = Extract<ConversationState['point'], { at: 'skills' }>

function isWrong(behaviour: Behaviour, state: ConversationState, flow: ConversationFlow, point: SkillPoint): boolean {
  const { skill_id } = flow.skills[point.skill]!
  const answers = behaviour.skills?.find((each) => each.skill_id === skill_id)?.answers ?? behaviour.skill_answers
  const answer: ScriptedAnswer = answers?.[point.item] ?? answers?.at(-1) ?? 'correct'
  return answer === 'undecided' ? isWrongAnswerLessDecisive(state, flow, point) : answer === 'wrong'
}

/**
 * Returns whether a wrong answer to the current question leaves the verdict less certain than a right one. A candidate who always
 * gives the less decisive answer gets the verdict `inconclusive`, whatever items are drawn: a right and a wrong answer to an item change
 * the log-likelihood ratio by at most 4.5 together (the distance of the two abilities times the discrimination; less if the item has
 * not been piloted), so that its absolute value stays at or below 2.25, and a verdict needs log 19 = 2.94.
 */
function isWrongAnswerLessDecisive(
  state: ConversationState,
  flow: ConversationFlow,
  { skill, item }: SkillPoint,
): boolean {
  const { difficulty, isUnpiloted = false } = itemById(flow, skill, state.skills[skill]![item]!.id)
  const responses = responsesOf(state, flow, skill)
  const confidenceAfter = (isCorrect: boolean) =>
    weighResponses([...responses, { difficulty, isCorrect, isUnpiloted }]).confidence
  return confidenceAfter(false) < confidenceAfter(true)
}
