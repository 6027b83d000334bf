import { labelScore, MAX_EXTRA_LABEL_BONUS } from '../labels/label-score.ts'
import { ALIAS, NAME } from '../labels/labels.ts'
import { MAX_PRIOR } from '../labels/prior.ts'
import { EXACT_AGREEMENT, type QueryWord } from './query-words.ts'

/** Scoring of a skill for a query: the score of its best label, a bonus for further labels, and its prior. */

const EXACT_NAME_SCORE = 1
const EXACT_BARE_NAME_SCORE = 0.985
const EXACT_ALIAS_SCORE = 0.97
const MAX_INEXACT_SCORE = 0.96
/**
 * Score of an alias of an imported skill that is not verifiable. Lower, because taxonomies have thousands of such aliases:
 * "welding" is an alias of joining metals.
 */
const EXACT_IMPORTED_ALIAS_SCORE = 0.85

/** Bonus for a word that begins as typed and is a whole label: completing it gives the exact name. */
export const WHOLE_LABEL_BONUS = 0.03
/** Factor of the prior if the word is in the name of the skill's sub-skill. */
export const SUB_SKILL_PRIOR_FACTOR = 1.5

/** Factor for words that are spread over several labels of a skill, none of which contains all of them. */
export const SCATTERED_WORDS_FACTOR = 0.55
/** Matches up to this score consist of scattered words or substrings, so another reading of the query may be better. */
export const MAX_DOUBTFUL_SCORE = 0.8

/** Scores above this are compressed, so that a label score with all bonuses stays below an exact name. */
const MIN_COMPRESSED_SCORE = 0.8
const MAX_RAW_SCORE = 1 + MAX_EXTRA_LABEL_BONUS + WHOLE_LABEL_BONUS + (SUB_SKILL_PRIOR_FACTOR * MAX_PRIOR) / 1000
const COMPRESSION_FACTOR = (MAX_INEXACT_SCORE - MIN_COMPRESSED_SCORE) / (MAX_RAW_SCORE - MIN_COMPRESSED_SCORE)

/** Returns the score of a label that equals the query word by word. */
export function exactScore(kind: number, importedOnly: boolean): number {
  if (kind === NAME) return EXACT_NAME_SCORE
  if (importedOnly) return EXACT_IMPORTED_ALIAS_SCORE
  return kind === ALIAS ? EXACT_ALIAS_SCORE : EXACT_BARE_NAME_SCORE
}

/** Returns the final score of an inexact match; keeps the order of the raw scores. */
export function compressScore(rawScore: number): number {
  return rawScore <= MIN_COMPRESSED_SCORE
    ? rawScore
    : MIN_COMPRESSED_SCORE + (rawScore - MIN_COMPRESSED_SCORE) * COMPRESSION_FACTOR
}

/** Whether the label that was matched last equals the query. */
export function isExactMatch(words: QueryWord[], labelWordCount: number): boolean {
  if (words.length !== labelWordCount) return false
  for (let i = 0; i < words.length; i++)
    if (words[i]!.agreement !== EXACT_AGREEMENT || words[i]!.position !== i) return false
  return true
}

/** Returns the raw score of the label that was matched last and contains all words. */
export function matchedLabelScore(words: QueryWord[], labelWordCount: number, length: number, kind: number): number {
  let letterCount = 0
  let agreed = 0
  let ordered = true
  let lastPosition = -1
  for (let i = 0; i < words.length; i++) {
    const { text, agreement, position } = words[i]!
    letterCount += text.length
    agreed += text.length * agreement
    if (agreement === 0) continue
    if (position <= lastPosition) ordered = false
    lastPosition = position
  }
  const beginsLabel = words[0]!.position === 0
  const lastWord = words[words.length - 1]!
  const endsLabel = lastWord.agreement === EXACT_AGREEMENT && lastWord.position === labelWordCount - 1
  return (
    (labelScore(Math.min(1, letterCount / length), beginsLabel, endsLabel, ordered, kind === ALIAS) * agreed) /
    letterCount /
    100
  )
}

/** Returns the raw score of words that were matched in several labels; 0 if a required word is missing. */
export function scatteredScore(words: QueryWord[]): number {
  let letterCount = 0
  let agreed = 0
  for (const { text, agreement, required } of words) {
    if (agreement === 0 && required) return 0
    letterCount += text.length
    agreed += (text.length * agreement) / 100
  }
  return (SCATTERED_WORDS_FACTOR * agreed) / letterCount
}
