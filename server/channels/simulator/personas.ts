import type { ConversationFlow } from '../../conversation/flow.ts'
import type { ConversationInput } from '../../conversation/reply-meaning.ts'
import { itemById, responsesOf } from '../../conversation/skill-form.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { progressOf } from '../../conversation/verdicts.ts'
import { KEY } from '../../measurement/form.ts'
import { weighResponses } from '../../measurement/sequential-test.ts'
import type { Persona } from './test-numbers.ts'

/** Returns a persona's reply to the current question; undefined if it does not reply. */
export function personaReply(
  persona: Persona,
  state: ConversationState,
  flow: ConversationFlow,
  followUpNumber: number,
): ConversationInput | undefined {
  if (state.point.at === 'ended' || persona === 'never_answers' || persona === 'unreachable') return undefined
  if (persona === 'answers_late' && followUpNumber === 0) return undefined
  // After the first question, or at the first if it is the only one.
  const { done, total } = progressOf(state, flow)
  const isMidway = state.point.at !== 'consent' && state.point.at !== 'language' && done >= Math.min(1, total - 1)
  if (persona === 'falls_silent' && isMidway) return undefined
  if (persona === 'stops' && isMidway) return { kind: 'reply', text: 'STOP' }
  return { kind: 'reply', step: state.step, ...answerOf(persona, state, flow) }
}

/** The times that test numbers claim to need for an answer, in turn. They reply at once, and 0 seconds would look like guessing. */
const SIMULATED_SECONDS = [14, 9, 18, 11, 12]

/** Returns the time that a test number claims to have needed for the answer to the current question. */
export function simulatedSeconds({ step }: ConversationState): number {
  return SIMULATED_SECONDS[step % SIMULATED_SECONDS.length]!
}

function answerOf(
  persona: Persona,
  state: ConversationState,
  flow: ConversationFlow,
): { value: string } | { text: string } {
  const { point, language, skills } = state
  switch (point.at) {
    case 'consent':
      return { value: persona === 'declines' ? 'no' : 'yes' }
    case 'language':
      return { value: language }
    case 'skill_language':
      return { value: flow.skills[point.skill]!.languages[0]! }
    case 'enrichment': {
      const { type, knockout } = flow.enrichment[point.question]!
      if (type === 'voice') return { text: 'I have done this work for three years.' }
      if (persona === 'knocked_out' && knockout) return { value: knockout }
      return { value: knockout === 'yes' ? 'no' : 'yes' }
    }
    case 'skills': {
      const key = skills[point.skill]![point.item]!.options.indexOf(KEY)
      const isWrong =
        persona === 'fails_skills' ||
        (persona === 'inconclusive_skills' && isWrongAnswerLessDecisive(state, flow, point))
      return { value: String(isWrong ? (key + 1) % 4 : key) }
    }
    case 'interest':
      return { value: persona === 'not_interested' ? 'no' : 'yes' }
    case 'later':
      return { value: 'today' }
    case 'ended':
      return { text: '' }
  }
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
  { skill, item }: Extract<ConversationState['point'], { at: 'skills' }>,
): boolean {
  const { difficulty, isUnpiloted = false } = itemById(flow, skill, state.skills[skill]![item]!.id)
  const responses = responsesOf(state, flow, skill)
  const confidenceAfter = (isCorrect: boolean) =>
    weighResponses([...responses, { difficulty, isCorrect, isUnpiloted }]).confidence
  return confidenceAfter(false) < confidenceAfter(true)
}
