import { type Candidate, isExact, type RankedCandidate } from './candidate.ts'

/**
 * Weights of the features, in the order of `rerankingFeatures`. They were trained by `training/vectors/rerank.ts` with phrases
 * from job advertisements.
 */
const WEIGHTS = [1.854, 6.459, 2.049, -1.121, 0.266, 3.615, 1.526, 1.757, 1.097, -0.447]
/**
 * Added for each thousandth of the prior. Not fitted, because the labelled phrases are about a catalogue without preferred skills. As
 * large, compared with the overlaps, as it was before the model.
 */
const PRIOR_WEIGHT = 0.008

/** Returns the numbers that the linear model weighs. */
export function rerankingFeatures(candidate: Candidate): number[] {
  const { total, overlap, nameOverlap, phraseFraction, labelFraction } = candidate
  const { nameCosine, bestCosine, meanCosine, nameWordCount } = candidate
  return [
    total,
    overlap * overlap,
    nameOverlap,
    phraseFraction,
    labelFraction,
    nameCosine,
    bestCosine,
    meanCosine,
    bestCosine * bestCosine,
    Math.log(nameWordCount || 1),
  ]
}

/** Sorts the candidates: exact matches first, by their totals, then the others by the linear model. */
export function rankCandidates(
  candidates: readonly Candidate[],
  weights: readonly number[] = WEIGHTS,
): RankedCandidate[] {
  return candidates
    .map((candidate) => ({ candidate, rerankingScore: rerankingScore(candidate, weights) }))
    .sort(compareRanks)
}

/** Returns the first `count` candidates in the order of `rankCandidates`, without sorting all. */
export function bestCandidates(candidates: readonly Candidate[], count: number): RankedCandidate[] {
  const best: RankedCandidate[] = []
  for (const candidate of candidates) {
    const ranked = { candidate, rerankingScore: rerankingScore(candidate, WEIGHTS) }
    if (best.length === count && compareRanks(ranked, best.at(-1)!) > 0) continue
    if (best.length === count) best.pop()
    let at = best.length
    while (at > 0 && compareRanks(ranked, best[at - 1]!) < 0) at--
    best.splice(at, 0, ranked)
  }
  return best
}

/** Returns the sum of the features of `rerankingFeatures`, multiplied by their weights. Creates no list, because it runs for every candidate. */
function rerankingScore(candidate: Candidate, weights: readonly number[]): number {
  const { overlap, bestCosine } = candidate
  return (
    PRIOR_WEIGHT * candidate.prior +
    candidate.total * weights[0]! +
    overlap * overlap * weights[1]! +
    candidate.nameOverlap * weights[2]! +
    candidate.phraseFraction * weights[3]! +
    candidate.labelFraction * weights[4]! +
    candidate.nameCosine * weights[5]! +
    bestCosine * weights[6]! +
    candidate.meanCosine * weights[7]! +
    bestCosine * bestCosine * weights[8]! +
    Math.log(candidate.nameWordCount || 1) * weights[9]!
  )
}

function compareRanks(a: RankedCandidate, b: RankedCandidate): number {
  return (
    Number(isExact(b.candidate)) - Number(isExact(a.candidate)) ||
    (isExact(a.candidate) ? b.candidate.total - a.candidate.total : b.rerankingScore - a.rerankingScore) ||
    a.candidate.entryIndex - b.candidate.entryIndex
  )
}
