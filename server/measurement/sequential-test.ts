import { type Response, responseProbability } from './model.ts'

/**
 * Decides whether a person has a skill with a sequential probability ratio test (Wald 1945, "Sequential Tests of Statistical
 * Hypotheses"; for item response theory Reckase 1983 and Eggen 1999): the responses are compared under two abilities, that of a person
 * who clearly has the skill and that of a person who clearly does not. The test ends as soon as one of them is 19 times as likely as
 * the other. If such people are equally frequent, and there are no others, at most 1 in 20 verdicts is wrong.
 */

/** The ability of a person who clearly has the skill; the ability of one who clearly does not is its negative. */
export const CLEAR_ABILITY = 1.5
/** The certainty at which a verdict is given. */
export const REQUIRED_CONFIDENCE = 0.95
export const MIN_ITEMS = 4
export const MAX_ITEMS = 8

export type Verdict = 'verified' | 'not_verified' | 'inconclusive'

export interface Evidence {
  /** The verdict of the responses so far. */
  verdict: Verdict
  /**
   * The probability that the verdict is right, if the person either clearly has the skill or clearly does not, and both are equally
   * likely before the test. For `inconclusive`, that of the more likely case.
   */
  confidence: number
}

/** Returns what the responses show about the skill. The order of the responses does not matter. */
export function weighResponses(responses: readonly Response[]): Evidence {
  let logRatio = 0
  for (const response of responses)
    logRatio += Math.log(responseProbability(CLEAR_ABILITY, response) / responseProbability(-CLEAR_ABILITY, response))
  const confidence = 1 / (1 + Math.exp(-Math.abs(logRatio)))
  if (confidence < REQUIRED_CONFIDENCE) return { verdict: 'inconclusive', confidence }
  return { verdict: logRatio > 0 ? 'verified' : 'not_verified', confidence }
}

/** Returns whether another item is needed. `available` is the number of items that can be asked at most. */
export function needsMoreItems(responses: readonly Response[], available = MAX_ITEMS): boolean {
  const maxItems = Math.min(MAX_ITEMS, available)
  if (responses.length >= maxItems) return false
  return responses.length < MIN_ITEMS || weighResponses(responses).verdict === 'inconclusive'
}

/** Rounds down to three decimals: no verdict is certain, and an inconclusive one never seems to have the required certainty. */
export function roundConfidence(confidence: number): number {
  return Math.min(0.999, Math.floor(confidence * 1000) / 1000)
}
