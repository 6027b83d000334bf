import { asking, type Prompt, type State } from './conversation.ts'
import { type ConversationFlow, type Point, questionsOf } from './flow.ts'

/**
 * The questions that come next whatever is answered now, with the steps that they will have: whoever has them at hand can go on
 * without a connection. A question that may end the conversation is the last of them; before consent there is none.
 */
export function aheadOf(state: State, flow: ConversationFlow): Prompt[] {
  const questions = questionsOf(flow)
  const at = questions.findIndex((point) => nameOf(point) === nameOf(state.point))
  if (at < 0) return []
  const prompts: Prompt[] = []
  for (let next = at + 1; next < questions.length && !mayEnd(questions[next - 1]!, flow); next++)
    prompts.push(...asking({ ...state, point: questions[next]!, step: state.step + next - at }, flow))
  return prompts
}

function mayEnd(point: Point, flow: ConversationFlow): boolean {
  if (point.at === 'enrichment') return flow.enrichment[point.question]!.knockout !== undefined
  return point.at !== 'skills'
}

/** Whether there is an answer before this question that can be taken back. */
export function canGoBack(point: Point, flow: ConversationFlow): boolean {
  if (point.at === 'enrichment') return point.question > 0
  const isFirstItem = point.at === 'skills' && point.skill === 0 && point.item === 0
  return isFirstItem && questionsOf(flow)[0]!.at === 'enrichment'
}

/** The same question has the same name in every language and at whatever step it is put. */
export function nameOf(point: Point): string {
  if (point.at === 'enrichment') return `enrichment.${point.question}`
  return point.at === 'skills' ? `skills.${point.skill}.${point.item}` : point.at
}
