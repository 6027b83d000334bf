import type { ConversationFlow } from '../../conversation/flow.ts'
import type { ConversationInput } from '../../conversation/reply-meaning.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { progressOf } from '../../conversation/verdicts.ts'
import { KEY } from '../../measurement/form.ts'
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

function answerOf(
  persona: Persona,
  { point, language, skills }: ConversationState,
  flow: ConversationFlow,
): { value: string } | { text: string } {
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
      return { value: String(persona === 'fails_skills' ? (key + 1) % 4 : key) }
    }
    case 'interest':
      return { value: persona === 'not_interested' ? 'no' : 'yes' }
    case 'later':
      return { value: 'today' }
    case 'ended':
      return { text: '' }
  }
}
