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

/** One scored answer. */
export interface Response {
  /** The difficulty of the item, in logits. */
  difficulty: number
  isCorrect: boolean
}
