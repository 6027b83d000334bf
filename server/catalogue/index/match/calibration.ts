/**
 * How a phrase matches a skill: it equals the name or an alias, it has similar words (other form, order or spelling), or it has
 * words with the same meaning.
 */
export type MatchMethod = 'exact' | 'alias' | 'fuzzy' | 'semantic'

/** How similar a phrase and a skill are. */
export interface Similarity {
  /** Sum of the overlaps, the bonuses and the prior; can be above 1. Matches are sorted by it. */
  total: number
  /** Overlap of the phrase with the skill's best label, from 0 to 1 (see `Matcher`). */
  overlap: number
  /** Overlap of the phrase with the skill's name, from 0 to 1. */
  nameOverlap: number
  method: MatchMethod
}

/**
 * Limits of the lead: the difference between the total of a match and that of the best other match. The only match has the
 * maximum lead.
 */
const MIN_LEAD = -0.6
const MAX_LEAD = 0.3

/** Coefficients of the logistic regression. The first is the logit if all other terms are 0. */
const INTERCEPT = -3.54
const OVERLAP_COEFFICIENT = 0.16
const SQUARED_OVERLAP_COEFFICIENT = 0.51
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
 * Returns the probability that a skill is the correct match for a phrase; of the matches with 0.8, about 80 % are correct. It is a
 * logistic regression, fitted to phrases from real job advertisements that people labelled with a skill.
 * `bench/skill-quality.ts` measures its accuracy.
 *
 * `bestOther` is the most similar of the other skills. `rank` is 0 for the first match.
 */
export function matchProbability(
  { total, overlap, nameOverlap, method }: Similarity,
  bestOther: Similarity | undefined,
  rank: number,
): number {
  const lead = bestOther ? Math.max(MIN_LEAD, Math.min(MAX_LEAD, total - bestOther.total)) : MAX_LEAD
  const countedNameOverlap = method === 'alias' ? Math.max(nameOverlap, MIN_NAME_OVERLAP_OF_EXACT_ALIAS) : nameOverlap
  const logit =
    INTERCEPT +
    OVERLAP_COEFFICIENT * overlap +
    SQUARED_OVERLAP_COEFFICIENT * overlap * overlap +
    NAME_OVERLAP_COEFFICIENT * countedNameOverlap +
    (lead > 0 ? POSITIVE_LEAD_COEFFICIENT : NEGATIVE_LEAD_COEFFICIENT) * lead +
    (method === 'exact' ? EXACT_NAME_TERM : method === 'alias' ? EXACT_ALIAS_TERM : 0) +
    (rank === 0 ? FIRST_MATCH_TERM : 0)
  return 1 / (1 + Math.exp(-logit))
}
