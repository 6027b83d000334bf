import { type Response, responseProbability } from './model.ts'

const GRID_STEP = 0.25
const GRID_LIMIT = 4
/** The spread of abilities before the first response, in logits. */
const PRIOR_DEVIATION = 1.5

const abilities: readonly number[] = Array.from(
  { length: (2 * GRID_LIMIT) / GRID_STEP + 1 },
  (_, index) => -GRID_LIMIT + index * GRID_STEP,
)
const priorWeights = abilities.map((ability) => Math.exp(-0.5 * (ability / PRIOR_DEVIATION) ** 2))

/** Estimates a person's ability: the mean of its posterior distribution (Bock and Mislevy 1982). */
export function estimateAbility(responses: readonly Response[]): number {
  let weightSum = 0
  let weightedSum = 0
  for (const [index, ability] of abilities.entries()) {
    let weight = priorWeights[index]!
    for (const response of responses) weight *= responseProbability(ability, response)
    weightSum += weight
    weightedSum += weight * ability
  }
  return weightedSum / weightSum
}

/** Returns, for each response, the ability that the other responses show. Only `scored` responses count. */
export function restAbilities(responses: readonly Response[], scored: readonly Response[] = responses): number[] {
  return responses.map((response) => estimateAbility(scored.filter((other) => other !== response)))
}
