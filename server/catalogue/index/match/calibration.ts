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

/** Lead of a match if it is the only one. The lead is the difference between its total and that of the best other match. */
const LEAD_OF_ONLY_MATCH = 0.3

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
  const lead = Math.max(-0.6, Math.min(0.3, bestOther ? total - bestOther.total : LEAD_OF_ONLY_MATCH))
  const logit =
    -3.54 +
    0.16 * overlap +
    0.51 * overlap * overlap +
    // An exact alias is often correct even if the name has no word in common with the phrase.
    1.83 * (method === 'alias' ? Math.max(nameOverlap, 0.4) : nameOverlap) +
    (lead > 0 ? 2.2 : 3.22) * lead +
    (method === 'exact' ? 1.26 : method === 'alias' ? 1.1 : 0) +
    (rank === 0 ? 1.71 : 0)
  return 1 / (1 + Math.exp(-logit))
}
