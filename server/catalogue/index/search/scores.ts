import { labelScore, MAX_EXTRA_LABEL_BONUS } from '../labels/label-score.ts'
import { ALIAS, NAME } from '../labels/labels.ts'
import { MAX_PRIOR } from '../labels/prior.ts'
import { EXACT, type QueryWord } from './query-words.ts'

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
export const SCATTERED_FACTOR = 0.55
/** Up to this score the words are scattered or substrings, so another reading of the query may be better. */
export const MAX_DOUBTFUL_SCORE = 0.8

/** Scores above this are compressed, so that a label score with all bonuses stays below an exact name. */
const COMPRESS_ABOVE = 0.8
const MAX_RAW_SCORE = 1 + MAX_EXTRA_LABEL_BONUS + WHOLE_LABEL_BONUS + (SUB_SKILL_PRIOR_FACTOR * MAX_PRIOR) / 1000
const COMPRESSION_FACTOR = (MAX_INEXACT_SCORE - COMPRESS_ABOVE) / (MAX_RAW_SCORE - COMPRESS_ABOVE)

/** Returns the score of a label that equals the query word by word. */
export function exactScore(kind: number, importedOnly: boolean): number {
  if (kind === NAME) return EXACT_NAME_SCORE
  if (importedOnly) return EXACT_IMPORTED_ALIAS_SCORE
  return kind === ALIAS ? EXACT_ALIAS_SCORE : EXACT_BARE_NAME_SCORE
}

/** Returns the final score of an inexact match; keeps the order of the raw scores. */
export function compressScore(raw: number): number {
  return raw <= COMPRESS_ABOVE ? raw : COMPRESS_ABOVE + (raw - COMPRESS_ABOVE) * COMPRESSION_FACTOR
}

/** Whether the label that was matched last equals the query. */
export function isExactMatch(words: QueryWord[], labelWordCount: number): boolean {
  if (words.length !== labelWordCount) return false
  for (let i = 0; i < words.length; i++) if (words[i]!.agreement !== EXACT || words[i]!.position !== i) return false
  return true
}

/** Returns the raw score of the label that was matched last and contains all words. */
export function matchedLabelScore(words: QueryWord[], labelWordCount: number, length: number, kind: number): number {
  let letters = 0
  let agreed = 0
  let ordered = true
  let lastPosition = -1
  for (let i = 0; i < words.length; i++) {
    const { text, agreement, position } = words[i]!
    letters += text.length
    agreed += text.length * agreement
    if (agreement === 0) continue
    if (position <= lastPosition) ordered = false
    lastPosition = position
  }
  const begins = words[0]!.position === 0
  const last = words[words.length - 1]!
  const ends = last.agreement === EXACT && last.position === labelWordCount - 1
  return (labelScore(Math.min(1, letters / length), begins, ends, ordered, kind === ALIAS) * agreed) / letters / 100
}

/** Returns the raw score of words that were matched in several labels; 0 if a required word is missing. */
export function scatteredScore(words: QueryWord[]): number {
  let letters = 0
  let agreed = 0
  for (const { text, agreement, required } of words) {
    if (agreement === 0 && required) return 0
    letters += text.length
    agreed += (text.length * agreement) / 100
  }
  return (SCATTERED_FACTOR * agreed) / letters
}
