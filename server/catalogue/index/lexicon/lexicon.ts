import { readFileSync } from 'node:fs'
import { type MappingLimits, parseListsWithHeadings, parseMapping, parseWordGroups, parseWordList } from './parse.ts'

/**
 * The word lists of `data/lexicon/`, read when the process starts, except for the two longest. The comments in these files explain each list. If
 * a line is invalid, the process does not start, and the error contains the file and line number.
 */

const LEXICON_FOLDER = new URL('../../../../data/lexicon/', import.meta.url)

const readLexiconFile = (file: string): string => readFileSync(new URL(file, LEXICON_FOLDER), 'utf8')
const setOf = (words: Iterable<string>): ReadonlySet<string> => new Set(words)

/** Loads a file of lists with headings. `maxWords` is the maximum number of words of an entry, by heading. */
function loadLists<Heading extends string>(
  file: string,
  maxWords: Readonly<Record<Heading, number>>,
): Record<Heading, readonly string[]> {
  return parseListsWithHeadings(file, readLexiconFile(file), maxWords)
}

/** Loads a file with lines of `key = value; value`. */
function loadMapping(file: string, limits: MappingLimits): ReadonlyMap<string, readonly string[]> {
  return parseMapping(file, readLexiconFile(file), limits)
}

/** Loads a file with lines of `key = value`. */
function loadPairs(file: string, maxKeyWords: number, maxValueWords: number): ReadonlyMap<string, string> {
  const mapping = loadMapping(file, { maxKeyWords, maxValueWords, maxValues: 1 })
  return new Map(Array.from(mapping, ([key, values]) => [key, values[0]!]))
}

/** Returns a function that loads a value at its first call. */
function onFirstUse<T extends object>(load: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= load()
    return value
  }
}

const SINGLE_WORD_LIMITS: MappingLimits = { maxKeyWords: 1, maxValueWords: 1, maxValues: 20 }

const stopWordLists = loadLists('stop-words.txt', {
  'stop words': 1,
  'function words': 1,
  particles: 1,
  praise: 1,
  'generic words': 1,
})
/** Words without a meaning of their own: "the", "of". */
export const stopWords = setOf(stopWordLists['stop words'])
/** Other grammatical words: "can", "who". */
export const functionWords = setOf(stopWordLists['function words'])
/** Words that are ignored only if a phrase has no other words: "up", "job". */
export const particles = setOf(stopWordLists.particles)
/** Words of praise around a skill: "strong", "excellent". */
export const praiseWords = setOf(stopWordLists.praise)
/** Words in the names of many skills: "process", "technique". */
export const genericWords = setOf(stopWordLists['generic words'])

const fillerWordLists = loadLists('filler-words.txt', { fillers: 1, 'role words': 1, 'hiring words': 1 })
/** Words in the name of a skill that do not say which skill it is: "kaam" (work), "mistri" (craftsman). */
export const fillerWords = setOf(fillerWordLists.fillers)
/** Words that people add when they look for a person with a skill: "operator", "experience". */
export const roleWords = setOf(fillerWordLists['role words'])
/** Words of a person who is hiring: "required", "chahiye" (needed). */
export const hiringWords = setOf(fillerWordLists['hiring words'])

const applicantWordLists = loadLists('applicant-words.txt', { always: 1, pairs: 2, alone: 1 })
/** Words that describe the applicant, in every phrase: "honest", "fresher". */
export const applicantWords = setOf(applicantWordLists.always)
/** Pairs of words that describe the applicant, in every phrase: "full time". */
export const applicantWordPairs = setOf(applicantWordLists.pairs)
/** Words that describe the applicant only if the phrase has no other words: "relocate". */
export const applicantWordsAlone = setOf(applicantWordLists.alone)

/** Skill names that are also common English words: "go", "rest". */
export const everydayWords = setOf(parseWordList('everyday-words.txt', readLexiconFile('everyday-words.txt')))
/** Groups of words with the same meaning: truck, lorry. */
export const synonymGroups: readonly (readonly string[])[] = parseWordGroups(
  'thesaurus.txt',
  readLexiconFile('thesaurus.txt'),
)

/**
 * Maximum number of words of a phrase in `short-forms.txt`, `spoken-phrases.txt` and `advertisement-words.txt`. Longer phrases are
 * never looked up.
 */
export const MAX_SHORT_FORM_WORDS = 3
export const MAX_SPOKEN_PHRASE_WORDS = 3
export const MAX_ADVERTISEMENT_PHRASE_WORDS = 5
/** Maximum number of words that replace a short form or a spoken phrase. */
const MAX_REPLACEMENT_WORDS = 8

/** Long forms of abbreviations: hvac = heating ventilation air conditioning. */
export const shortForms = loadPairs('short-forms.txt', MAX_SHORT_FORM_WORDS, MAX_REPLACEMENT_WORDS)
/** Terms of the catalogue for everyday phrases. */
export const spokenPhrases = loadPairs('spoken-phrases.txt', MAX_SPOKEN_PHRASE_WORDS, MAX_REPLACEMENT_WORDS)
/** Common misspellings of a word: fitting = fiting. */
export const misspellings = loadMapping('misspellings.txt', SINGLE_WORD_LIMITS)
/** American spellings of British words that no rule derives. */
export const americanSpellings = loadPairs('american-spellings.txt', 1, 1)
/** Words for the person who does an activity, if no rule derives them. */
export const agentNouns = loadMapping('agent-nouns.txt', SINGLE_WORD_LIMITS)
/** Hindi words for an English activity. */
export const hindiActivities = loadMapping('hindi-activities.txt', SINGLE_WORD_LIMITS)
/** Names of skills, folded, and the words for them in the languages of the regions of India. Read at the first use, to build an index. */
export const regionalNames = onFirstUse(() =>
  loadMapping('regional-names.txt', { maxKeyWords: 6, maxValueWords: 4, maxValues: 100 }),
)
/** Names of skills, folded, and the names of tools, products and tasks that mean them. Read at the first use, to build an index. */
export const tradeTerms = onFirstUse(() =>
  loadMapping('trade-terms.txt', { maxKeyWords: 8, maxValueWords: 6, maxValues: 100 }),
)
export const numerals = loadPairs('numerals.txt', 1, 1)

const stemExceptions = loadLists('stem-exceptions.txt', {
  'nouns in -ing': 1,
  'underived words': 1,
  'not a plural': 1,
  'never spelt with z': 1,
})
/** Words in -ing that name a thing, not an activity: "building". */
export const nounsInIng = setOf(stemExceptions['nouns in -ing'])
/** Words that only look derived from another word: "witness" is not derived from "wit". */
export const underivedWords = setOf(stemExceptions['underived words'])
/** Words that end in s but are not plurals. */
export const nonPlurals = setOf(stemExceptions['not a plural'])
/** Parts of words that keep their s in American spelling: "exercise", unlike "organise". */
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

/** Phrases that show that a skill is preferred, but not required: "a plus", "nice to have". */
export const requirementWords = loadLists('requirement-words.txt', { preferred: 3 })
