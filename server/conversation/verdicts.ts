import { isDeepStrictEqual } from 'node:util'
import { type ConversationFlow, questionPoint, questionsOf } from './flow.ts'
import type { ConversationState } from './state.ts'

/** Minimum share of correct answers that verifies a skill: with three questions, two must be correct. */
const MIN_CORRECT_SHARE = 0.6

export interface SkillVerdict {
  skill_id: string
  name: string
  verdict: 'verified' | 'not_verified' | 'not_asked'
  correct: number
  asked: number
}

/** Returns a verdict per skill. A skill counts as not asked until all its questions are answered. */
export function verdictsOf(state: ConversationState, { skills }: ConversationFlow): SkillVerdict[] {
  return skills.map(({ skill_id, name, items }, index) => {
    const chosenOptions = state.skills[index] ?? []
    const correctCount = chosenOptions.filter((choice, item) => choice === items[item]!.key).length
    const isComplete = items.length > 0 && chosenOptions.length === items.length
    const isPassed = correctCount >= items.length * MIN_CORRECT_SHARE
    return {
      skill_id,
      name,
      verdict: !isComplete ? 'not_asked' : isPassed ? 'verified' : 'not_verified',
      correct: correctCount,
      asked: chosenOptions.length,
    }
  })
}

/** Returns null if the candidate refused, opted out or has not finished: such a candidate is neither qualified nor unqualified. */
export function isQualified(state: ConversationState, flow: ConversationFlow): boolean | null {
  if (state.ending === 'knocked_out') return false
  if (state.ending !== 'completed' && state.ending !== 'not_interested') return null
  if (!flow.methods.includes('skill_verification')) return true
  return verdictsOf(state, flow).every(({ verdict }) => verdict === 'verified')
}

/** Returns the number of answered questions and the total. */
export function progressOf(state: ConversationState, flow: ConversationFlow): { done: number; total: number } {
  const questionPoints = questionsOf(flow)
  const total = questionPoints.length
  const point = questionPoint(state.point)
  if (point.at === 'ended') return { done: total, total }
  const position = questionPoints.findIndex((questionPoint) => isDeepStrictEqual(questionPoint, point))
  return { done: Math.max(0, position), total }
}

/** Returns which parts are finished. A part without questions ends together with the part before it; a knockout ends all parts. */
export function partsDone(state: ConversationState, flow: ConversationFlow) {
  const { at } = questionPoint(state.point)
  const isFinished = state.ending === 'completed' || state.ending === 'knocked_out' || state.ending === 'not_interested'
  // In conversations that were started by earlier versions, consent is step 1, and a conversation without consent ends at step 2.
  const consented = state.consented ?? (isFinished || (at !== 'consent' && at !== 'ended') || state.step > 2)
  const remainingParts = isFinished
    ? []
    : questionsOf(flow)
        .slice(progressOf(state, flow).done)
        .map((question) => question.at)
  const isPartDone = (part: string) =>
    isFinished || (consented && at !== 'ended' && at !== 'language' && !remainingParts.includes(part as never))
  const isEnrichmentDone = isPartDone('enrichment')
  const areSkillsDone = isEnrichmentDone && isPartDone('skills')
  return {
    consented,
    enrichment: isEnrichmentDone,
    skills: areSkillsDone,
    interest: areSkillsDone && isPartDone('interest'),
  }
}
