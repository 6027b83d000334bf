import { fold, lengthOf, tellingWordsOf, wordsOf } from './text.ts'

/** What descriptions, names and aliases of the catalogue give for options. */

const SHORTEST = 22
const LONGEST = 74
/** "Replaces the part" may belong to anything. */
const FEWEST_WORDS = 4

/** A clause goes on after these; up to one of them it reads as a whole. */
const JOINTS =
  /(?:, (?=\p{L}+ing )| (?=(?:with|so that|without|into|under|from|for|by|on|to|in|at|before|after|while|using|through) ))/gu

/** Where another verb with something of its own may begin: not "labels and a safe home", not "hands it over". */
const TURNS =
  /(?:, and|,| and) (?=(\p{Ll}+s) (?!(?:and|or|so|to|for|in|with|of|by|on|at|as|it|them|its|their|from|that|out|off|up|down|over) ))/gu

/** A form that ends like this was cut in the middle of something: "sheets run one", "phones by need, sets up". */
const UNFINISHED =
  /(?: (?:and|or|of|the|a|an|that|out|not|is|are|as|than|between|its|their|right|set|what|when|where|how|both|up|down|off|side|one|point|soon|never)|, \p{L}+ing)$/u
/** So was a shorter form that ends like this: "goods given", "turned up at walls and sealed". */
const CUT_SHORT = / (?:given|made|kept|found|held|\p{L}+ed)$/u

/** "Marks heights from them": what "them" is was said before. */
const OF_SOMETHING_ELSE =
  /(?:^| )(?:from|of|on|in|with|for|to|by|at|what|that|when|where) (?:it|them|they|its|their)(?= |$)/u

/**
 * The tasks that a description names: "Welds with tubular wire, with or without gas, and removes the slag between runs"
 * gives "Removes the slag between runs" as well. Each comes with its shorter forms, the longest first.
 *
 * @param verbs words that descriptions begin with: what follows "and" is a task when it begins with one of them
 */
export function tasksOf(description: string, verbs: ReadonlySet<string>): string[][] {
  const sentence = description
    .trim()
    .split(/(?<=\p{Ll}{2})\.\s|\n|; /u)[0]!
    .replace(/[.।\s]+$/u, '')
  const tasks: string[] = []
  let start = 0
  for (const turn of sentence.matchAll(TURNS)) {
    // "Marks, cuts and joins sheet": verbs that share what follows stay together.
    if (!verbs.has(turn[1]!) || turn.index - start < SHORTEST) continue
    tasks.push(sentence.slice(start, turn.index))
    start = turn.index + turn[0].length
  }
  tasks.push(sentence.slice(start))
  return tasks
    .map((task, place) => formsOf(task, verbs).filter((form) => place === 0 || !OF_SOMETHING_ELSE.test(form)))
    .filter((forms) => forms.length > 0)
}

function formsOf(task: string, verbs: ReadonlySet<string>): string[] {
  const ends = [...task.matchAll(JOINTS)].map(({ index }) => index)
  return [task.length, ...ends.reverse()]
    .filter((end) => end >= SHORTEST && end <= LONGEST + 10 && !isInPair(task, end))
    .map((end) => ({ form: capital(task.slice(0, end).replace(/[\s,;:]+$/u, '')), whole: end === task.length }))
    .filter(({ form, whole }) => isPhrase(form, verbs) && (whole || !CUT_SHORT.test(form)))
    .map(({ form }) => form)
}

/** "Step by step" and "from top to bottom" are not cut in the middle. */
function isInPair(task: string, end: number): boolean {
  const [head, rest] = [task.slice(0, end), task.slice(end)]
  const next = /^ by (\p{L}+)/u.exec(rest)?.[1]
  return (next !== undefined && head.endsWith(` ${next}`)) || (rest.startsWith(' to ') && / from [^,]*$/u.test(head))
}

function isPhrase(form: string, verbs: ReadonlySet<string>): boolean {
  if (form.length < SHORTEST || lengthOf(form) > LONGEST || form.split(' ').length < FEWEST_WORDS) return false
  if (UNFINISHED.test(form) || /[?!:]/.test(form) || form.split('(').length !== form.split(')').length) return false
  // "Weighs, mixes, ferments", "Opens the doors, greets": the last verb lost what it is about.
  if (!/\S \S/.test(form.replaceAll(', ', ','))) return false
  const last = /(?:, | and | or | then )(\p{Ll}+)$/u.exec(form)?.[1]
  return last === undefined || !verbs.has(last)
}

/** Names of imported skills often begin small; among others they would stand out. */
export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/**
 * The grammatical kind of an option as far as its outside shows it. Options of one item share it, so that none stands out:
 * "Joins steel" and "Join steel", "welding" and "Welding", "GMAW" and "मिग वेल्डिंग" are not mixed.
 */
export function formOf(text: string): string {
  const first = text.split(/\s+/)[0] ?? ''
  const script = /\p{Script=Latin}/u.test(text) ? 'latin' : 'other'
  const capital = /^\p{Lu}/u.test(first) ? 'capital' : 'small'
  const short = /^[\p{Lu}\d/&.-]{2,7}$/u.test(text) ? 'short' : ''
  const verb = /^(?:the|a|an)$/i.test(first)
    ? 'article'
    : /(?:[^s]s|es)$/.test(first)
      ? 's'
      : /ing$/.test(first)
        ? 'ing'
        : ''
  const digits = /\d/.test(text) ? 'digits' : ''
  const marks = /[()[\]:;]/.test(text) ? 'marks' : ''
  return [script, capital, short, verb, digits, marks].join(' ')
}

/** Whether two texts have no telling word in common. */
export function areApart(a: ReadonlySet<string>, b: string): boolean {
  for (const word of tellingWordsOf(b)) if (a.has(word)) return false
  return true
}

/** Letters from which on two words are seen to be one: "plating" in "electroplating", "GIS" in "QGIS". */
const SEEN = { word: 5, name: 3 }

/** Whether a word of the text begins like a piece of the name: "cannula" beside "IV cannulation". */
export function showsName(text: string, name: string): boolean {
  const letters = lettersOf(name)
  return wordsOf(text).some((word) => word.length >= SEEN.word && letters.includes(word.slice(0, SEEN.word)))
}

/** Whether a name's synonym is a word of its own: no piece of the name, not its initials, not it in another script. */
export function isAnotherWord(synonym: string, name: string): boolean {
  if (!/\p{Script=Latin}/u.test(synonym) || showsName(synonym, name)) return false
  const letters = lettersOf(synonym)
  const words = wordsOf(synonym)
  const parts = wordsOf(name)
  const initials = parts.map((word) => word[0]).join('')
  if (letters.length > 1 && initials.includes(letters)) return false
  return parts.every((word) => (word.length < SEEN.name ? !words.includes(word) : !letters.includes(word)))
}

const lettersOf = (text: string) => fold(text).replace(/\P{L}/gu, '')
