import { employerWords } from '../lexicon/lexicon.ts'
import { GAP_BREAK, type Tokens, wordHash } from '../text/tokens.ts'

const businesses = hashSet(employerWords.businesses)
const prepositions = hashSet(employerWords.prepositions)
const reporting = hashSet(employerWords.reporting)
const determiners = hashSet(employerWords.determiners)
const TO = wordHash('to')
const MAX_DETERMINERS = 3
/** Endings of words for people. */
const PERSON_ENDING = /(er|or|ist|ant|cian|ner|man|men|boss)s?$/

/** Whether the words `from` up to `to` describe the employer or a colleague. */
export function isAboutOthers(tokens: Tokens, from: number, to: number): boolean {
  const { hashes, gaps, count } = tokens
  if (to < count && gaps[to] !== GAP_BREAK && businesses.has(hashes[to]!)) return true
  let before = from - 1
  while (
    before >= 0 &&
    before >= from - MAX_DETERMINERS &&
    gaps[before + 1] !== GAP_BREAK &&
    determiners.has(hashes[before]!)
  )
    before--
  // "report to project manager" needs no determiner.
  if (from > 1 && hashes[from - 1] === TO && reporting.has(hashes[from - 2]!)) return true
  // "with the designer", but not "checking with multimeter".
  if (before < 0 || before === from - 1 || gaps[before + 1] === GAP_BREAK || !prepositions.has(hashes[before]!))
    return false
  return PERSON_ENDING.test(tokens.word(to - 1))
}

function hashSet(words: readonly string[]): ReadonlySet<number> {
  return new Set(words.map(wordHash))
}
