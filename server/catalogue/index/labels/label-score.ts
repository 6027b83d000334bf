/** Bonus for a skill by the number of labels that contain the query, not counting the best one: 0, 1, 2, or 3 and more. */
const EXTRA_LABEL_BONUSES = [0, 0.016, 0.028, 0.036]
const MAX_EXTRA_LABELS = EXTRA_LABEL_BONUSES.length - 1

/** The highest value of `extraLabelBonus`. */
export const MAX_EXTRA_LABEL_BONUS = EXTRA_LABEL_BONUSES[MAX_EXTRA_LABELS]!

/**
 * Parts of a label's score. A name scores 1 if the query covers it completely, from its first word and in the same order:
 * 0.62 + 0.18 + 0.14 + 0.06.
 */
const BASE_SCORE = 0.62
/** Multiplied by the coverage. */
const COVERAGE_WEIGHT = 0.18
const BEGINS_LABEL_BONUS = 0.14
const ENDS_LABEL_BONUS = 0.1
const LABEL_ORDER_BONUS = 0.06
/** Ranks a name above an alias that matches equally well. */
const ALIAS_FACTOR = 0.97

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
  const positionBonus = beginsLabel ? BEGINS_LABEL_BONUS : endsLabel ? ENDS_LABEL_BONUS : 0
  const orderBonus = isInLabelOrder ? LABEL_ORDER_BONUS : 0
  return (BASE_SCORE + COVERAGE_WEIGHT * coverage + positionBonus + orderBonus) * (isAlias ? ALIAS_FACTOR : 1)
}

/** Returns the bonus for a skill by the number of labels that contain the query, not counting the best one. */
export function extraLabelBonus(extraLabels: number): number {
  return EXTRA_LABEL_BONUSES[extraLabels < MAX_EXTRA_LABELS ? extraLabels : MAX_EXTRA_LABELS]!
}
