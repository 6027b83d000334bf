import { lengthOf, tellingWordsOf } from './words.ts'

/** What descriptions, names and aliases of the catalogue give for options. */

const SHORTEST = 16
const LONGEST = 74

/** A clause goes on after these; up to one of them it reads as a whole. */
const JOINTS =
  /(?:, (?=\p{L}+ing )| (?=(?:with|so that|without|into|under|from|for|by|on|to|in|at|before|after|while|using|through) ))/gu

/** Where another verb with something of its own may begin: not "labels and a safe home", not "hands it over". */
const TURNS =
  /(?:, and|,| and) (?=(\p{Ll}+s) (?!(?:and|or|so|to|for|in|with|of|by|on|at|as|it|them|its|their|from|that|out|off|up|down|over) ))/gu

/** A form that ends in one of these was cut in the middle of something. */
const UNFINISHED =
  /(?: (?:and|or|of|the|a|an|that|out|not|is|are|as|than|between|its|their|right|set|what|when|where|how|both))$/u

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
  return tasks.map(formsOf).filter((forms) => forms.length > 0)
}

function formsOf(task: string): string[] {
  const ends = [...task.matchAll(JOINTS)].map(({ index }) => index)
  return [task.length, ...ends.reverse()]
    .filter((end) => end >= SHORTEST && end <= LONGEST + 10)
    .map((end) => capital(task.slice(0, end).replace(/[\s,;:]+$/u, '')))
    .filter(
      (form) => form.length >= SHORTEST && lengthOf(form) <= LONGEST && !UNFINISHED.test(form) && isBalanced(form),
    )
}

/** Names of imported skills often begin small; among others they would stand out. */
export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const isBalanced = (phrase: string) => !/[?!:]/.test(phrase) && phrase.split('(').length === phrase.split(')').length

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
