import type { State } from './conversation.ts'
import { type ConversationFlow, questionsOf } from './flow.ts'

/** Of a skill's questions, how many must be right: two of three. */
export const PASS_MARK = 0.6

export interface SkillVerdict {
  skill_id: string
  name: string
  verdict: 'verified' | 'not_verified' | 'not_asked'
  correct: number
  asked: number
}

/** A skill whose questions were not all put counts as not asked, whatever was answered so far. */
export function verdictsOf(state: State, { skills }: ConversationFlow): SkillVerdict[] {
  return skills.map(({ skill_id, name, items }, index) => {
    const chosen = state.skills[index] ?? []
    const correct = chosen.filter((choice, item) => choice === items[item]!.key).length
    const whole = items.length > 0 && chosen.length === items.length
    const passed = correct >= items.length * PASS_MARK
    return {
      skill_id,
      name,
      verdict: !whole ? 'not_asked' : passed ? 'verified' : 'not_verified',
      correct,
      asked: chosen.length,
    }
  })
}

/** Null until the conversation has been completed: who declined or fell silent is neither. */
export function isQualified(state: State, flow: ConversationFlow): boolean | null {
  if (state.ending === 'knocked_out') return false
  if (state.ending !== 'completed' && state.ending !== 'not_interested') return null
  if (!flow.methods.includes('skill_verification')) return true
  return verdictsOf(state, flow).every(({ verdict }) => verdict === 'verified')
}

/** Questions answered, of how many. */
export function progressOf(state: State, flow: ConversationFlow): { done: number; total: number } {
  const questions = questionsOf(flow)
  const total = questions.length
  const { point } = state
  if (point.at === 'ended') return { done: total, total }
  const at = questions.findIndex((question) => JSON.stringify(question) === JSON.stringify(point))
  return { done: Math.max(0, at), total }
}

/** Which parts are over. A part that a flow does not have is over as soon as consent is given; a knockout ends them all. */
export function partsDone(state: State, flow: ConversationFlow) {
  const { at } = state.point
  const over = state.ending === 'completed' || state.ending === 'knocked_out' || state.ending === 'not_interested'
  const consented = over || (at !== 'consent' && at !== 'ended') || state.step > 2
  const left = over
    ? []
    : questionsOf(flow)
        .slice(progressOf(state, flow).done)
        .map((question) => question.at)
  const done = (part: string) =>
    over || (consented && at !== 'ended' && at !== 'language' && !left.includes(part as never))
  const enrichment = done('enrichment')
  const skills = enrichment && done('skills')
  return { consented, enrichment, skills, interest: skills && done('interest') }
}
