import { employerWords } from '../lexicon/lexicon.ts'
import { GAP_BREAK, type Tokens, wordHash } from '../text/tokens.ts'

const businessHashes = hashWords(employerWords.businesses)
const prepositionHashes = hashWords(employerWords.prepositions)
const reportingHashes = hashWords(employerWords.reporting)
const determinerHashes = hashWords(employerWords.determiners)
const TO_HASH = wordHash('to')
const MAX_DETERMINERS = 3
/** Endings of words for people, such as "manager" and "technician". */
const PERSON_ENDING = /(er|or|ist|ant|cian|ner|man|men|boss)s?$/

/** Whether the words `from` up to `to` describe the employer or a colleague. */
export function isAboutEmployerOrColleague(tokens: Tokens, from: number, to: number): boolean {
  const { hashes, gaps, count } = tokens
  if (to < count && gaps[to] !== GAP_BREAK && businessHashes.has(hashes[to]!)) return true
  let wordBefore = from - 1
  while (
    wordBefore >= 0 &&
    wordBefore >= from - MAX_DETERMINERS &&
    gaps[wordBefore + 1] !== GAP_BREAK &&
    determinerHashes.has(hashes[wordBefore]!)
  )
    wordBefore--
  // "report to project manager" needs no determiner.
  if (from > 1 && hashes[from - 1] === TO_HASH && reportingHashes.has(hashes[from - 2]!)) return true
  // "with the designer", but not "checking with multimeter".
  if (
    wordBefore < 0 ||
    wordBefore === from - 1 ||
    gaps[wordBefore + 1] === GAP_BREAK ||
    !prepositionHashes.has(hashes[wordBefore]!)
  )
    return false
  return PERSON_ENDING.test(tokens.word(to - 1))
}

function hashWords(words: readonly string[]): ReadonlySet<number> {
  return new Set(words.map(wordHash))
}
