import { contentWords, foldText, sentencesOf, syllablesOf, visibleLength, wordsOf } from './text.ts'

/** Pure functions that check an item. Every item must pass them before it is stored or served. */

export interface CheckedItem {
  stem: string
  options: readonly string[]
  key: number
  language: string
  /**
   * Text before or inside the stem: the skill's name and the person's own work. The key must not echo it either. It does not count
   * towards the stem's length, reading level and language.
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
export type ItemCheck = (typeof CHECKS)[number]

export interface Finding {
  check: ItemCheck
  message: string
}

export const LIMITS = {
  /** Lengths in visible characters. */
  option: { min: 2, max: 80 },
  stem: { min: 25, max: 200 },
  /** Lower than for English, because Indic scripts need fewer visible characters. */
  minStemInOtherScripts: 15,
  /** Maximum ratio of the key's length to the mean length of the distractors. */
  maxKeyLengthRatio: 1.3,
  /** Maximum ratio of the longest option to the shortest. */
  maxOptionLengthRatio: 2,
  maxSentenceWords: 25,
  /** Maximum Flesch-Kincaid grade level. */
  maxGrade: 10,
} as const

export function checkItem(item: CheckedItem): Finding[] {
  const findings: Finding[] = []
  const add = (check: ItemCheck, message: string) => findings.push({ check, message })
  checkOptions(item, add)
  checkStem(item, add)
  // Comparisons of key and distractors need a valid key.
  if (item.options.length !== 4 || !isValidKey(item.key)) return findings
  checkKey(item, add)
  return findings
}

type Add = (check: ItemCheck, message: string) => void

function checkOptions({ options, key, language }: CheckedItem, add: Add): void {
  if (options.length !== 4) add('four different options', `${options.length} options; expected 4`)
  if (new Set(options.map(normaliseOption)).size !== options.length)
    add('four different options', 'two options are the same')
  if (!isValidKey(key)) add('one key', `the key is ${key}; expected 0 to 3`)
  for (const option of options) {
    const length = visibleLength(option)
    if (length > LIMITS.option.max || (length < LIMITS.option.min && !isNumeric(option)))
      add(
        'options of one length',
        `${quote(option)} has ${length} characters; expected ${LIMITS.option.min} to ${LIMITS.option.max}`,
      )
    if (hasOddCharacters(option)) add('options of one kind', `${quote(option)} contains unusual characters`)
    if (REFERS_TO_OTHER_OPTIONS.test(foldText(option))) add('all or none of the above', quote(option))
    const absolute =
      ABSOLUTE[language]?.exec(
        ` ${wordsOf(option)
          .join(' ')
          .replace(/\bat all\b/, '')} `,
      )?.[0] ?? /\b100 ?%/.exec(option)?.[0]
    if (absolute) add('absolute word', `${quote(absolute.trim())} in ${quote(option)}`)
  }
}

const REFERS_TO_OTHER_OPTIONS =
  /\b(?:all|none|both|any|neither|either) (?:of )?(?:the )?(?:above|options|answers)\b|\b(?:all|none|both|neither) of (?:these|them|those)\b|\bof the above\b|\b(?:a|b|c) (?:and|or) (?:b|c|d)\b|उपरोक्त|ऊपर (?:के|दिए|वाले|में से)[^,]{0,12} (?:सभी|सब|कोई|दोनों|विकल्प)|इनमें से (?:कोई|सभी|सब)|(?:^|\s)(?:सभी|दोनों|सब) (?:सही|विकल्प)/u

const words = (...list: string[]) => new RegExp(` (?:${list.map(foldText).join('|')}) `, 'u')

/** Absolute terms such as "always" are a clue, because such options are rarely correct. */
const ABSOLUTE: Record<string, RegExp> = {
  en: words(
    ...['always', 'never', 'only', 'all', 'every', 'none', 'must', 'completely', 'entirely', 'totally', 'absolutely'],
    ...['everybody', 'everyone', 'everything', 'nobody', 'impossible', 'guaranteed'],
  ),
  hi: words('हमेशा', 'सदैव', 'कभी नहीं', 'कभी भी नहीं', 'कभी न', 'सिर्फ़', 'केवल', 'सभी', 'हर', 'हरेक', 'असंभव', 'नामुमकिन'),
}

function checkKey({ stem, options, key, language, about }: CheckedItem, add: Add): void {
  const right = options[key]!
  const others = options.filter((_, index) => index !== key)
  const numeric = options.every(isNumeric)

  const lengths = options.map(visibleLength)
  const mean = others.reduce((sum, option) => sum + visibleLength(option), 0) / 3
  if (!numeric && lengths[key]! > mean * LIMITS.maxKeyLengthRatio && lengths[key]! - mean > LENGTH_TOLERANCE)
    add(
      'key longest by far',
      `${lengths[key]} characters, ${mean.toFixed(0)} on average for the others: ${quote(right)}`,
    )
  const [longest, shortest] = [Math.max(...lengths), Math.min(...lengths)]
  if (!numeric && longest > shortest * LIMITS.maxOptionLengthRatio && longest - shortest > 2 * LENGTH_TOLERANCE)
    add('options of one length', `from ${shortest} to ${longest} characters`)

  const distractorWords = contentWords(others.join(' '))
  const stemWords = contentWords(about ? `${about} ${stem}` : stem)
  for (const word of contentWords(right)) {
    if (stemWords.has(word) && !distractorWords.has(word)) {
      add('key echoes the stem', `${quote(word)} from the stem is in the key only: ${quote(right)}`)
      break
    }
  }

  for (const [feature, holds] of Object.entries(OPTION_FEATURES)) {
    const count = others.filter((option) => holds(option, language)).length
    if ((count === 0 && holds(right, language)) || (count === 3 && !holds(right, language))) {
      add('options of one kind', `only the key differs: ${feature}: ${quote(right)}`)
      break
    }
  }
  const ends = new Set(options.map((option) => /[.!?।]$/.test(option)))
  if (ends.size > 1)
    add('options of one kind', 'only some options end with a full stop, question mark or exclamation mark')
}

/** Differences of a few characters are not a clue. */
const LENGTH_TOLERANCE = 4

/** Visible features of options; a key that is the only one with a feature is a clue. */
const OPTION_FEATURES: Record<string, (option: string, language: string) => boolean> = {
  'a number at the start': (option) => /^[\d₹]/.test(option),
  'a digit': (option) => /\d/.test(option),
  brackets: (option) => /[()[\]]/.test(option),
  'a capital at the start': (option) => /^[A-Z]/.test(option),
  'a colon or a semicolon': (option) => /[:;]/.test(option),
  'ends with a verb in the future tense': (option, language) =>
    language === 'hi' && /(?:ूँगा|ूँगी|ेंगे|एँगे|ंगे|ेगा|ेगी|एगा|एगी)$/.test(option),
}

function checkStem({ stem: fullStem, language, about }: CheckedItem, add: Add): void {
  const stem = about ? fullStem.replaceAll(about, '…') : fullStem
  const length = visibleLength(stem)
  const min = language === 'en' ? LIMITS.stem.min : LIMITS.minStemInOtherScripts
  if (length < min || length > LIMITS.stem.max)
    add('stem', `${length} characters; expected ${min} to ${LIMITS.stem.max}`)
  if (!/[?？؟]$/.test(stem)) add('stem', 'does not end with a question mark')
  if (hasOddCharacters(stem)) add('stem', 'contains unusual characters')
  if (/\bthe above\b|\bthe following\b|उपरोक्त|निम्नलिखित/i.test(stem) || UNRESOLVED_PRONOUN.test(stem))
    add('stem', 'refers to text that is not shown')
  if (isNegative(stem, language)) add('negative stem', quote(stem))

  for (const sentence of sentencesOf(stem)) {
    const count = wordsOf(sentence).length
    if (count > LIMITS.maxSentenceWords)
      add(
        'reading level',
        `a sentence of ${count} words; the maximum is ${LIMITS.maxSentenceWords}: ${quote(sentence)}`,
      )
  }
  if (language === 'en') {
    const grade = readingGrade(stem)
    if (grade > LIMITS.maxGrade)
      add('reading level', `grade level ${grade.toFixed(1)}, maximum ${LIMITS.maxGrade}: ${quote(stem)}`)
  }
  const script = SCRIPTS[language]
  if (script) {
    const letters = stem.match(/\p{L}/gu)?.length ?? 0
    const own = stem.match(script)?.length ?? 0
    if (own < letters * 0.3) add('language', `${own} of ${letters} letters are in the script of the language`)
  }
}

/** Pronouns at the start that refer to text that is not shown. */
const UNRESOLVED_PRONOUN = /^(?:(?:he|she|his|her|they|their)\b|(?:वह|वे|उसे|उसका|उसकी|उसके|उसने|उन्हें|उनका|उनकी|उनके)\s)/iu

/** Returns the Flesch-Kincaid grade level of a text. */
function readingGrade(text: string): number {
  const all = wordsOf(text)
  const syllables = all.reduce((sum, word) => sum + syllablesOf(word), 0)
  return (
    0.39 * (all.length / Math.max(1, sentencesOf(text).length)) + 11.8 * (syllables / Math.max(1, all.length)) - 15.59
  )
}

/**
 * Returns true for negative stems such as "Which is not…", which are easily misread. A "not" that describes the situation ("the motor
 * does not start"), "why not" and an emphasised NOT or **नहीं** are allowed.
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

const isValidKey = (key: number) => Number.isInteger(key) && key >= 0 && key <= 3

/** Returns true for numbers with or without units. */
function isNumeric(option: string): boolean {
  return /^[₹±]?\s?\d[\d.,/:×x*+\- ]*(?:\s?[\p{L}\p{M}%°²³/.]+){0,3}$/u.test(option)
}

/** Normalises an option; options that differ only in case, spacing or punctuation are duplicates. */
const normaliseOption = (option: string) =>
  foldText(option)
    .replace(/[.,;!?।\s]+$/u, '')
    .replace(/[^\p{L}\p{M}\p{N}+\-*/%<>=#.&|!?()[\]{}^~$@_:]+/gu, '')

/** Returns true for control and direction characters, line breaks, and leading, trailing or repeated spaces. */
const hasOddCharacters = (text: string) =>
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029\ufffd]|^\s|\s$|\s{2}/u.test(text.replace(/[\u200c\u200d]/g, ''))

const quote = (text: string) => JSON.stringify(text)
