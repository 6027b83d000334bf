import { languageWords } from '../lexicon/lexicon.ts'
import { GAP_BREAK, type Tokens, wordHash } from '../text/tokens.ts'

const languageHashes: ReadonlySet<number> = new Set(languageWords.languages.map(wordHash))
const orHashes: ReadonlySet<number> = new Set(languageWords.or.map(wordHash))
const SLASH = 0x2f

/** Whether the mention, the words `from` up to `to`, is the name of a language. */
export function isLanguage({ hashes }: Tokens, from: number, to: number): boolean {
  return to - from === 1 && languageHashes.has(hashes[from]!)
}

/** Whether the text offers another language as an alternative to the one at `at`: "Tamil or Hindi", "Hindi/Konkani". */
export function isOneOfSeveralLanguages(text: string, tokens: Tokens, at: number): boolean {
  return isAlternative(text, tokens, at, at + 1, 1) || isAlternative(text, tokens, at - 1, at, -1)
}

/**
 * Whether a slash or an "or" joins a language with another language: with the following one if `direction` is 1, with the
 * previous one if it is -1. `left` and `right` are the language and the word next to it in that direction, in the order of the
 * text.
 */
function isAlternative(text: string, tokens: Tokens, left: number, right: number, direction: 1 | -1): boolean {
  const { hashes, gaps, starts, ends, count } = tokens
  if (left < 0 || right >= count) return false
  for (let at = ends[left]!; at < starts[right]!; at++)
    if (text.charCodeAt(at) === SLASH) return languageHashes.has(hashes[direction > 0 ? right : left]!)
  const conjunction = direction > 0 ? right : left
  const otherWord = conjunction + direction
  if (!orHashes.has(hashes[conjunction]!) || otherWord < 0 || otherWord >= count) return false
  return (
    gaps[right] !== GAP_BREAK &&
    gaps[direction > 0 ? otherWord : right] !== GAP_BREAK &&
    languageHashes.has(hashes[otherWord]!)
  )
}
