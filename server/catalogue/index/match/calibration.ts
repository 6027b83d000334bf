import { isExact, type RankedCandidate, type Similarity } from './candidate.ts'

/**
 * Limits of the lead: the difference between the score of a match and that of the best other match. The only match has the maximum
 * lead.
 */
const MAX_LEAD = 3
const MIN_LEAD = -6

/**
 * Weights of the features of a match that is not exact, in the order of `probabilityFeatures`, and the intercept. They were fitted by
 * `training/vectors/rerank.ts` with phrases from job advertisements that people labelled with a skill.
 */
const WEIGHTS = [1.084, 1.532, 0.081, 0.55, 0.319, 0.727, -3.217]

/** Limits of the lead of an exact match, which is a difference of totals, and coefficients of its logistic regression. */
const MIN_EXACT_LEAD = -0.6
const MAX_EXACT_LEAD = 0.3
const EXACT_INTERCEPT = -2.87
const NAME_OVERLAP_COEFFICIENT = 1.83
const POSITIVE_LEAD_COEFFICIENT = 2.2
const NEGATIVE_LEAD_COEFFICIENT = 3.22
/** Added for an exact name, an exact alias, and the first match. */
const EXACT_NAME_TERM = 1.26
const EXACT_ALIAS_TERM = 1.1
const FIRST_MATCH_TERM = 1.71
/** An exact alias is often correct even if the name has no word in common with the phrase. */
const MIN_NAME_OVERLAP_OF_EXACT_ALIAS = 0.4

/**
 * Returns the features of the probability of a match that is not exact. `bestOther` is the first of the other matches, or the second
 * one for the first match. `rank` is 0 for the first match.
 */
export function probabilityFeatures(
  { candidate, rerankingScore }: RankedCandidate,
  bestOther: RankedCandidate | undefined,
  rank: number,
): number[] {
  const { overlap, nameOverlap, bestCosine } = candidate
  const lead = !bestOther
    ? MAX_LEAD
    : isExact(bestOther.candidate)
      ? MIN_LEAD
      : Math.max(MIN_LEAD, Math.min(MAX_LEAD, rerankingScore - bestOther.rerankingScore))
  return [overlap * overlap, nameOverlap, bestCosine, lead > 0 ? lead : 0, lead > 0 ? 0 : lead, rank === 0 ? 1 : 0]
}

/**
 * Returns the probability that a skill is the correct match for a phrase; of the matches with 0.8, about 80 % are correct. It is a
 * logistic regression. `bench/skill-quality.ts` measures its accuracy.
 */
export function matchProbability(
  ranked: RankedCandidate,
  bestOther: RankedCandidate | undefined,
  rank: number,
  weights: readonly number[] = WEIGHTS,
): number {
  const logit = isExact(ranked.candidate)
    ? exactLogit(ranked.candidate, bestOther?.candidate, rank)
    : probabilityFeatures(ranked, bestOther, rank).reduce(
        (sum, feature, i) => sum + feature * weights[i]!,
        weights.at(-1)!,
      )
  return 1 / (1 + Math.exp(-logit))
}

function exactLogit(
  { total, nameOverlap, method }: Similarity,
  bestOther: Similarity | undefined,
  rank: number,
): number {
  const lead = bestOther ? Math.max(MIN_EXACT_LEAD, Math.min(MAX_EXACT_LEAD, total - bestOther.total)) : MAX_EXACT_LEAD
  const countedNameOverlap = method === 'alias' ? Math.max(nameOverlap, MIN_NAME_OVERLAP_OF_EXACT_ALIAS) : nameOverlap
  return (
    EXACT_INTERCEPT +
    NAME_OVERLAP_COEFFICIENT * countedNameOverlap +
    (lead > 0 ? POSITIVE_LEAD_COEFFICIENT : NEGATIVE_LEAD_COEFFICIENT) * lead +
    (method === 'exact' ? EXACT_NAME_TERM : EXACT_ALIAS_TERM) +
    (rank === 0 ? FIRST_MATCH_TERM : 0)
  )
}
