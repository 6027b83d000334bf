import { wordHash } from '../text/tokens.ts'
import { fillerWords, hiringWords, roleWords } from './lexicon.ts'

const fillerHashes: ReadonlySet<number> = new Set(Array.from(fillerWords, wordHash))
const roleHashes: ReadonlySet<number> = new Set(Array.from(roleWords, wordHash))

/**
 * Whether the word with this hash is a filler: it is part of many skill names and identifies none of them, as "kaam" (work) in
 * "bijli ka kaam".
 */
export function isFiller(hash: number): boolean {
  return fillerHashes.has(hash)
}

/** Whether the word with this hash names a role: "operator", "helper". */
export function isRoleWord(hash: number): boolean {
  return roleHashes.has(hash)
}

/** Removes fillers and role words from a query. Returns the query unchanged if it has no other words. */
export function stripRoleWords(words: string[]): string[] {
  const contentWords = words.filter((word) => !fillerWords.has(word) && !roleWords.has(word))
  return contentWords.length > 0 ? contentWords : words
}

/**
 * Removes hiring words, and the number of people, from a query: "2 welder chahiye" becomes "welder". Returns the query unchanged
 * if it has no other words.
 */
export function stripHiringWords(words: string[]): string[] {
  const contentWords = words.filter((word) => !hiringWords.has(word))
  if (contentWords.length === 0 || contentWords.length === words.length) return words
  return contentWords.length > 1 && /^\d{1,2}$/.test(contentWords[0]!) ? contentWords.slice(1) : contentWords
}
