/** Bonus for a skill by the number of labels that contain the query, not counting the best one: 0, 1, 2, or 3 and more. */
const EXTRA_LABEL_BONUSES = [0, 0.016, 0.028, 0.036]
const MAX_EXTRA_LABELS = EXTRA_LABEL_BONUSES.length - 1

/** The highest value of `extraLabelBonus`. */
export const MAX_EXTRA_LABEL_BONUS = EXTRA_LABEL_BONUSES[MAX_EXTRA_LABELS]!

/**
 * Returns the score of a label that contains the words of a query, from 0 to 1. The caller multiplies it by the agreement of the
 * words (1 for equal words, less for typos and prefixes). `coverage` is the part of the label's letters that the query contains,
 * from 0 to 1. A query at the beginning or end of the label scores higher: people type the first words of a name or its head
 * noun, which in English is the last word.
 */
export function labelScore(
  coverage: number,
  beginsLabel: boolean,
  endsLabel: boolean,
  isInLabelOrder: boolean,
  isAlias: boolean,
): number {
  const positionBonus = beginsLabel ? 0.14 : endsLabel ? 0.1 : 0
  return (0.62 + 0.18 * coverage + positionBonus + (isInLabelOrder ? 0.06 : 0)) * (isAlias ? 0.97 : 1)
}

/** Returns the bonus for a skill by the number of labels that contain the query, not counting the best one. */
export function extraLabelBonus(extraLabels: number): number {
  return EXTRA_LABEL_BONUSES[extraLabels < MAX_EXTRA_LABELS ? extraLabels : MAX_EXTRA_LABELS]!
}
