import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Candidate } from './candidate.ts'
import { rankCandidates, rerankingFeatures } from './reranker.ts'

const SEED = 106
const MAX_ROUNDING_ERROR = 1e-9

/** Thousandths, because most numbers of `fc.double` are close to 0. */
const numberBetween = (min: number, max: number) =>
  fc.integer({ min: min * 1000, max: max * 1000 }).map((thousandths) => thousandths / 1000)
const fraction = numberBetween(0, 1)
const cosine = numberBetween(-1, 1)
const randomCandidate: fc.Arbitrary<Candidate> = fc.record({
  total: numberBetween(0, 2),
  overlap: fraction,
  nameOverlap: fraction,
  phraseFraction: fraction,
  labelFraction: fraction,
  method: fc.constantFrom('exact', 'alias', 'fuzzy', 'semantic'),
  entryIndex: fc.nat(),
  nameCosine: cosine,
  bestCosine: cosine,
  meanCosine: cosine,
  nameWordCount: fc.nat({ max: 12 }),
  // The prior is not a feature: its weight is not trained.
  prior: fc.constant(0),
})

test('the score of a candidate is the sum of the features of the training, multiplied by their weights', () => {
  const candidates = fc.sample(randomCandidate, { numRuns: 100, seed: SEED })
  // All weights are different, and none is 0.
  const weights = rerankingFeatures(candidates[0]!).map((_, i) => i + 1)
  const rankedCandidates = rankCandidates(candidates, weights)
  assert.equal(rankedCandidates.length, candidates.length)
  for (const { candidate, rerankingScore } of rankedCandidates) {
    const expectedScore = rerankingFeatures(candidate).reduce((sum, feature, i) => sum + feature * weights[i]!, 0)
    assert.ok(
      Math.abs(rerankingScore - expectedScore) < MAX_ROUNDING_ERROR,
      `${rerankingScore} instead of ${expectedScore} for ${JSON.stringify(candidate)}`,
    )
  }
})
