import { labelScore, MAX_EXTRA_LABEL_BONUS } from '../labels/label-score.ts'
import { ALIAS, NAME } from '../labels/labels.ts'
import { MAX_PRIOR } from '../labels/prior.ts'
import { EXACT_AGREEMENT, type QueryWord } from './query-words.ts'

/**
 * Scores of skills for a query, from 0 to 1. The raw score of a skill is the score of its best label, plus a bonus if several labels
 * match, plus its prior. A bare name is a name without its note in brackets: "Java" for "Java (computer programming)".
 */

const EXACT_NAME_SCORE = 1
const EXACT_BARE_NAME_SCORE = 0.985
const EXACT_ALIAS_SCORE = 0.97
const MAX_INEXACT_SCORE = 0.96
/**
 * Score of an exact alias or bare name of an imported skill that is not preferred. It is lower because taxonomies have thousands
 * of imprecise aliases: "welding" is an alias of "Join metals".
 */
const EXACT_IMPORTED_ALIAS_SCORE = 0.85

/** Bonus if the query is part of a word that is a whole label: "phot" for the skill "Photography". */
export const WHOLE_LABEL_BONUS = 0.03
/** The prior is multiplied by this if the name of the skill's sub-skill contains the query word. */
export const SUB_SKILL_PRIOR_FACTOR = 1.5

/** The score is multiplied by this if no single label contains all query words, but the labels of the skill together do. */
export const SCATTERED_WORDS_FACTOR = 0.55
/**
 * If the best score is not higher than this, the hits are doubtful: the query words are scattered over several labels or are
 * substrings. Variants of the query are then tried, too.
 */
export const MAX_DOUBTFUL_SCORE = 0.8

/**
 * Raw scores from this threshold to MAX_RAW_SCORE are mapped to the range from the threshold to MAX_INEXACT_SCORE. So an inexact
 * match with all bonuses still scores below an exact name or alias.
 */
const COMPRESSION_THRESHOLD = 0.8
const MAX_RAW_SCORE = 1 + MAX_EXTRA_LABEL_BONUS + WHOLE_LABEL_BONUS + (SUB_SKILL_PRIOR_FACTOR * MAX_PRIOR) / 1000
const COMPRESSION_FACTOR = (MAX_INEXACT_SCORE - COMPRESSION_THRESHOLD) / (MAX_RAW_SCORE - COMPRESSION_THRESHOLD)

/** Returns the score of a label that has exactly the words of the query. `kind` is NAME, BARE_NAME or ALIAS. */
export function exactMatchScore(kind: number, isOrdinaryImport: boolean): number {
  if (kind === NAME) return EXACT_NAME_SCORE
  if (isOrdinaryImport) return EXACT_IMPORTED_ALIAS_SCORE
  return kind === ALIAS ? EXACT_ALIAS_SCORE : EXACT_BARE_NAME_SCORE
}

/** Converts the raw score of an inexact match to its final score. A higher raw score has a higher final score. */
export function compressScore(rawScore: number): number {
  return rawScore <= COMPRESSION_THRESHOLD
    ? rawScore
    : COMPRESSION_THRESHOLD + (rawScore - COMPRESSION_THRESHOLD) * COMPRESSION_FACTOR
}

/** Whether the label has exactly the words of the query, in the same order. Uses the results of the last `matchLabel` calls. */
export function isExactMatch(words: QueryWord[], labelWordCount: number): boolean {
  if (words.length !== labelWordCount) return false
  for (let i = 0; i < words.length; i++)
    if (words[i]!.agreement !== EXACT_AGREEMENT || words[i]!.position !== i) return false
  return true
}

/**
 * Returns the raw score of a label that contains all required words. Uses the results of the last `matchLabel` calls. `length` is
 * the number of letters of the label without fillers.
 */
export function matchedLabelScore(words: QueryWord[], labelWordCount: number, length: number, kind: number): number {
  let letterCount = 0
  let agreementSum = 0
  let isInLabelOrder = true
  let lastPosition = -1
  for (let i = 0; i < words.length; i++) {
    const { text, agreement, position } = words[i]!
    letterCount += text.length
    agreementSum += text.length * agreement
    if (agreement === 0) continue
    if (position <= lastPosition) isInLabelOrder = false
    lastPosition = position
  }
  const beginsLabel = words[0]!.position === 0
  const lastWord = words[words.length - 1]!
  const endsLabel = lastWord.agreement === EXACT_AGREEMENT && lastWord.position === labelWordCount - 1
  return (
    (labelScore(Math.min(1, letterCount / length), beginsLabel, endsLabel, isInLabelOrder, kind === ALIAS) *
      agreementSum) /
    letterCount /
    100
  )
}

/** Returns the raw score of query words that were found in different labels of a skill; 0 if a required word is missing. */
export function scatteredScore(words: QueryWord[]): number {
  let letterCount = 0
  let agreedLetters = 0
  for (const { text, agreement, required } of words) {
    if (agreement === 0 && required) return 0
    letterCount += text.length
    agreedLetters += (text.length * agreement) / 100
  }
  return (SCATTERED_WORDS_FACTOR * agreedLetters) / letterCount
}
