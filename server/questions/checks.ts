import { fold, lengthOf, sentencesOf, syllablesOf, tellingWordsOf, wordsOf } from './text.ts'

/** What every item passes before it is stored or served, whoever wrote it. Pure: no clock, no files. */

export interface CheckedItem {
  stem: string
  options: readonly string[]
  key: number
  language: string
  /**
   * What stands before the stem or is named in it: the skill, the person's own work. The key must not echo it either; the
   * stem's length, level and language are judged without it.
   */
  about?: string
}

export const CHECKS = [
  'four different options',
  'one key',
  'all or none of the above',
  'absolute word',
  'key longest by far',
  'key echoes the stem',
  'options of one kind',
  'options of one length',
  'negative stem',
  'stem',
  'reading level',
  'language',
] as const
export type Check = (typeof CHECKS)[number]

export interface Finding {
  check: Check
  message: string
}

export const LIMITS = {
  option: { least: 2, most: 80 },
  stem: { least: 25, most: 200 },
  /** Indian scripts put more into a letter. */
  leastStemOfOtherScripts: 15,
  /** The key's length over the mean of the others. */
  keyOverOthers: 1.3,
  longestOverShortest: 2,
  sentenceWords: 25,
  /** Years of school, by Flesch and Kincaid. */
  grade: 10,
} as const

export function checkItem(item: CheckedItem): Finding[] {
  const findings: Finding[] = []
  const add = (check: Check, message: string) => findings.push({ check, message })
  checkOptions(item, add)
  checkStem(item, add)
  // What compares the key with the rest needs a key and a rest.
  if (item.options.length !== 4 || !isPlace(item.key)) return findings
  checkKey(item, add)
  return findings
}

type Add = (check: Check, message: string) => void

function checkOptions({ options, key, language }: CheckedItem, add: Add): void {
  if (options.length !== 4) add('four different options', `${options.length} options`)
  if (new Set(options.map(bare)).size !== options.length) add('four different options', 'two options are the same')
  if (!isPlace(key)) add('one key', `the key is ${key}`)
  for (const option of options) {
    const length = lengthOf(option)
    if (length > LIMITS.option.most || (length < LIMITS.option.least && !isNumeric(option)))
      add('options of one length', `${quote(option)} has ${length} characters`)
    if (hasOddCharacters(option)) add('options of one kind', `${quote(option)} has characters that do not belong`)
    if (ABOVE.test(fold(option))) add('all or none of the above', quote(option))
    const absolute =
      ABSOLUTE[language]?.exec(
        ` ${wordsOf(option)
          .join(' ')
          .replace(/\bat all\b/, '')} `,
      )?.[0] ?? /\b100 ?%/.exec(option)?.[0]
    if (absolute) add('absolute word', `${quote(absolute.trim())} in ${quote(option)}`)
  }
}

const ABOVE =
  /\b(?:all|none|both|any|neither|either) (?:of )?(?:the )?(?:above|options|answers)\b|\b(?:all|none|both|neither) of (?:these|them|those)\b|\bof the above\b|\b(?:a|b|c) (?:and|or) (?:b|c|d)\b|उपरोक्त|ऊपर (?:के|दिए|वाले|में से)[^,]{0,12} (?:सभी|सब|कोई|दोनों|विकल्प)|इनमें से (?:कोई|सभी|सब)|(?:^|\s)(?:सभी|दोनों|सब) (?:सही|विकल्प)/u

const words = (...list: string[]) => new RegExp(` (?:${list.map(fold).join('|')}) `, 'u')

/** An option that says "always" is seldom the right one, and test-wise people know it. */
const ABSOLUTE: Record<string, RegExp> = {
  en: words(
    ...['always', 'never', 'only', 'all', 'every', 'none', 'must', 'completely', 'entirely', 'totally', 'absolutely'],
    ...['everybody', 'everyone', 'everything', 'nobody', 'impossible', 'guaranteed'],
  ),
  hi: words('हमेशा', 'सदैव', 'कभी नहीं', 'कभी भी नहीं', 'कभी न', 'सिर्फ़', 'केवल', 'सभी', 'हर', 'हरेक', 'असंभव', 'नामुमकिन'),
}

function checkKey({ stem, options, key, language, about }: CheckedItem, add: Add): void {
  const right = options[key]!
  const others = options.filter((_, place) => place !== key)
  const numeric = options.every(isNumeric)

  const lengths = options.map(lengthOf)
  const mean = others.reduce((sum, option) => sum + lengthOf(option), 0) / 3
  if (!numeric && lengths[key]! > mean * LIMITS.keyOverOthers && lengths[key]! - mean > SLACK)
    add('key longest by far', `${lengths[key]} characters, the others ${mean.toFixed(0)} on the mean: ${quote(right)}`)
  const [longest, shortest] = [Math.max(...lengths), Math.min(...lengths)]
  if (!numeric && longest > shortest * LIMITS.longestOverShortest && longest - shortest > 2 * SLACK)
    add('options of one length', `from ${shortest} to ${longest} characters`)

  const elsewhere = tellingWordsOf(others.join(' '))
  const inStem = tellingWordsOf(about ? `${about} ${stem}` : stem)
  for (const word of tellingWordsOf(right)) {
    if (inStem.has(word) && !elsewhere.has(word)) {
      add('key echoes the stem', `${quote(word)} of the stem is in the key alone: ${quote(right)}`)
      break
    }
  }

  for (const [what, holds] of Object.entries(KINDS)) {
    const count = others.filter((option) => holds(option, language)).length
    if ((count === 0 && holds(right, language)) || (count === 3 && !holds(right, language))) {
      add('options of one kind', `the key alone differs: ${what}: ${quote(right)}`)
      break
    }
  }
  const ends = new Set(options.map((option) => /[.!?।]$/.test(option)))
  if (ends.size > 1) add('options of one kind', 'some options end like a sentence, some do not')
}

/** Differences of a few letters betray nothing. */
const SLACK = 4

/** Marks that set an option apart at a glance; a key that is alone in one of them is betrayed. */
const KINDS: Record<string, (option: string, language: string) => boolean> = {
  'a number at the start': (option) => /^[\d₹]/.test(option),
  'a number in it': (option) => /\d/.test(option),
  brackets: (option) => /[()[\]]/.test(option),
  'a capital at the start': (option) => /^[A-Z]/.test(option),
  'a colon or a semicolon': (option) => /[:;]/.test(option),
  'ends in a verb of the future': (option, language) =>
    language === 'hi' && /(?:ूँगा|ूँगी|ेंगे|एँगे|ंगे|ेगा|ेगी|एगा|एगी)$/.test(option),
}

function checkStem({ stem: given, language, about }: CheckedItem, add: Add): void {
  const stem = about ? given.replaceAll(about, '…') : given
  const length = lengthOf(stem)
  const least = language === 'en' ? LIMITS.stem.least : LIMITS.leastStemOfOtherScripts
  if (length < least || length > LIMITS.stem.most) add('stem', `${length} characters`)
  if (!/[?？؟]$/.test(stem)) add('stem', 'it does not end with a question mark')
  if (hasOddCharacters(stem)) add('stem', 'it has characters that do not belong')
  if (/\bthe above\b|\bthe following\b|उपरोक्त|निम्नलिखित/i.test(stem) || SOMEBODY_ELSE.test(stem))
    add('stem', 'it does not stand alone')
  if (isNegative(stem, language)) add('negative stem', quote(stem))

  for (const sentence of sentencesOf(stem)) {
    const count = wordsOf(sentence).length
    if (count > LIMITS.sentenceWords) add('reading level', `a sentence of ${count} words: ${quote(sentence)}`)
  }
  if (language === 'en') {
    const grade = gradeOf(stem)
    if (grade > LIMITS.grade) add('reading level', `it takes ${grade.toFixed(1)} years of school: ${quote(stem)}`)
  }
  const script = SCRIPTS[language]
  if (script) {
    const letters = stem.match(/\p{L}/gu)?.length ?? 0
    const own = stem.match(script)?.length ?? 0
    if (own < letters * 0.3) add('language', `${own} of ${letters} letters are of the language's script`)
  }
}

/** Who "he" is, or "वह", was said before, and what was said before is not there. */
const SOMEBODY_ELSE = /^(?:(?:he|she|his|her|they|their)\b|(?:वह|वे|उसे|उसका|उसकी|उसके|उसने|उन्हें|उनका|उनकी|उनके)\s)/iu

/** Years of school that a text asks for (Flesch and Kincaid), over the whole of it. */
export function gradeOf(text: string): number {
  const all = wordsOf(text)
  const syllables = all.reduce((sum, word) => sum + syllablesOf(word), 0)
  return (
    0.39 * (all.length / Math.max(1, sentencesOf(text).length)) + 11.8 * (syllables / Math.max(1, all.length)) - 15.59
  )
}

/**
 * "Which is not…" is misread in haste. A "not" that belongs to the situation ("the motor does not start", "if it does not
 * hold") is no negative stem, nor is "why not"; neither is one that is set off: NOT, **नहीं**.
 */
function isNegative(stem: string, language: string): boolean {
  const asked = sentencesOf(stem).findLast((sentence) => sentence.endsWith('?')) ?? ''
  if (language === 'en') {
    const main = asked
      .replace(
        /\b(?:if|when|because|since|while|that|who|after|before|until|although|though|so|whose|whether)\b[^,?]*/gi,
        ' ',
      )
      .replace(/\b(?:NOT|EXCEPT|NEVER|LEAST)\b/g, ' ')
    return /\b(?:which|what|who|where|how)\b.*(?:\b(?:not|except|never|cannot|least likely)\b|n['’]t\b)/i.test(main)
  }
  if (language === 'hi') {
    const main = asked
      .replace(/[*“"'«]+\s*(?:नहीं|न)\s*[*”"'»]+/gu, ' ')
      .split(/\sकि\s|\sक्योंकि\s/u)[0]!
      .split(/,|\sतो\s|\sऔर\s|\sजो\s/u)
      .at(-1)!
    return /(?:^|\s)(?:कौन|क्या|किस|किन|कहाँ)/u.test(main) && /(?:^|\s)(?:नहीं|मत)(?=[\s?])/u.test(main)
  }
  return false
}

const SCRIPTS: Record<string, RegExp> = {
  en: /\p{Script=Latin}/gu,
  hi: /\p{Script=Devanagari}/gu,
  mr: /\p{Script=Devanagari}/gu,
  bn: /\p{Script=Bengali}/gu,
  as: /\p{Script=Bengali}/gu,
  ta: /\p{Script=Tamil}/gu,
  te: /\p{Script=Telugu}/gu,
  gu: /\p{Script=Gujarati}/gu,
  kn: /\p{Script=Kannada}/gu,
  ml: /\p{Script=Malayalam}/gu,
  pa: /\p{Script=Gurmukhi}/gu,
  or: /\p{Script=Oriya}/gu,
}

const isPlace = (key: number) => Number.isInteger(key) && key >= 0 && key <= 3

/** Nothing but numbers and their units. */
export function isNumeric(option: string): boolean {
  return /^[₹±]?\s?\d[\d.,/:×x*+\- ]*(?:\s?[\p{L}\p{M}%°²³/.]+){0,3}$/u.test(option)
}

/** Two options that differ in case, spacing or punctuation alone are the same to a reader. */
const bare = (option: string) =>
  fold(option)
    .replace(/[.,;!?।\s]+$/u, '')
    .replace(/[^\p{L}\p{M}\p{N}+\-*/%<>=#.&|!?()[\]{}^~$@_:]+/gu, '')

/** Control characters, marks of direction, line breaks, spaces at an end or in a row. */
const hasOddCharacters = (text: string) =>
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029\ufffd]|^\s|\s$|\s{2}/u.test(text.replace(/[\u200c\u200d]/g, ''))

const quote = (text: string) => JSON.stringify(text)
