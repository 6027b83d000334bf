import { agentNouns, hindiActivities, misspellings } from './lexicon.ts'

/**
 * Forms in which a word of a skill name can occur in a text, in addition to those of `stems.ts`: inflections of Hindi words (in
 * Devanagari and Latin script), and nouns for the person who does an activity.
 */

/**
 * Endings of Hindi words, each with the endings of the other inflections. The first ending that matches is used: verbs, then
 * nouns.
 */
const HINDI_ENDINGS: [string, string[]][] = [
  ['ना', ['ने', 'नी']],
  ['ने', ['ना', 'नी']],
  ['ी', ['ियां', 'ियों']],
  ['ा', ['े', 'ों']],
]
/** Matches a Devanagari word whose last sign is a consonant. */
const ENDS_WITH_CONSONANT = /[क-ह]$/
/** Endings of Hindi words in Latin script, as in HINDI_ENDINGS. */
const ROMANISED_ENDINGS: [string, string[]][] = [
  ['na', ['ne', 'ni', 'nee']],
  ['ne', ['na', 'ni']],
  ['i', ['iyan', 'iyon', 'iya']],
  ['a', ['e', 'on']],
]
const NO_WORDS: readonly string[] = []

/** Returns the inflections of a Hindi word in Devanagari: लगाने for लगाना, मिस्त्रियों for मिस्त्री. */
export function hindiInflections(word: string): string[] {
  if (word.length < 3) return []
  for (const [ending, otherEndings] of HINDI_ENDINGS)
    if (word.endsWith(ending)) return otherEndings.map((other) => word.slice(0, -ending.length) + other)
  return ENDS_WITH_CONSONANT.test(word) ? [`${word}ें`, `${word}ों`] : []
}

/**
 * Returns the inflections of a Hindi word in Latin script: lagane for lagana, gaadiyan for gaadi. Call it only for words that are
 * known to be Hindi.
 */
export function romanisedInflections(word: string): string[] {
  if (word.length < 5) return []
  for (const [ending, otherEndings] of ROMANISED_ENDINGS)
    if (word.endsWith(ending)) return otherEndings.map((other) => word.slice(0, -ending.length) + other)
  return []
}

/** Returns the common misspellings of a word. */
export function misspellingsOf(word: string): readonly string[] {
  return misspellings.get(word) ?? NO_WORDS
}

/** Returns the Hindi words for an English activity. */
export function hindiTranslations(word: string): readonly string[] {
  return hindiActivities.get(word) ?? NO_WORDS
}

/** Returns the words for the person who does an activity: driver for driving, operator for operation. */
export function agentNounsFor(word: string): readonly string[] {
  const listedNouns = agentNouns.get(word)
  if (listedNouns) return listedNouns
  if (word.length < 6) return NO_WORDS
  if (word.endsWith('ing')) return [`${word.slice(0, -3)}er`]
  return /[ts]ion$/.test(word) ? [`${word.slice(0, -3)}or`] : NO_WORDS
}
