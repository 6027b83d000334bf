import { contentWords, foldText, visibleLength, wordsOf } from './text.ts'

/** Extracts option texts from descriptions, names and aliases of the catalogue. */

/** Length of a phrase in characters. */
const MIN_PHRASE_LENGTH = 22
const MAX_PHRASE_LENGTH = 74
/** Shorter phrases such as "Replaces the part" fit too many skills. */
const MIN_PHRASE_WORDS = 4

/** Positions before which a clause is complete. */
const CLAUSE_ENDS =
  /(?:, (?=\p{L}+ing )| (?=(?:with|so that|without|into|under|from|for|by|on|to|in|at|before|after|while|using|through) ))/gu

/** Positions where a second verb with its own object may begin; not "labels and a safe home", not "hands it over". */
const NEXT_VERB =
  /(?:, and|,| and) (?=(\p{Ll}+s) (?!(?:and|or|so|to|for|in|with|of|by|on|at|as|it|them|its|their|from|that|out|off|up|down|over) ))/gu

/** Endings after which the sentence would continue: "sheets run one", "phones by need, sets up". */
const UNFINISHED_ENDING =
  /(?: (?:and|or|of|the|a|an|that|out|not|is|are|as|than|between|its|their|right|set|what|when|where|how|both|up|down|off|side|one|point|soon|never)|, \p{L}+ing)$/u
/** Endings that a whole phrase may have, but a shortened form may not: "goods given", "turned up at walls and sealed". */
const SHORTENED_FORM_ENDING = / (?:given|made|kept|found|held|\p{L}+ed)$/u

/** References to something outside the phrase: "Marks heights from them". */
const UNRESOLVED_REFERENCE =
  /(?:^| )(?:from|of|on|in|with|for|to|by|at|what|that|when|where) (?:it|them|they|its|their)(?= |$)/u

/**
 * Returns the tasks in a description: "Welds with tubular wire, with or without gas, and removes the slag between runs" also gives
 * "Removes the slag between runs". Each task has its shorter forms, longest first.
 *
 * @param verbs first words of descriptions; text after "and" is a task if it begins with one of them
 */
export function tasksOf(description: string, verbs: ReadonlySet<string>): string[][] {
  const sentence = description
    .trim()
    .split(/(?<=\p{Ll}{2})\.\s|\n|; /u)[0]!
    .replace(/[.।\s]+$/u, '')
  const tasks: string[] = []
  let start = 0
  for (const next of sentence.matchAll(NEXT_VERB)) {
    // Verbs with a shared object stay together: "Marks, cuts and joins sheet".
    if (!verbs.has(next[1]!) || next.index - start < MIN_PHRASE_LENGTH) continue
    tasks.push(sentence.slice(start, next.index))
    start = next.index + next[0].length
  }
  tasks.push(sentence.slice(start))
  return tasks
    .map((task, index) => formsOf(task, verbs).filter((form) => index === 0 || !UNRESOLVED_REFERENCE.test(form)))
    .filter((forms) => forms.length > 0)
}

/** Returns the whole task and its shorter forms, longest first. Each form ends where a clause is complete. */
function formsOf(task: string, verbs: ReadonlySet<string>): string[] {
  const clauseEnds = [...task.matchAll(CLAUSE_ENDS)].map(({ index }) => index)
  return [task.length, ...clauseEnds.reverse()]
    .filter((end) => end >= MIN_PHRASE_LENGTH && end <= MAX_PHRASE_LENGTH + 10 && !isInPair(task, end))
    .map((end) => ({ form: capitalise(task.slice(0, end).replace(/[\s,;:]+$/u, '')), isWhole: end === task.length }))
    .filter(({ form, isWhole }) => isPhrase(form, verbs) && (isWhole || !SHORTENED_FORM_ENDING.test(form)))
    .map(({ form }) => form)
}

/** Returns true if the position is inside a paired phrase such as "step by step" or "from top to bottom", which must not be cut. */
function isInPair(task: string, end: number): boolean {
  const [head, tail] = [task.slice(0, end), task.slice(end)]
  const nextWord = /^ by (\p{L}+)/u.exec(tail)?.[1]
  return (
    (nextWord !== undefined && head.endsWith(` ${nextWord}`)) || (tail.startsWith(' to ') && / from [^,]*$/u.test(head))
  )
}

function isPhrase(form: string, verbs: ReadonlySet<string>): boolean {
  if (
    form.length < MIN_PHRASE_LENGTH ||
    visibleLength(form) > MAX_PHRASE_LENGTH ||
    form.split(' ').length < MIN_PHRASE_WORDS
  )
    return false
  if (UNFINISHED_ENDING.test(form) || /[?!:]/.test(form) || form.split('(').length !== form.split(')').length)
    return false
  // The last verb has lost its object: "Weighs, mixes, ferments", "Opens the doors, greets".
  if (!/\S \S/.test(form.replaceAll(', ', ','))) return false
  const lastWord = /(?:, | and | or | then )(\p{Ll}+)$/u.exec(form)?.[1]
  return lastWord === undefined || !verbs.has(lastWord)
}

/** Capitalises the first letter; imported skill names often start in lower case and would be conspicuous. */
export const capitalise = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/**
 * Returns the grammatical form of an option, guessed from its first word and its characters. All options of an item have the same form,
 * so that none is conspicuous: "Joins steel" and "Join steel", "welding" and "Welding", "GMAW" and "मिग वेल्डिंग" are not mixed.
 */
export function grammaticalForm(text: string): string {
  const firstWord = text.split(/\s+/)[0] ?? ''
  const script = /\p{Script=Latin}/u.test(text) ? 'latin' : 'other'
  const capitalisation = /^\p{Lu}/u.test(firstWord) ? 'capital' : 'small'
  const abbreviation = /^[\p{Lu}\d/&.-]{2,7}$/u.test(text) ? 'short' : ''
  const verb = /^(?:the|a|an)$/i.test(firstWord)
    ? 'article'
    : /(?:[^s]s|es)$/.test(firstWord)
      ? 's'
      : /ing$/.test(firstWord)
        ? 'ing'
        : ''
  const digits = /\d/.test(text) ? 'digits' : ''
  const marks = /[()[\]:;]/.test(text) ? 'marks' : ''
  return [script, capitalisation, abbreviation, verb, digits, marks].join(' ')
}

/** Returns true if the text contains none of these content words. */
export function shareNoContentWord(words: ReadonlySet<string>, text: string): boolean {
  for (const word of contentWords(text)) if (words.has(word)) return false
  return true
}

/** Minimum number of shared letters at which readers see two words as related: "plating" in "electroplating", "GIS" in "QGIS". */
const MIN_SHARED_LETTERS = { word: 5, name: 3 }

/** Returns true if a word of the text starts like a part of the name: "cannula" and "IV cannulation". */
export function revealsName(text: string, name: string): boolean {
  const nameLetters = lettersOf(name)
  return wordsOf(text).some(
    (word) => word.length >= MIN_SHARED_LETTERS.word && nameLetters.includes(word.slice(0, MIN_SHARED_LETTERS.word)),
  )
}

/** Returns true if a synonym is neither part of the name, nor its initials, nor the name in another script. */
export function isDistinctSynonym(synonym: string, name: string): boolean {
  if (!/\p{Script=Latin}/u.test(synonym) || revealsName(synonym, name)) return false
  const synonymLetters = lettersOf(synonym)
  const synonymWords = wordsOf(synonym)
  const nameWords = wordsOf(name)
  const initials = nameWords.map((word) => word[0]).join('')
  if (synonymLetters.length > 1 && initials.includes(synonymLetters)) return false
  return nameWords.every((word) =>
    word.length < MIN_SHARED_LETTERS.name ? !synonymWords.includes(word) : !synonymLetters.includes(word),
  )
}

const lettersOf = (text: string) => foldText(text).replace(/\P{L}/gu, '')
