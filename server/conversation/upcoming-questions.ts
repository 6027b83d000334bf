import { currentPrompts, type Prompt } from './conversation.ts'
import { type ConversationFlow, type Point, questionsOf } from './flow.ts'
import type { ConversationState } from './state.ts'

/**
 * Returns the questions that follow regardless of the current answer, with their future steps, so that the page can continue
 * offline. Ends at the first question whose answer may end the conversation; empty before consent.
 */
export function upcomingPrompts(state: ConversationState, flow: ConversationFlow): Prompt[] {
  const questions = questionsOf(flow)
  const position = questions.findIndex((point) => questionId(point) === questionId(state.point))
  if (position < 0) return []
  const prompts: Prompt[] = []
  for (let next = position + 1; next < questions.length && !mayEndConversation(questions[next - 1]!, flow); next++)
    prompts.push(...currentPrompts({ ...state, point: questions[next]!, step: state.step + next - position }, flow))
  return prompts
}

function mayEndConversation(point: Point, flow: ConversationFlow): boolean {
  if (point.at === 'enrichment') return flow.enrichment[point.question]!.knockout !== undefined
  return point.at !== 'skills'
}

/** Whether the candidate can go back from this question and change the previous answer. */
export function canGoBack(point: Point, flow: ConversationFlow): boolean {
  if (point.at === 'later') return true
  if (point.at === 'enrichment') return point.question > 0
  const isFirstItem = point.at === 'skills' && point.skill === 0 && point.item === 0
  return isFirstItem && questionsOf(flow)[0]!.at === 'enrichment'
}

/** Returns an ID of the question that does not depend on its language or step. */
export function questionId(point: Point): string {
  if (point.at === 'enrichment') return `enrichment.${point.question}`
  return point.at === 'skills' ? `skills.${point.skill}.${point.item}` : point.at
}
