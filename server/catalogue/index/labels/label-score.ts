/** Bonus for a skill with one, two, or three and more further labels that contain the query. */
const EXTRA_LABEL_BONUSES = [0, 0.016, 0.028, 0.036]
const MAX_EXTRA_LABELS = EXTRA_LABEL_BONUSES.length - 1

/** The highest bonus for further labels. */
export const MAX_EXTRA_LABEL_BONUS = EXTRA_LABEL_BONUSES[MAX_EXTRA_LABELS]!

/**
 * Returns the score of a label for a query, from 0 to 1, before it is multiplied by how well the words themselves agree.
 * People type the beginning of a name, or its head noun, which in English is the last word.
 */
export function labelScore(coverage: number, begins: boolean, ends: boolean, ordered: boolean, alias: boolean): number {
  return (0.62 + 0.18 * coverage + (begins ? 0.14 : ends ? 0.1 : 0) + (ordered ? 0.06 : 0)) * (alias ? 0.97 : 1)
}

/** Returns the bonus for further labels of the same skill that contain the query. */
export function extraLabelBonus(extraLabels: number): number {
  return EXTRA_LABEL_BONUSES[extraLabels < MAX_EXTRA_LABELS ? extraLabels : MAX_EXTRA_LABELS]!
}
