import { requirementWords } from '../lexicon/lexicon.ts'
import { GAP_BREAK, type Tokens, wordHash } from '../text/tokens.ts'

/** Whether the employer requires a skill, prefers it ("a plus"), or states that it is not required. */
export type Requirement = 'required' | 'preferred' | 'not_required'

/** By hash of the first word: the hashes of all words of the phrases that mean "preferred". */
const phrasesByFirstHash = new Map<number, number[][]>()
for (const phrase of requirementWords.preferred) {
  const hashes = phrase.split(' ').map(wordHash)
  phrasesByFirstHash.set(hashes[0]!, [...(phrasesByFirstHash.get(hashes[0]!) ?? []), hashes])
}

/** Number of words before and after a mention in which a phrase is searched. */
const MAX_DISTANCE_WORDS = 8

/**
 * Whether a phrase in the same clause as the mention, the words `from` up to `to`, means that the skill is preferred but not required:
 * "knowledge of Tally is a plus". A list that is introduced by such a phrase and a colon counts as its clause: "Good to have: Tally".
 */
export function isPreferred(text: string, tokens: Tokens, from: number, to: number): boolean {
  const { gaps, count, starts, ends } = tokens
  for (let at = to; at < count && at < to + MAX_DISTANCE_WORDS; at++) {
    if (gaps[at] === GAP_BREAK && !isBracket(text, ends[at - 1]!, starts[at]!)) break
    if (isPreferencePhrase(tokens, at)) return true
  }
  for (let at = from - 1; at >= 0 && at >= from - MAX_DISTANCE_WORDS; at--) {
    if (gaps[at + 1] === GAP_BREAK && !isListSign(text, ends[at]!, starts[at + 1]!)) break
    if (isPreferencePhrase(tokens, at)) return true
  }
  return false
}

function isPreferencePhrase({ hashes, count }: Tokens, at: number): boolean {
  const phrases = phrasesByFirstHash.get(hashes[at]!)
  return (
    phrases?.some((phrase) => at + phrase.length <= count && phrase.every((hash, i) => hashes[at + i] === hash)) ??
    false
  )
}

/** Whether the characters from `from` to `to` are an opening bracket and spaces: "Tally (preferred)". */
function isBracket(text: string, from: number, to: number): boolean {
  return text.slice(from, to).trim() === '('
}

/** Whether the characters from `from` to `to` join a heading or the items of a list. */
function isListSign(text: string, from: number, to: number): boolean {
  return /^\s*[:,]\s*$/.test(text.slice(from, to)) && !text.slice(from, to).includes('\n\n')
}
