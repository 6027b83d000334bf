import { currentPrompts, type Prompt, previousQuestion } from './conversation.ts'
import type { ConversationFlow, Point } from './flow.ts'
import { needsSkillLanguage } from './skill-form.ts'
import type { ConversationState } from './state.ts'

/**
 * Returns the questions that follow regardless of the current answer, with their future steps, so that the page can continue
 * offline. Ends at the first question whose answer may change the next one; empty before consent.
 */
export function upcomingPrompts(state: ConversationState, flow: ConversationFlow): Prompt[] {
  const prompts: Prompt[] = []
  let { point, step } = state
  for (;;) {
    const next = certainNextQuestion(point, state, flow)
    if (!next) return prompts
    point = next
    step++
    prompts.push(...currentPrompts({ ...state, point, step }, flow))
  }
}

/** Returns the question after this one, if it is the same for every answer. */
function certainNextQuestion(point: Point, state: ConversationState, flow: ConversationFlow): Point | undefined {
  const { methods, enrichment, skills, interest } = flow
  if (point.at === 'enrichment') {
    if (enrichment[point.question]!.knockout !== undefined) return undefined
    if (point.question + 1 < enrichment.length) return { at: 'enrichment', question: point.question + 1 }
    if (methods.includes('skill_verification') && skills.length > 0) return firstItem(0, state, flow)
    return interest && methods.includes('interest_collection') ? { at: 'interest' } : undefined
  }
  // After the items that are drawn in advance, the answers decide whether another one follows.
  if (point.at !== 'skills') return undefined
  const isDrawn = point.item + 1 < state.skills[point.skill]!.length
  return isDrawn ? { at: 'skills', skill: point.skill, item: point.item + 1 } : undefined
}

function firstItem(skill: number, state: ConversationState, { skills }: ConversationFlow): Point | undefined {
  const isKnown = state.skills[skill]?.[0] !== undefined && !needsSkillLanguage(state, skills[skill]!)
  return isKnown ? { at: 'skills', skill, item: 0 } : undefined
}

/** Whether the candidate can go back from the question at `point` and change the previous answer. */
export function canGoBack(point: Point, state: ConversationState, flow: ConversationFlow): boolean {
  return point.at === 'later' || previousQuestion({ ...state, point }, flow) !== undefined
}

/** Returns an ID of the question that does not depend on its language or step. */
export function questionId(point: Point): string {
  if (point.at === 'enrichment') return `enrichment.${point.question}`
  return point.at === 'skills' ? `skills.${point.skill}.${point.item}` : point.at
}
