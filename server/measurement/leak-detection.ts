import { DISCRIMINATION, GUESSING_PROBABILITY } from './model.ts'

/**
 * Finds items whose key many people know beforehand, from anonymous responses. The newest responses are compared with those before them
 * by the likelihoods of two explanations: a share of the people knew the key and the others answered as before (the mixture model of
 * McLeod, Lewis and Thissen 2003), or everyone answered as before. Everything that is not known exactly is integrated out: the curve of
 * the item, the share, the ability of each person, and an error of the ability of the newest group.
 *
 * A difference of proportions would not find leaks of easy items, because most people chose their key before. Wrong responses become
 * rare also in an able group, but those of the least able people only if the item has leaked.
 */

interface Response {
  isCorrect: boolean
  /** The ability that the person's other responses show. */
  restAbility: number
  language?: string
}

/** The numbers of newest responses that are compared with the ones before them. */
const WINDOW_SIZES = [60, 80, 110, 150, 200, 270, 360, 480]
const MIN_EARLIER_RESPONSES = 60
/**
 * An item has leaked if the likelihood ratio of a leak exceeds this number divided by the size of the window. The shorter a window is, the
 * more independent windows there are, and the more of them look like a leak by chance.
 */
const LEAK_RATIO = 36_000
/** Deviation, in standard errors, from which the newest responses are correct more often than before. Without it, nothing has leaked. */
const MIN_SURPLUS_Z = 2
/** Shares of people who know the key of a leaked item beforehand. */
const PREKNOWLEDGE_SHARES = [0.4, 0.6, 0.8, 0.95]

/** Returns whether an item seems to have leaked. `responses` are in the order of time. */
export function isLeaked(responses: readonly Response[], priorDifficulty: number): boolean {
  const earlier = countResponses(responses)
  const newest = countResponses([])
  for (const window of WINDOW_SIZES) {
    if (responses.length - window < Math.max(MIN_EARLIER_RESPONSES, window / 2)) return false
    while (newest.count < window) {
      const response = responses[responses.length - 1 - newest.count]!
      addResponse(earlier, response, -1)
      addResponse(newest, response, 1)
    }
    if (logLeakRatio(earlier, newest, priorDifficulty) > Math.log(LEAK_RATIO / window)) return true
  }
  return false
}

const ABILITY_STEP = 0.5
const MAX_ABILITY = 4
const REST_ABILITIES = Array.from(
  { length: (2 * MAX_ABILITY) / ABILITY_STEP + 1 },
  (_, index) => -MAX_ABILITY + index * ABILITY_STEP,
)

/** Numbers of responses by the ability that the person's other responses show, so that the time does not grow with the responses. */
interface ResponseCounts {
  correct: number[]
  wrong: number[]
  count: number
  abilitySum: number
  abilitySquares: number
  languages: Map<string | undefined, number>
}

function countResponses(responses: readonly Response[]): ResponseCounts {
  const counts: ResponseCounts = {
    correct: REST_ABILITIES.map(() => 0),
    wrong: REST_ABILITIES.map(() => 0),
    count: 0,
    abilitySum: 0,
    abilitySquares: 0,
    languages: new Map(),
  }
  for (const response of responses) addResponse(counts, response, 1)
  return counts
}

/** Adds a response to the counts, or removes it if `change` is -1. */
function addResponse(counts: ResponseCounts, { isCorrect, restAbility, language }: Response, change: 1 | -1): void {
  const limited = Math.min(MAX_ABILITY, Math.max(-MAX_ABILITY, restAbility))
  const counted = isCorrect ? counts.correct : counts.wrong
  counted[Math.round((limited + MAX_ABILITY) / ABILITY_STEP)]! += change
  counts.count += change
  counts.abilitySum += change * restAbility
  counts.abilitySquares += change * restAbility ** 2
  counts.languages.set(language, (counts.languages.get(language) ?? 0) + change)
}

/** Variance of the prior with which `restAbilities` estimates abilities. */
const PRIOR_VARIANCE = 1.5 ** 2
/** Variance of the error of an ability that is estimated from three to seven responses without a prior. Chosen by simulation. */
const ERROR_VARIANCE = 2.5
const MIN_GROUP_VARIANCE = 0.3

/** People who answered an item, and what is known about their abilities. */
interface Group {
  counts: ResponseCounts
  meanAbility: number
  /** The mean of the ability of a person, for each of `REST_ABILITIES`. */
  abilities: number[]
  /** The variance of the ability of a person around this mean. */
  variance: number
}

/**
 * Estimates abilities with the mean and the variance of the group as their prior (empirical Bayes). The stored estimates have a prior
 * around 0, which is wrong for an able group: its people would seem less able than they are, and their arrival would look like a leak.
 */
function estimateGroup(counts: ResponseCounts): Group {
  // The estimate without a prior is the stored one, moved away from 0 again.
  const factor = 1 + ERROR_VARIANCE / PRIOR_VARIANCE
  const mean = counts.abilitySum / counts.count
  const observedVariance = factor ** 2 * (counts.abilitySquares / counts.count - mean ** 2)
  const groupVariance = Math.max(MIN_GROUP_VARIANCE, observedVariance - ERROR_VARIANCE)
  const variance = 1 / (1 / groupVariance + 1 / ERROR_VARIANCE)
  const meanAbility = factor * mean
  const abilities = REST_ABILITIES.map(
    (ability) => variance * (meanAbility / groupVariance + (factor * ability) / ERROR_VARIANCE),
  )
  return { counts, meanAbility, abilities, variance }
}

/** The logistic curve with this slope is nearly the normal one (Birnbaum 1968). */
const NORMAL_SLOPE = 1.7

/** Returns the probabilities of a correct response by ability. The uncertainty of the abilities makes the curve flatter. */
function correctProbabilities({ abilities, variance }: Group, discrimination: number, difficulty: number): number[] {
  const slope = discrimination / Math.sqrt(1 + variance * (discrimination / NORMAL_SLOPE) ** 2)
  return abilities.map(
    (ability) => GUESSING_PROBABILITY + (1 - GUESSING_PROBABILITY) / (1 + Math.exp(-slope * (ability - difficulty))),
  )
}

function logLikelihood({ correct, wrong }: ResponseCounts, probabilities: readonly number[], knownShare = 0): number {
  let sum = 0
  for (const [index, probability] of probabilities.entries()) {
    if (correct[index]! > 0) sum += correct[index]! * Math.log(knownShare + (1 - knownShare) * probability)
    if (wrong[index]! > 0) sum += wrong[index]! * Math.log((1 - knownShare) * (1 - probability))
  }
  return sum
}

/** Discriminations that an item may have. Those of most items are near to that of the measurement model. */
const DISCRIMINATIONS = [0.3, 0.7, 1, 1.5, 2.2]
const LOG_DISCRIMINATION_DEVIATION = 0.5
const DIFFICULTY_STEP = 0.25
const MAX_DIFFICULTY = 4
const DIFFICULTIES = Array.from(
  { length: (2 * MAX_DIFFICULTY) / DIFFICULTY_STEP + 1 },
  (_, index) => -MAX_DIFFICULTY + index * DIFFICULTY_STEP,
)
const DIFFICULTY_PRIOR_DEVIATION = 0.8
/** Curves that are this much less likely than the likeliest one, as a logarithm, do not change the result. */
const MAX_LOG_DIFFERENCE = 7
/** Standard deviation, in logits, of the error of the newest group's ability: at least, and as a share of its difference from the others. */
const MIN_SHIFT_DEVIATION = 0.05
const SHIFT_DEVIATION_SHARE = 0.3
/** The same if all of the newest people were asked in another language, in which the item may be easier. */
const LANGUAGE_DEVIATION = 0.5

/** A curve that an item may have, and the logarithm of its probability, which need not be normalised. */
interface Curve {
  discrimination: number
  difficulty: number
  logProbability: number
}

/** Returns the logarithm of how many times as likely the newest responses are with a leak as without one. */
function logLeakRatio(earlierCounts: ResponseCounts, newestCounts: ResponseCounts, priorDifficulty: number): number {
  const earlier = estimateGroup(earlierCounts)
  const newest = estimateGroup(newestCounts)
  // Most windows end here. The curves with the usual discrimination suffice to find out.
  const usual = likeliest(curvesOf(earlier, priorDifficulty, [DISCRIMINATION]))
  if (surplusZ(newest, usual) < MIN_SURPLUS_Z) return Number.NEGATIVE_INFINITY

  const curves = curvesOf(earlier, priorDifficulty, DISCRIMINATIONS)
  const minLogProbability = likeliest(curves).logProbability - MAX_LOG_DIFFERENCE
  const shifts = abilityShifts(earlier, newest)
  const likelihoodsOf = newestLikelihoods(newest)
  const notLeaked: number[] = []
  const leaked: number[] = []
  for (const { discrimination, difficulty, logProbability } of curves) {
    if (logProbability < minLogProbability) continue
    for (const { shift, logWeight } of shifts) {
      // A more able group is the same as an easier item.
      const [asBefore, ...withLeak] = likelihoodsOf(discrimination, difficulty - shift)
      notLeaked.push(logProbability + logWeight + asBefore!)
      for (const likelihood of withLeak) leaked.push(logProbability + logWeight + likelihood)
    }
  }
  return logSum(leaked) - Math.log(PREKNOWLEDGE_SHARES.length) - logSum(notLeaked)
}

/** Returns the curves that the item may have, given its responses. */
function curvesOf(group: Group, priorDifficulty: number, discriminations: readonly number[]): Curve[] {
  return discriminations.flatMap((discrimination) =>
    DIFFICULTIES.map((difficulty) => ({
      discrimination,
      difficulty,
      logProbability:
        logLikelihood(group.counts, correctProbabilities(group, discrimination, difficulty)) -
        0.5 * ((difficulty - priorDifficulty) / DIFFICULTY_PRIOR_DEVIATION) ** 2 -
        0.5 * (Math.log(discrimination / DISCRIMINATION) / LOG_DISCRIMINATION_DEVIATION) ** 2,
    })),
  )
}

function likeliest(curves: readonly Curve[]): Curve {
  return curves.reduce((best, curve) => (curve.logProbability > best.logProbability ? curve : best))
}

/** Returns by how many standard errors responses are correct more often than expected. */
function surplusZ(group: Group, { discrimination, difficulty }: Curve): number {
  let surplus = 0
  let variance = 0
  for (const [index, probability] of correctProbabilities(group, discrimination, difficulty).entries()) {
    const correct = group.counts.correct[index]!
    const count = correct + group.counts.wrong[index]!
    surplus += correct - count * probability
    variance += count * probability * (1 - probability)
  }
  return surplus / Math.sqrt(variance)
}

/**
 * Returns errors that the estimated ability of the newest group may have, with the logarithms of their weights. The more a group differs
 * from the one before, in ability or in language, the larger is the error of the difference.
 */
function abilityShifts(earlier: Group, newest: Group): { shift: number; logWeight: number }[] {
  const deviation = Math.hypot(
    MIN_SHIFT_DEVIATION,
    SHIFT_DEVIATION_SHARE * (newest.meanAbility - earlier.meanAbility),
    LANGUAGE_DEVIATION * newLanguageShare(earlier.counts, newest.counts),
  )
  const steps = Math.ceil((2.5 * deviation) / DIFFICULTY_STEP)
  return Array.from({ length: 2 * steps + 1 }, (_, index) => {
    const shift = (index - steps) * DIFFICULTY_STEP
    return { shift, logWeight: -0.5 * (shift / deviation) ** 2 }
  })
}

/** Returns the share of the newest responses by which languages are more frequent than before. */
function newLanguageShare(earlier: ResponseCounts, newest: ResponseCounts): number {
  let share = 0
  for (const [language, count] of newest.languages)
    share += Math.max(0, count / newest.count - (earlier.languages.get(language) ?? 0) / earlier.count)
  return share
}

/** Returns a function that returns the likelihoods of the newest responses without a leak, and with each share of people who know the key. */
function newestLikelihoods(group: Group): (discrimination: number, difficulty: number) => number[] {
  const likelihoodsByCurve = new Map<string, number[]>()
  return (discrimination, difficulty) => {
    const key = `${discrimination} ${difficulty}`
    const cached = likelihoodsByCurve.get(key)
    if (cached) return cached
    const probabilities = correctProbabilities(group, discrimination, difficulty)
    const likelihoods = [0, ...PREKNOWLEDGE_SHARES].map((share) => logLikelihood(group.counts, probabilities, share))
    likelihoodsByCurve.set(key, likelihoods)
    return likelihoods
  }
}

/** Returns the logarithm of the sum of numbers that are given by their logarithms. */
function logSum(logarithms: readonly number[]): number {
  const largest = logarithms.reduce((max, value) => Math.max(max, value))
  return largest + Math.log(logarithms.reduce((sum, value) => sum + Math.exp(value - largest), 0))
}
