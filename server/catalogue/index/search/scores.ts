import { ALIAS, NAME } from '../labels/labels.ts'
import { HIGHEST_STANDING } from '../labels/prior.ts'
import { EXACT, type QueryWord } from './query-words.ts'

/** What makes a skill score: what its label is worth, further labels that hold the words, and how it stands. */

const EXACT_NAME = 1
const EXACT_BARE_NAME = 0.985
const EXACT_ALIAS = 0.97
const BELOW_EXACT = 0.96
/** Taxonomies have thousands of names for what nobody here is tested on: "welding" is one for joining metals. */
const EXACT_FOREIGN = 0.85

/** What a skill is worth more when one, two or more further labels hold what was asked for: it is about that. */
const MORE_LABELS = [0, 0.016, 0.028, 0.036]
const MOST_MORE = MORE_LABELS.length - 1
/** What a word counts for more that goes on as asked and is the whole of a label: whoever types on gets the very name. */
export const WHOLE_LABEL = 0.03
/** How a skill stands counts that much more when the word is the name of its sub-skill. */
export const NAMED_BY_GROUP = 1.5

/** Words found under several labels of one skill, none of which holds them all. */
export const SCATTERED = 0.55
/** A score up to this is that of words scattered so, or of words inside others: there may be a better reading. */
export const DOUBTFUL = 0.8

/** From here up scores are drawn together, so that all that may come on top of a label's worth stays below an exact name. */
const CLOSE = 0.8
const HIGHEST = 1 + MORE_LABELS[MOST_MORE]! + WHOLE_LABEL + (NAMED_BY_GROUP * HIGHEST_STANDING) / 1000
const DRAWN_TOGETHER = (BELOW_EXACT - CLOSE) / (HIGHEST - CLOSE)

/**
 * What a label is worth for a query, from 0 to 1, apart from how well the words themselves agree. People type the beginning of a
 * name, or the word it is about, which in English is the last.
 */
export function labelWorth(coverage: number, begins: boolean, ends: boolean, ordered: boolean, alias: boolean): number {
  return (0.62 + 0.18 * coverage + (begins ? 0.14 : ends ? 0.1 : 0) + (ordered ? 0.06 : 0)) * (alias ? 0.97 : 1)
}

export function worthOfMore(labels: number): number {
  return MORE_LABELS[labels < MOST_MORE ? labels : MOST_MORE]!
}

/** The score of a label that is what was asked for, word by word. */
export function exactScore(kind: number, foreign: boolean): number {
  if (kind === NAME) return EXACT_NAME
  if (foreign) return EXACT_FOREIGN
  return kind === ALIAS ? EXACT_ALIAS : EXACT_BARE_NAME
}

/** The score of anything else: in the order of what it is worth. */
export function scoreOf(worth: number): number {
  return worth <= CLOSE ? worth : CLOSE + (worth - CLOSE) * DRAWN_TOGETHER
}

/** Whether a label of so many words is the query itself. */
export function isExact(words: QueryWord[], labelCount: number): boolean {
  if (words.length !== labelCount) return false
  for (let i = 0; i < words.length; i++) if (words[i]!.found !== EXACT || words[i]!.place !== i) return false
  return true
}

/** What a label is worth that holds all words. */
export function worthOfLabel(words: QueryWord[], labelCount: number, length: number, kind: number): number {
  let asked = 0
  let agreed = 0
  let ordered = true
  for (let i = 0; i < words.length; i++) {
    const { text, found, place } = words[i]!
    asked += text.length
    agreed += text.length * found
    if (i > 0 && place <= words[i - 1]!.place) ordered = false
  }
  const begins = words[0]!.place === 0
  const last = words[words.length - 1]!
  const ends = last.found === EXACT && last.place === labelCount - 1
  return (labelWorth(Math.min(1, asked / length), begins, ends, ordered, kind === ALIAS) * agreed) / asked / 100
}

/** What words are worth that are all there, but under several labels. */
export function worthOfScattered(words: QueryWord[]): number {
  let asked = 0
  let agreed = 0
  for (const { text, found, required } of words) {
    if (found === 0 && required) return 0
    asked += text.length
    agreed += (text.length * found) / 100
  }
  return (SCATTERED * agreed) / asked
}
