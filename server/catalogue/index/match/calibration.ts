export type MatchMethod = 'exact' | 'alias' | 'fuzzy' | 'semantic'

/** How close a phrase and a skill came. */
export interface Closeness {
  /** What candidates are ordered by. */
  total: number
  /** What the phrase and the skill's best label have in common, and the phrase and its name, from 0 to 1. */
  share: number
  nameShare: number
  method: MatchMethod
}

/** A phrase without any rival is taken to lead this distance. */
const NO_RIVAL = 0.3

/**
 * How often a candidate like this was the right one: 0.8 is right about eight times in ten. A logistic curve fitted to
 * phrases of real advertisements with the skill that people gave them (`bench/skill-quality.ts` prints how it holds).
 * `rival` is the best of the other candidates.
 */
export function rightness(
  { total, share, nameShare, method }: Closeness,
  rival: Closeness | undefined,
  rank: number,
): number {
  const lead = Math.max(-0.6, Math.min(0.3, rival ? total - rival.total : NO_RIVAL))
  const evidence =
    -3.54 +
    0.16 * share +
    0.51 * share * share +
    // An alias is right whatever the name says.
    1.83 * (method === 'alias' ? Math.max(nameShare, 0.4) : nameShare) +
    (lead > 0 ? 2.2 : 3.22) * lead +
    (method === 'exact' ? 1.26 : method === 'alias' ? 1.1 : 0) +
    (rank === 0 ? 1.71 : 0)
  return 1 / (1 + Math.exp(-evidence))
}
