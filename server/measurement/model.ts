/**
 * The measurement model: the three-parameter logistic model of item response theory (Birnbaum 1968, in Lord and Novick, "Statistical
 * Theories of Mental Test Scores") with a fixed guessing floor and a discrimination that all items share. Without the floor, it is
 * equivalent to the Rasch model (Rasch 1960).
 *
 * Abilities and difficulties are on the same scale. Its unit is called logit, although one unit changes the log-odds of knowing the answer
 * by `DISCRIMINATION`. An ability of 0 is that of a person who can just do the work of the skill.
 */

/** A person who knows nothing chooses the key of a four-option item with this probability. */
export const GUESSING_PROBABILITY = 0.25
/** How sharply an item separates people above its difficulty from people below it. */
export const DISCRIMINATION = 1.5

/** The difficulty that the author of an item gives it. */
export type AuthorDifficulty = 1 | 2 | 3

/** Difficulties in logits until responses show better ones. */
export const PRIOR_DIFFICULTIES: Record<AuthorDifficulty, number> = { 1: -0.8, 2: 0, 3: 0.8 }

/** Returns the probability that a person answers an item correctly. */
export function correctProbability(ability: number, difficulty: number): number {
  return GUESSING_PROBABILITY + (1 - GUESSING_PROBABILITY) / (1 + Math.exp(-DISCRIMINATION * (ability - difficulty)))
}

/**
 * Assumptions about items that too few people have answered. Nobody knows yet how good such an item is, so it is assumed to be worse than
 * an item that has been piloted, and its answers weigh less.
 */
/** One of the three distractors is implausible to everybody, so that a person who knows nothing chooses between three options. */
const UNPILOTED_GUESSING_PROBABILITY = 1 / 3
const UNPILOTED_DISCRIMINATION = 1.2
/** Standard deviation of the true difficulty, in logits. */
const UNPILOTED_DIFFICULTY_DEVIATION = 0.8
/** An unchecked difficulty tag is unreliable, and the true difficulty is nearer to the mean of 0 (regression to the mean, Kelley 1947). */
const UNPILOTED_TAG_RELIABILITY = 0.5

/** Points of the standard normal distribution and their weights, to integrate over the true difficulty. */
const NORMAL_POINTS = Array.from({ length: 13 }, (_, index) => (index - 6) / 2)
const NORMAL_WEIGHTS = normalWeights()

function normalWeights(): number[] {
  const densities = NORMAL_POINTS.map((point) => Math.exp(-0.5 * point ** 2))
  const sum = densities.reduce((total, density) => total + density, 0)
  return densities.map((density) => density / sum)
}

/**
 * Returns the probability that a person answers an item correctly that has not been piloted: the mean over the difficulties that it may
 * have.
 */
export function unpilotedProbability(ability: number, difficulty: number): number {
  const knowing = NORMAL_POINTS.reduce((sum, point, index) => {
    const trueDifficulty = UNPILOTED_TAG_RELIABILITY * difficulty + UNPILOTED_DIFFICULTY_DEVIATION * point
    return sum + NORMAL_WEIGHTS[index]! / (1 + Math.exp(-UNPILOTED_DISCRIMINATION * (ability - trueDifficulty)))
  }, 0)
  return UNPILOTED_GUESSING_PROBABILITY + (1 - UNPILOTED_GUESSING_PROBABILITY) * knowing
}

/** One scored answer. */
export interface Response {
  /** The difficulty of the item, in logits. */
  difficulty: number
  isCorrect: boolean
  /** Whether too few people have answered the item to know how good it is. */
  isUnpiloted?: boolean
}

/** Returns the probability that a person gives this answer. */
export function responseProbability(ability: number, { difficulty, isCorrect, isUnpiloted }: Response): number {
  const probability = isUnpiloted ? unpilotedProbability(ability, difficulty) : correctProbability(ability, difficulty)
  return isCorrect ? probability : 1 - probability
}
