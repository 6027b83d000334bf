import { readFileSync } from 'node:fs'
import { type MappingLimits, parseListsWithHeadings, parseMapping, parseWordGroups, parseWordList } from './parse.ts'

/**
 * The word lists of `data/lexicon/`, read when the process starts. The files explain what each list is for. An invalid line stops
 * the process with its file and line number.
 */

const LEXICON_FOLDER = new URL('../../../../data/lexicon/', import.meta.url)

const readLexiconFile = (file: string): string => readFileSync(new URL(file, LEXICON_FOLDER), 'utf8')
const setOf = (words: Iterable<string>): ReadonlySet<string> => new Set(words)

function loadLists<Heading extends string>(
  file: string,
  maxWords: Readonly<Record<Heading, number>>,
): Record<Heading, readonly string[]> {
  return parseListsWithHeadings(file, readLexiconFile(file), maxWords)
}

function loadMapping(file: string, limits: MappingLimits): ReadonlyMap<string, readonly string[]> {
  return parseMapping(file, readLexiconFile(file), limits)
}

/** Loads a file with lines of `key = value`. */
function loadPairs(file: string, maxKeyWords: number, maxValueWords: number): ReadonlyMap<string, string> {
  const mapping = loadMapping(file, { maxKeyWords, maxValueWords, maxValues: 1 })
  return new Map(Array.from(mapping, ([key, values]) => [key, values[0]!]))
}

const SINGLE_WORD_LIMITS: MappingLimits = { maxKeyWords: 1, maxValueWords: 1, maxValues: 20 }

const stopWordLists = loadLists('stop-words.txt', {
  'stop words': 1,
  'function words': 1,
  particles: 1,
  praise: 1,
  'generic words': 1,
})
export const stopWords = setOf(stopWordLists['stop words'])
export const functionWords = setOf(stopWordLists['function words'])
export const particles = setOf(stopWordLists.particles)
export const praiseWords = setOf(stopWordLists.praise)
export const genericWords = setOf(stopWordLists['generic words'])

const fillerWordLists = loadLists('filler-words.txt', { fillers: 1, 'role words': 1, 'hiring words': 1 })
export const fillerWords = setOf(fillerWordLists.fillers)
export const roleWords = setOf(fillerWordLists['role words'])
export const hiringWords = setOf(fillerWordLists['hiring words'])

const applicantWordLists = loadLists('applicant-words.txt', { always: 1, pairs: 2, alone: 1 })
export const applicantWords = setOf(applicantWordLists.always)
export const applicantWordPairs = setOf(applicantWordLists.pairs)
export const applicantWordsAlone = setOf(applicantWordLists.alone)

export const everydayWords = setOf(parseWordList('everyday-words.txt', readLexiconFile('everyday-words.txt')))
export const synonymGroups: readonly (readonly string[])[] = parseWordGroups(
  'thesaurus.txt',
  readLexiconFile('thesaurus.txt'),
)

/** Maximum number of words per entry in these files; longer phrases are not looked up. */
export const MAX_SHORT_FORM_WORDS = 3
export const MAX_SPOKEN_PHRASE_WORDS = 3
export const MAX_ADVERTISEMENT_PHRASE_WORDS = 5

export const shortForms = loadPairs('short-forms.txt', MAX_SHORT_FORM_WORDS, 8)
export const spokenPhrases = loadPairs('spoken-phrases.txt', MAX_SPOKEN_PHRASE_WORDS, 8)
export const misspellings = loadMapping('misspellings.txt', SINGLE_WORD_LIMITS)
export const americanSpellings = loadPairs('american-spellings.txt', 1, 1)
export const agentNouns = loadMapping('agent-nouns.txt', SINGLE_WORD_LIMITS)
export const hindiActivities = loadMapping('hindi-activities.txt', SINGLE_WORD_LIMITS)
export const numerals = loadPairs('numerals.txt', 1, 1)

const stemExceptions = loadLists('stem-exceptions.txt', {
  'nouns in -ing': 1,
  'underived words': 1,
  'not a plural': 1,
  'never spelt with z': 1,
})
export const nounsInIng = setOf(stemExceptions['nouns in -ing'])
export const underivedWords = setOf(stemExceptions['underived words'])
export const wordsThatAreNotPlurals = setOf(stemExceptions['not a plural'])
export const wordsNeverSpeltWithZ: readonly string[] = stemExceptions['never spelt with z']

export const advertisementWords = loadLists('advertisement-words.txt', {
  'rarely a skill': MAX_ADVERTISEMENT_PHRASE_WORDS,
  'never a skill': MAX_ADVERTISEMENT_PHRASE_WORDS,
  urgency: 1,
  joiners: 1,
})
export const employerWords = loadLists('employer-words.txt', {
  businesses: 1,
  prepositions: 1,
  reporting: 1,
  determiners: 1,
  'self-descriptions': MAX_SHORT_FORM_WORDS,
})
export const languageWords = loadLists('language-words.txt', { languages: 1, or: 1 })
export const nameParts = loadLists('name-parts.txt', {
  'linking words': 1,
  conjunctions: 1,
  'following words': 1,
  'joined words': 1,
  activities: 1,
  'left out with activities': 1,
  'words for work': 1,
})
export const negationWords = loadLists('negation-words.txt', {
  negations: 1,
  'hindi negations': 1,
  'forward negations': 1,
  'cancelling words': 1,
  'requirement words': 1,
  'other requirements': 1,
  but: 1,
  or: 1,
  'relative pronouns': 1,
  dismissals: 1,
  'done elsewhere': 1,
  'done by': 1,
  by: 1,
  'to be': 1,
  with: 1,
  another: 1,
  sent: 1,
  outside: 1,
  'hindi outside': 1,
  'after hindi outside': 1,
  'hindi separate': 1,
  'after hindi separate': 1,
  for: 1,
  'another person': 1,
  contractors: 1,
})
