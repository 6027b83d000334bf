export type MatchMethod = 'exact' | 'alias' | 'fuzzy' | 'semantic'

/** How similar a phrase and a skill are. */
export interface Similarity {
  /** The sort key of candidates. */
  total: number
  /** Overlap of the phrase with the skill's best label, and with its name, from 0 to 1. */
  overlap: number
  nameOverlap: number
  method: MatchMethod
}

/** The lead of the total of a candidate that has no rival. */
const LEAD_WITHOUT_RIVAL = 0.3

/**
 * Returns the probability that a candidate is the right skill: candidates with 0.8 are right about eight times in ten. A logistic regression, fitted to
 * phrases of real advertisements with the skill that people assigned to them (`bench/skill-quality.ts` prints how well it
 * holds). `rival` is the best of the other candidates.
 */
export function calibratedScore(
  { total, overlap, nameOverlap, method }: Similarity,
  rival: Similarity | undefined,
  rank: number,
): number {
  const lead = Math.max(-0.6, Math.min(0.3, rival ? total - rival.total : LEAD_WITHOUT_RIVAL))
  const logit =
    -3.54 +
    0.16 * overlap +
    0.51 * overlap * overlap +
    // An exact alias is right even if the name has nothing in common with the phrase.
    1.83 * (method === 'alias' ? Math.max(nameOverlap, 0.4) : nameOverlap) +
    (lead > 0 ? 2.2 : 3.22) * lead +
    (method === 'exact' ? 1.26 : method === 'alias' ? 1.1 : 0) +
    (rank === 0 ? 1.71 : 0)
  return 1 / (1 + Math.exp(-logit))
}
