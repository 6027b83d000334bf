import { wordHash } from '../text/tokens.ts'
import { fillerWords, hiringWords, roleWords } from './lexicon.ts'

const fillerHashes: ReadonlySet<number> = new Set(Array.from(fillerWords, wordHash))
const roleHashes: ReadonlySet<number> = new Set(Array.from(roleWords, wordHash))

/** Whether the word with this hash completes a name without saying which skill it is. */
export function isFiller(hash: number): boolean {
  return fillerHashes.has(hash)
}

/** Whether the word with this hash names a role: "operator", "helper". */
export function isRoleWord(hash: number): boolean {
  return roleHashes.has(hash)
}

/** Returns the words of a query without fillers and role words; all of them if nothing else is left. */
export function stripRoleWords(words: string[]): string[] {
  const contentWords = words.filter((word) => !fillerWords.has(word) && !roleWords.has(word))
  return contentWords.length > 0 ? contentWords : words
}

/** Returns the words of a query without hiring words and the number of people wanted; all of them if nothing else is left. */
export function stripHiringWords(words: string[]): string[] {
  const contentWords = words.filter((word) => !hiringWords.has(word))
  if (contentWords.length === 0 || contentWords.length === words.length) return words
  return contentWords.length > 1 && /^\d{1,2}$/.test(contentWords[0]!) ? contentWords.slice(1) : contentWords
}
