import { MIN_ITEMS, roundConfidence, type Verdict, weighResponses } from '../measurement/sequential-test.ts'
import type { Language } from '../platform/text/languages.ts'
import type { ItemSource } from '../questions/skill-items.ts'
import { type ConversationFlow, questionPoint } from './flow.ts'
import { isSkillDone, responsesOf } from './skill-form.ts'
import type { ConversationState } from './state.ts'

/** Minimum share of correct answers that verified a skill in flows of earlier versions: with three questions, two. */
const MIN_CORRECT_SHARE = 0.6

export interface SkillVerdict {
  skill_id: string
  name: string
  verdict: Verdict | 'not_asked'
  correct: number
  asked: number
  /** Probability that the verdict is right; null without a verdict. */
  confidence: number | null
  evidence: SkillEvidence | null
}

interface SkillEvidence {
  item_source: ItemSource
  language: Language
  items: number
  /** Number of items that too few people have answered to know how good they are. */
  unpiloted_items: number
  median_seconds: number | null
}

/** Returns a verdict per skill. A skill counts as not asked until all its questions are answered. */
export function verdictsOf(state: ConversationState, flow: ConversationFlow): SkillVerdict[] {
  return flow.skills.map(({ skill_id, name, source, fixedForm }, index) => {
    const responses = responsesOf(state, flow, index)
    const correct = responses.filter(({ isCorrect }) => isCorrect).length
    const counts = { skill_id, name, correct, asked: responses.length }
    if (!isSkillDone(state, flow, index))
      return { ...counts, verdict: 'not_asked' as const, confidence: null, evidence: null }
    if (fixedForm) {
      const isPassed = correct >= fixedForm.length * MIN_CORRECT_SHARE
      return { ...counts, verdict: isPassed ? 'verified' : 'not_verified', confidence: null, evidence: null }
    }
    const { verdict, confidence } = weighResponses(responses)
    return {
      ...counts,
      verdict,
      confidence: roundConfidence(confidence),
      evidence: {
        item_source: source,
        ...evidenceOf(state, index),
        unpiloted_items: responses.filter(({ isUnpiloted }) => isUnpiloted).length,
      },
    }
  })
}

function evidenceOf({ skills, language }: ConversationState, skill: number) {
  const scoredItems = skills[skill]!.filter(({ pilot }) => !pilot)
  const seconds = scoredItems.flatMap((item) => item.seconds ?? []).sort((first, second) => first - second)
  return {
    language: scoredItems.at(-1)?.language ?? language,
    items: scoredItems.length,
    median_seconds: seconds[Math.floor(seconds.length / 2)] ?? null,
  }
}

/** Why a candidate is not qualified, or why it is unknown. */
export type QualificationReason =
  | { kind: 'knockout'; key: string }
  | { kind: 'knockout_skipped'; key: string }
  | { kind: 'skill_not_verified'; skill_id: string }
  | { kind: 'skill_inconclusive'; skill_id: string }

/** Returns the reasons why a candidate who finished is not known to be qualified. */
export function qualificationReasons(state: ConversationState, flow: ConversationFlow): QualificationReason[] {
  if (!isFinished(state)) return []
  const knockouts = state.enrichment.flatMap((answer, index): QualificationReason[] => {
    const { key, knockout } = flow.enrichment[index]!
    if (knockout === undefined) return []
    if (answer === null) return [{ kind: 'knockout_skipped', key }]
    return knockout === answer ? [{ kind: 'knockout', key }] : []
  })
  if (!flow.methods.includes('skill_verification')) return knockouts
  const skillReasons = verdictsOf(state, flow).flatMap(({ verdict, skill_id }): QualificationReason[] => {
    if (verdict === 'not_verified') return [{ kind: 'skill_not_verified', skill_id }]
    return verdict === 'inconclusive' ? [{ kind: 'skill_inconclusive', skill_id }] : []
  })
  return [...knockouts, ...skillReasons]
}

/**
 * Returns whether the candidate is qualified: false after a knockout answer or if a skill is not verified. Null if the candidate did
 * not finish or skipped a knockout question, if a verdict is inconclusive, or if skills are to be verified and none was.
 */
export function isQualified(state: ConversationState, flow: ConversationFlow): boolean | null {
  if (!isFinished(state)) return null
  const reasons = qualificationReasons(state, flow)
  if (reasons.some(({ kind }) => kind === 'knockout' || kind === 'skill_not_verified')) return false
  if (reasons.length > 0) return null
  if (!flow.methods.includes('skill_verification')) return true
  const verdicts = verdictsOf(state, flow)
  return verdicts.length > 0 && verdicts.every(({ verdict }) => verdict === 'verified') ? true : null
}

/** Returns whether the candidate got to the end, or was knocked out. */
export function isFinished({ ending }: ConversationState): boolean {
  return ending === 'completed' || ending === 'knocked_out' || ending === 'not_interested'
}

/** Mean number of items about a skill, as measured by `npm run bench -- verdicts`. */
const EXPECTED_ITEMS = 5

/** Returns how many questions a candidate is expected to be asked. */
export function expectedQuestionCount({ methods, enrichment, skills, interest }: ConversationFlow): number {
  const itemCount = (fixedForm: unknown[] | undefined) => fixedForm?.length ?? EXPECTED_ITEMS
  return (
    (methods.includes('data_enrichment') ? enrichment.length : 0) +
    (methods.includes('skill_verification')
      ? skills.reduce((sum, { fixedForm }) => sum + itemCount(fixedForm), 0)
      : 0) +
    (interest && methods.includes('interest_collection') ? 1 : 0)
  )
}

/** Returns the number of answered questions and the expected total. */
export function progressOf(state: ConversationState, flow: ConversationFlow): { done: number; total: number } {
  const answeredItems = state.skills.map((form) => form.filter(({ choice }) => choice !== undefined).length)
  const answeredItemCount = answeredItems.reduce((sum, count) => sum + count, 0)
  const done = state.enrichment.length + answeredItemCount + (state.interest === null ? 0 : 1)
  if (state.point.at === 'ended') return { done, total: done }
  const remainingItems = flow.skills.map((_, skill) => {
    const answered = answeredItems[skill] ?? 0
    if (isSkillDone(state, flow, skill)) return 0
    return Math.max(1, (state.skills[skill]?.length ?? MIN_ITEMS) - answered)
  })
  const { methods, enrichment, interest } = flow
  const remaining =
    (methods.includes('data_enrichment') ? enrichment.length - state.enrichment.length : 0) +
    (methods.includes('skill_verification') ? remainingItems.reduce((sum, count) => sum + count, 0) : 0) +
    (interest && methods.includes('interest_collection') ? 1 : 0)
  return { done, total: done + remaining }
}

/** Returns which parts are finished. A part without questions ends together with the part before it; a knockout ends all parts. */
export function partsDone(state: ConversationState) {
  const { at } = questionPoint(state.point)
  const finished = isFinished(state)
  // In conversations that were started by earlier versions, consent is step 1, and a conversation without consent ends at step 2.
  const consented = state.consented ?? (finished || (at !== 'consent' && at !== 'ended') || state.step > 2)
  const isUnderWay = consented && at !== 'ended' && at !== 'language'
  const isEnrichmentDone = finished || (isUnderWay && at !== 'enrichment')
  const areSkillsDone = finished || (isEnrichmentDone && at !== 'skills' && at !== 'skill_language')
  return {
    consented,
    enrichment: isEnrichmentDone,
    skills: areSkillsDone,
    interest: finished || (areSkillsDone && at !== 'interest'),
  }
}
