import { isLeaked } from './leak-detection.ts'
import { correctProbability, GUESSING_PROBABILITY } from './model.ts'

/**
 * Statistics of one item from anonymous responses. Items are drawn at random for each person, so that the people who answer one item
 * are as able as those who answer another, and statistics of different items can be compared.
 */

export interface ItemResponse {
  isCorrect: boolean
  /** The chosen option; the key is `KEY_OPTION`. */
  option: string
  /** The ability that the person's other responses show, as `restAbilities` estimates it. */
  restAbility: number
  seconds: number | undefined
  language?: string
}

export const KEY_OPTION = 'key'

export interface ItemStatistics {
  count: number
  /** Share of correct responses. */
  correctShare: number
  /** Correlation of being correct with the ability that the other responses show (corrected item-total correlation). */
  discrimination: number
  difficulty: number
  medianSeconds: number | undefined
  options: { option: string; count: number; meanAbility: number }[]
}

export type RetirementReason = 'miskeyed' | 'leaked' | 'not_discriminating'

export function describeItem(responses: readonly ItemResponse[], priorDifficulty: number): ItemStatistics {
  const count = responses.length
  const byOption = Map.groupBy(responses, ({ option }) => option)
  return {
    count,
    correctShare: correctShareOf(responses),
    discrimination: correlation(responses.map(({ isCorrect, restAbility }) => [isCorrect ? 1 : 0, restAbility])),
    difficulty: estimateDifficulty(responses, priorDifficulty),
    medianSeconds: median(responses.flatMap(({ seconds }) => (seconds === undefined ? [] : [seconds]))),
    options: [...byOption]
      .map(([option, chosen]) => ({
        option,
        count: chosen.length,
        meanAbility: mean(chosen.map(({ restAbility }) => restAbility)),
      }))
      .sort((first, second) => second.count - first.count),
  }
}

/**
 * The mean of a group's estimated abilities, times this factor, is added to each of them. Estimates from a few responses are pulled
 * towards 0, so those of an able group are too low. Kelley's formula (1947, "Fundamentals of Statistics") pulls them towards the mean of
 * the group instead: the factor is (1 - r) / r, where r is the reliability of the estimate, about .57 for three to seven other items.
 * Without the correction, every item would look easy in an able group, and the arrival of able people would look like a leak.
 */
const GROUP_MEAN_FACTOR = 0.75

/** Returns the abilities of a group of people, corrected for the number of items that they were estimated from. */
function groupAbilities(responses: readonly Pick<ItemResponse, 'restAbility'>[]): number[] {
  const correction = GROUP_MEAN_FACTOR * mean(responses.map(({ restAbility }) => restAbility))
  return responses.map(({ restAbility }) => restAbility + correction)
}

/** Standard deviation of the prior around the author's difficulty, in logits. The larger it is, the more the responses count. */
const DIFFICULTY_PRIOR_DEVIATION = 0.8
const MAX_DIFFICULTY = 4
const GRID_STEP = 0.25
const REFINEMENTS = 6

/**
 * Estimates the difficulty: the maximum of its posterior, with the author's difficulty as the prior mean (Mislevy 1986). The posterior
 * can have several maxima because of the guessing floor, so the highest is searched on a grid that becomes finer.
 */
export function estimateDifficulty(responses: readonly ItemResponse[], priorDifficulty: number): number {
  const abilities = groupAbilities(responses)
  const logPosterior = (difficulty: number) => {
    let sum = -0.5 * ((difficulty - priorDifficulty) / DIFFICULTY_PRIOR_DEVIATION) ** 2
    for (const [index, { isCorrect }] of responses.entries()) {
      const probability = correctProbability(abilities[index]!, difficulty)
      sum += Math.log(isCorrect ? probability : 1 - probability)
    }
    return sum
  }
  return maximise(logPosterior)
}

/** Returns the difficulty at which a function is highest. */
function maximise(value: (difficulty: number) => number): number {
  const steps = (2 * MAX_DIFFICULTY) / GRID_STEP
  let best = { at: 0, value: Number.NEGATIVE_INFINITY }
  const consider = (at: number) => {
    const candidate = { at, value: value(at) }
    if (candidate.value > best.value) best = candidate
  }
  for (let step = 0; step <= steps; step++) consider(-MAX_DIFFICULTY + step * GRID_STEP)
  for (let refinement = 1; refinement <= REFINEMENTS; refinement++) {
    const { at } = best
    const width = GRID_STEP / 2 ** refinement
    if (at > -MAX_DIFFICULTY) consider(at - width)
    if (at < MAX_DIFFICULTY) consider(at + width)
  }
  return best.at
}

/** Deviation, in standard errors, from which an item is called miskeyed. It is large because an item may be checked every hour. */
const MISKEY_Z = 2.5
/** The deviation from which an item with a flat curve is called miskeyed. */
const LIKELY_MISKEY_Z = 1
/** People with at least this ability are expected to prefer the key to every distractor. */
const ABLE = 0.5
const MIN_ABLE_RESPONSES = 20
/** A flat curve must be this many times as likely as a rising one. */
const FLATNESS_RATIO = 200
const MIN_RESPONSES_FOR_FLATNESS = 60
/**
 * The discrimination of a poor but useful item, in relation to an ability that was estimated from a few responses. Better items differ
 * even more from an item that does not discriminate.
 */
const WEAK_DISCRIMINATION = 0.8

/**
 * Returns why an item should be retired, or undefined. `responses` are in the order of time.
 *
 * - Miskeyed: able people prefer a distractor to the key, or choose the key less often than by guessing.
 * - Leaked: many of the newest people seem to have known the key beforehand, whatever their ability.
 * - Not discriminating: choosing the key has nothing to do with ability.
 */
export function findRetirementReason(
  responses: readonly ItemResponse[],
  priorDifficulty: number,
): RetirementReason | undefined {
  const miskeyZ = deviationFromKey(responses)
  if (miskeyZ > MISKEY_Z) return 'miskeyed'
  if (isLeaked(responses, priorDifficulty)) return 'leaked'
  // A miskeyed item seldom discriminates, so the curve is often flat before the choices of able people are certain enough.
  if (isFlat(responses)) return miskeyZ > LIKELY_MISKEY_Z ? 'miskeyed' : 'not_discriminating'
  return undefined
}

/**
 * Returns by how many standard errors able people prefer the most popular distractor to the key, or choose the key less often than by
 * guessing; the larger of the two.
 */
function deviationFromKey(responses: readonly ItemResponse[]): number {
  const abilities = groupAbilities(responses)
  const able = responses.filter((_, index) => abilities[index]! >= ABLE)
  if (able.length < MIN_ABLE_RESPONSES) return 0
  const keyCount = able.filter(({ isCorrect }) => isCorrect).length
  const guessedCount = able.length * GUESSING_PROBABILITY
  const distractors = Map.groupBy(
    able.filter(({ isCorrect }) => !isCorrect),
    ({ option }) => option,
  )
  return Math.max(
    (guessedCount - keyCount) / Math.sqrt(guessedCount * (1 - GUESSING_PROBABILITY)),
    // The sign test: if key and distractor were equally attractive, the difference of their counts would be around 0.
    ...[...distractors.values()].map(({ length }) => (length - keyCount) / Math.sqrt(length + keyCount)),
  )
}

/**
 * Returns whether an item does not discriminate. The ratio can be checked after every response: if the item discriminates, the probability
 * that the ratio ever exceeds a limit is at most one divided by the limit (Ville 1939; Wald 1945).
 */
function isFlat(responses: readonly ItemResponse[]): boolean {
  return responses.length >= MIN_RESPONSES_FOR_FLATNESS && logFlatnessRatio(responses) > Math.log(FLATNESS_RATIO)
}

/** Compares a flat curve with the best rising one by their likelihoods. The result is positive if the flat one is more likely. */
function logFlatnessRatio(responses: readonly ItemResponse[]): number {
  const rising = (difficulty: number) => {
    let sum = 0
    for (const { isCorrect, restAbility } of responses) {
      const probability = risingProbability(restAbility, difficulty)
      sum += Math.log(isCorrect ? probability : 1 - probability)
    }
    return sum
  }
  return flatLogLikelihood(responses) - rising(maximise(rising))
}

function risingProbability(ability: number, difficulty: number): number {
  const known = 1 / (1 + Math.exp(-WEAK_DISCRIMINATION * (ability - difficulty)))
  return GUESSING_PROBABILITY + (1 - GUESSING_PROBABILITY) * known
}

/** Returns the log-likelihood of the responses if everyone is correct with the same, unknown probability (with a uniform prior). */
function flatLogLikelihood(responses: readonly ItemResponse[]): number {
  let correct = 0
  let sum = 0
  for (const [index, { isCorrect }] of responses.entries()) {
    const probability = (correct + 1) / (index + 2)
    sum += Math.log(isCorrect ? probability : 1 - probability)
    if (isCorrect) correct++
  }
  return sum
}

export interface AbilityGroup {
  count: number
  meanAbility: number
  correctShare: number
}

/** Returns the share of correct responses in groups of equal size, from the least to the most able people. */
export function abilityGroups(responses: readonly ItemResponse[], groupCount = 5): AbilityGroup[] {
  const abilities = groupAbilities(responses)
  const sorted = responses
    .map(({ isCorrect }, index) => ({ isCorrect, ability: abilities[index]! }))
    .toSorted((first, second) => first.ability - second.ability)
  return Array.from({ length: groupCount }, (_, group) =>
    sorted.slice(
      Math.round((group * sorted.length) / groupCount),
      Math.round(((group + 1) * sorted.length) / groupCount),
    ),
  )
    .filter(({ length }) => length > 0)
    .map((members) => ({
      count: members.length,
      meanAbility: mean(members.map(({ ability }) => ability)),
      correctShare: correctShareOf(members),
    }))
}

export interface GroupDifference {
  /** How much larger the share of correct responses is in the second group at equal ability. */
  difference: number
  standardError: number
}

const STRATA = 5

/**
 * Compares two groups of people, such as those who were asked in different languages, at equal ability: differential item functioning as
 * the standardised difference of proportions (Dorans and Kulick 1986), with the weights and the variance of the Mantel-Haenszel risk
 * difference (Greenland and Robins 1985). Returns undefined if no people of equal ability are in both groups.
 */
export function compareGroups(
  reference: readonly ItemResponse[],
  focal: readonly ItemResponse[],
): GroupDifference | undefined {
  const referenceAbilities = groupAbilities(reference)
  const focalAbilities = groupAbilities(focal)
  const limits = quantiles([...referenceAbilities, ...focalAbilities], STRATA)
  const stratumOf = (ability: number) => limits.filter((limit) => ability >= limit).length
  const referenceStrata = Map.groupBy(reference.keys(), (index) => stratumOf(referenceAbilities[index]!))
  const focalStrata = Map.groupBy(focal.keys(), (index) => stratumOf(focalAbilities[index]!))
  let weightSum = 0
  let differenceSum = 0
  let varianceSum = 0
  for (const [stratum, focalIndexes] of focalStrata) {
    const referenceIndexes = referenceStrata.get(stratum)
    if (!referenceIndexes) continue
    const referenceShare = correctShareOf(referenceIndexes.map((index) => reference[index]!))
    const focalShare = correctShareOf(focalIndexes.map((index) => focal[index]!))
    const [referenceCount, focalCount] = [referenceIndexes.length, focalIndexes.length]
    const weight = (referenceCount * focalCount) / (referenceCount + focalCount)
    weightSum += weight
    differenceSum += weight * (focalShare - referenceShare)
    varianceSum +=
      weight ** 2 *
      ((referenceShare * (1 - referenceShare)) / referenceCount + (focalShare * (1 - focalShare)) / focalCount)
  }
  if (weightSum === 0) return undefined
  return { difference: differenceSum / weightSum, standardError: Math.sqrt(varianceSum) / weightSum }
}

/** Returns the limits between groups of equal size. */
function quantiles(values: readonly number[], groupCount: number): number[] {
  const sorted = values.toSorted((first, second) => first - second)
  return Array.from(
    { length: groupCount - 1 },
    (_, index) => sorted[Math.floor(((index + 1) * sorted.length) / groupCount)]!,
  )
}

function correctShareOf(responses: readonly Pick<ItemResponse, 'isCorrect'>[]): number {
  return mean(responses.map(({ isCorrect }) => (isCorrect ? 1 : 0)))
}

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const xMean = mean(pairs.map(([x]) => x))
  const yMean = mean(pairs.map(([, y]) => y))
  let covariance = 0
  let xVariance = 0
  let yVariance = 0
  for (const [x, y] of pairs) {
    covariance += (x - xMean) * (y - yMean)
    xVariance += (x - xMean) ** 2
    yVariance += (y - yMean) ** 2
  }
  const product = xVariance * yVariance
  return product === 0 ? 0 : covariance / Math.sqrt(product)
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((first, second) => first - second)
  return sorted[Math.floor(sorted.length / 2)]
}
