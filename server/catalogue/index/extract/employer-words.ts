import { employerWords } from '../lexicon/lexicon.ts'
import { GAP_BREAK, type Tokens, wordHash } from '../text/tokens.ts'

const businessHashes = hashWords(employerWords.businesses)
const prepositionHashes = hashWords(employerWords.prepositions)
const reportingHashes = hashWords(employerWords.reporting)
const determinerHashes = hashWords(employerWords.determiners)
const TO_HASH = wordHash('to')
/** Maximum number of determiners before a mention that are skipped: "with all the designers". */
const MAX_DETERMINERS = 3
/** Endings of words for people, such as "manager" and "technician". */
const PERSON_ENDING = /(er|or|ist|ant|cian|ner|man|men|boss)s?$/

/**
 * Whether the mention, the words `from` up to `to`, describes the employer ("welding company") or a colleague ("report to the
 * sales manager") instead of the applicant.
 */
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
  // After "report to" no determiner is needed: "report to project manager".
  if (from > 1 && hashes[from - 1] === TO_HASH && reportingHashes.has(hashes[from - 2]!)) return true
  // After another preposition a determiner is needed: "with the designer", but not "checking with multimeter".
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
