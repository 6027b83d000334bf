import type { State } from '../../conversation/conversation.ts'
import { type ConversationFlow, questionsOf } from '../../conversation/flow.ts'
import type { Input } from '../../conversation/reply-meaning.ts'
import type { Part } from './test-numbers.ts'

/** What a test number replies where its conversation stands; nothing where its part is to be silent. */
export function replyOf(part: Part, state: State, flow: ConversationFlow, contactStep: number): Input | undefined {
  if (state.point.at === 'ended' || part === 'never_answers' || part === 'unreachable') return undefined
  if (part === 'answers_late' && contactStep === 0) return undefined
  const questions = questionsOf(flow)
  const asked = questions.findIndex((point) => JSON.stringify(point) === JSON.stringify(state.point))
  // In the middle: after the first question, or at it where there is no second one.
  const inTheMiddle = asked >= Math.min(1, questions.length - 1)
  if (part === 'falls_silent' && inTheMiddle) return undefined
  if (part === 'stops' && inTheMiddle) return { kind: 'reply', text: 'STOP' }
  return { kind: 'reply', step: state.step, ...answerOf(part, state, flow) }
}

function answerOf(
  part: Part,
  { point, language }: State,
  flow: ConversationFlow,
): { value: string } | { text: string } {
  switch (point.at) {
    case 'consent':
      return { value: part === 'declines' ? 'no' : 'yes' }
    case 'language':
      return { value: language }
    case 'enrichment': {
      const { type, knockout } = flow.enrichment[point.question]!
      if (type === 'voice') return { text: 'I have done this work for three years.' }
      if (part === 'knocked_out' && knockout) return { value: knockout }
      return { value: knockout === 'yes' ? 'no' : 'yes' }
    }
    case 'skills': {
      const { key } = flow.skills[point.skill]!.items[point.item]!
      return { value: String(part === 'fails_skills' ? (key + 1) % 4 : key) }
    }
    case 'interest':
      return { value: part === 'not_interested' ? 'no' : 'yes' }
    case 'ended':
      return { text: '' }
  }
}
