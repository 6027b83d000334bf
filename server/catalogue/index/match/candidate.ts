/**
 * How a phrase matches a skill: it equals the name or an alias, it has similar words (other form, order or spelling), or it has
 * words with the same meaning.
 */
export type MatchMethod = 'exact' | 'alias' | 'fuzzy' | 'semantic'

/** How similar the words of a phrase and a skill are. */
export interface Similarity {
  /** Sum of the overlaps, the bonuses and the prior; can be above 1. */
  total: number
  /** Overlap of the phrase with the skill's best label, from 0 to 1 (see `Matcher`). */
  overlap: number
  /** Overlap of the phrase with the skill's name, from 0 to 1. */
  nameOverlap: number
  /** The matched fractions of the phrase and of the best label, from 0 to 1. */
  phraseFraction: number
  labelFraction: number
  method: MatchMethod
}

/** A skill that a phrase may mean, with the features of its rank. */
export interface Candidate extends Similarity {
  /** Index of the skill in the sorted entries (labels.ts). */
  entryIndex: number
  /** Cosine of the phrase with the name; the highest and the mean of the cosines with all labels. */
  nameCosine: number
  bestCosine: number
  meanCosine: number
  nameWordCount: number
  /** In thousandths (prior.ts). */
  prior: number
}

/** A candidate with the score by which it is sorted (reranker.ts). */
export interface RankedCandidate {
  candidate: Candidate
  rerankingScore: number
}

/** Whether the phrase equals the name or an alias of the skill. Such a match ranks above all others. */
export function isExact({ method }: { method: MatchMethod }): boolean {
  return method === 'exact' || method === 'alias'
}
