import { contentWords, foldText, sentencesOf, syllablesOf, visibleLength, wordsOf } from './text.ts'

/** Pure functions that check an item. Items of the built-in bank and of the AI writer must pass all of them, imported items some. */

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
  /**
   * Whether the options are those of a pool, in which each option is the key of one stem. A person sees the key and three of the others.
   * The length, form and words of an option then cannot reveal the key, so that options are not compared by them.
   */
  isPooled?: boolean
}

export const ITEM_CHECKS = [
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
export type ItemCheck = (typeof ITEM_CHECKS)[number]

export interface Finding {
  check: ItemCheck
  message: string
  /** Index of the option that the finding is about, if it is about a single one. */
  option?: number
}

export const ITEM_LIMITS = {
  /** Lengths in visible characters. */
  option: { min: 2, max: 80 },
  stem: { min: 25, max: 200 },
  /** Lower than for English, because Indic scripts need fewer visible characters. */
  minStemInOtherScripts: 15,
  /** Maximum ratio of the key's length to the mean length of the distractors. */
  maxKeyLengthRatio: 1.3,
  /** Maximum ratio of the longest option to the shortest. */
  maxOptionLengthRatio: 2,
  maxPoolLengthRatio: 3,
  maxSentenceWords: 25,
  /** Maximum Flesch-Kincaid grade level. */
  maxGrade: 10,
} as const

const SHOWN_OPTIONS = 4

export function checkItem(item: CheckedItem): Finding[] {
  const findings: Finding[] = []
  const addFinding: AddFinding = (check, message, option) =>
    findings.push({ check, message, ...(option === undefined ? {} : { option }) })
  checkOptions(item, addFinding)
  checkStem(item, addFinding)
  // Comparisons of key and distractors need a valid key.
  if (!hasExpectedCount(item) || !isValidKey(item)) return findings
  checkKey(item, addFinding)
  return findings
}

type AddFinding = (check: ItemCheck, message: string, option?: number) => void

function checkOptions(item: CheckedItem, addFinding: AddFinding): void {
  const { options, key, language, isPooled } = item
  if (!hasExpectedCount(item))
    addFinding('four different options', `${options.length} options; expected ${SHOWN_OPTIONS}`)
  if (new Set(options.map(normaliseOption)).size !== options.length)
    addFinding('four different options', 'two options are the same')
  if (!isValidKey(item)) addFinding('one key', `the key is ${key}; expected 0 to ${options.length - 1}`)
  for (const [index, option] of options.entries()) {
    const optionLength = visibleLength(option)
    // A syllable of an Indic script is one visible character, but can be a word.
    if (optionLength > ITEM_LIMITS.option.max || (option.length < ITEM_LIMITS.option.min && !isNumeric(option)))
      addFinding(
        'options of one length',
        `${quote(option)} has ${optionLength} characters; expected ${ITEM_LIMITS.option.min} to ${ITEM_LIMITS.option.max}`,
        index,
      )
    if (hasOddCharacters(option))
      addFinding('options of one kind', `${quote(option)} contains unusual characters`, index)
    if (REFERS_TO_OTHER_OPTIONS.test(foldText(option))) addFinding('all or none of the above', quote(option), index)
    if (isPooled) continue
    const absoluteTerm =
      ABSOLUTE_TERMS[language]?.exec(
        ` ${wordsOf(option)
          .join(' ')
          .replace(/\bat all\b/, '')} `,
      )?.[0] ?? /\b100 ?%/.exec(option)?.[0]
    if (absoluteTerm) addFinding('absolute word', `${quote(absoluteTerm.trim())} in ${quote(option)}`, index)
  }
}

const REFERS_TO_OTHER_OPTIONS =
  /\b(?:all|none|both|any|neither|either) (?:of )?(?:the )?(?:above|options|answers)\b|\b(?:all|none|both|neither) of (?:these|them|those)\b|\bof the above\b|\b(?:a|b|c) (?:and|or) (?:b|c|d)\b|उपरोक्त|ऊपर (?:के|दिए|वाले|में से)[^,]{0,12} (?:सभी|सब|कोई|दोनों|विकल्प)|इनमें से (?:कोई|सभी|सब)|(?:^|\s)(?:सभी|दोनों|सब) (?:सही|विकल्प)/u

const wordPattern = (...list: string[]) => new RegExp(` (?:${list.map(foldText).join('|')}) `, 'u')

/** Absolute terms such as "always" are a clue, because such options are rarely correct. */
const ABSOLUTE_TERMS: Record<string, RegExp> = {
  en: wordPattern(
    ...['always', 'never', 'only', 'all', 'every', 'none', 'must', 'completely', 'entirely', 'totally', 'absolutely'],
    ...['everybody', 'everyone', 'everything', 'nobody', 'impossible', 'guaranteed'],
  ),
  hi: wordPattern(
    'हमेशा',
    'सदैव',
    'कभी नहीं',
    'कभी भी नहीं',
    'कभी न',
    'सिर्फ़',
    'केवल',
    'सभी',
    'हर',
    'हरेक',
    'असंभव',
    'नामुमकिन',
  ),
}

function checkKey(item: CheckedItem, addFinding: AddFinding): void {
  checkEcho(item, addFinding)
  if (item.isPooled) checkPoolLengths(item, addFinding)
  else checkForm(item, addFinding)
}

/** Checks that no word of the stem can be in the key only, whichever distractors are shown. */
function checkEcho({ stem, options, key, about }: CheckedItem, addFinding: AddFinding): void {
  const keyText = options[key]!
  const distractorWords = options.filter((_, index) => index !== key).map(contentWords)
  const stemWords = contentWords(about ? `${about} ${stem}` : stem)
  for (const word of contentWords(keyText)) {
    const distractorsWithout = distractorWords.filter((words) => !words.has(word)).length
    if (stemWords.has(word) && distractorsWithout >= SHOWN_OPTIONS - 1) {
      addFinding('key echoes the stem', `${quote(word)} from the stem is in the key only: ${quote(keyText)}`)
      break
    }
  }
}

/** Abbreviations are as short as this, and may be options among words. */
const MIN_COMPARED_LENGTH = 8

function checkPoolLengths({ options }: CheckedItem, addFinding: AddFinding): void {
  const optionLengths = options.map(visibleLength)
  const [longest, shortest] = [Math.max(...optionLengths), Math.min(...optionLengths)]
  if (!options.every(isNumeric) && longest > Math.max(shortest, MIN_COMPARED_LENGTH) * ITEM_LIMITS.maxPoolLengthRatio)
    addFinding('options of one length', `from ${shortest} to ${longest} characters`)
}

/** Checks that the key does not differ from the distractors in length or form. */
function checkForm({ options, key, language }: CheckedItem, addFinding: AddFinding): void {
  const keyText = options[key]!
  const distractors = options.filter((_, index) => index !== key)
  const isAllNumeric = options.every(isNumeric)

  const optionLengths = options.map(visibleLength)
  const meanDistractorLength = distractors.reduce((sum, option) => sum + visibleLength(option), 0) / 3
  if (
    !isAllNumeric &&
    optionLengths[key]! > meanDistractorLength * ITEM_LIMITS.maxKeyLengthRatio &&
    optionLengths[key]! - meanDistractorLength > LENGTH_TOLERANCE_CHARACTERS
  )
    addFinding(
      'key longest by far',
      `${optionLengths[key]} characters, ${meanDistractorLength.toFixed(0)} on average for the others: ${quote(keyText)}`,
    )
  const [longest, shortest] = [Math.max(...optionLengths), Math.min(...optionLengths)]
  if (
    !isAllNumeric &&
    longest > shortest * ITEM_LIMITS.maxOptionLengthRatio &&
    longest - shortest > 2 * LENGTH_TOLERANCE_CHARACTERS
  )
    addFinding('options of one length', `from ${shortest} to ${longest} characters`)

  for (const [feature, hasFeature] of Object.entries(OPTION_FEATURES)) {
    const count = distractors.filter((option) => hasFeature(option, language)).length
    if ((count === 0 && hasFeature(keyText, language)) || (count === 3 && !hasFeature(keyText, language))) {
      addFinding('options of one kind', `only the key differs: ${feature}: ${quote(keyText)}`)
      break
    }
  }
  const endsWithPunctuation = new Set(options.map((option) => /[.!?।]$/.test(option)))
  if (endsWithPunctuation.size > 1)
    addFinding('options of one kind', 'only some options end with a full stop, question mark or exclamation mark')
}

/** Differences of a few characters are not a clue. */
const LENGTH_TOLERANCE_CHARACTERS = 4

/** Visible features of options. It is a clue if only the key has a feature, or if only the key lacks it. */
const OPTION_FEATURES: Record<string, (option: string, language: string) => boolean> = {
  'a number at the start': (option) => /^[\d₹]/.test(option),
  'a digit': (option) => /\d/.test(option),
  brackets: (option) => /[()[\]]/.test(option),
  'a capital at the start': (option) => /^[A-Z]/.test(option),
  'a colon or a semicolon': (option) => /[:;]/.test(option),
  'ends with a verb in the future tense': (option, language) =>
    language === 'hi' && /(?:ूँगा|ूँगी|ेंगे|एँगे|ंगे|ेगा|ेगी|एगा|एगी)$/.test(option),
}

function checkStem({ stem: fullStem, language, about }: CheckedItem, addFinding: AddFinding): void {
  const stem = about ? fullStem.replaceAll(about, '…') : fullStem
  const stemLength = visibleLength(stem)
  const minLength = language === 'en' ? ITEM_LIMITS.stem.min : ITEM_LIMITS.minStemInOtherScripts
  if (stemLength < minLength || stemLength > ITEM_LIMITS.stem.max)
    addFinding('stem', `${stemLength} characters; expected ${minLength} to ${ITEM_LIMITS.stem.max}`)
  if (!/[?？؟]$/.test(stem)) addFinding('stem', 'does not end with a question mark')
  if (hasOddCharacters(stem.replace(QUOTATION, '""'))) addFinding('stem', 'contains unusual characters')
  if (REFERS_TO_TEXT.test(stem.replace(QUOTATION, '""')) || UNRESOLVED_PRONOUN.test(stem))
    addFinding('stem', 'refers to text that is not shown')
  if (isNegativeStem(stem, language)) addFinding('negative stem', quote(stem))

  for (const sentence of sentencesOf(stem).flatMap((part) => part.split(/(?<=;)\s/))) {
    // By spaces: "0.01 mm" has two words.
    const count = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
    if (count > ITEM_LIMITS.maxSentenceWords)
      addFinding(
        'reading level',
        `a sentence of ${count} words; the maximum is ${ITEM_LIMITS.maxSentenceWords}: ${quote(sentence)}`,
      )
  }
  if (language === 'en') {
    const grade = readingGrade(stem)
    if (grade > ITEM_LIMITS.maxGrade)
      addFinding('reading level', `grade level ${grade.toFixed(1)}, maximum ${ITEM_LIMITS.maxGrade}: ${quote(stem)}`)
  }
  const script = SCRIPTS[language]
  if (script) {
    const ownWords = stem.replace(QUOTATION, '')
    const letterCount = ownWords.match(/\p{L}/gu)?.length ?? 0
    const scriptLetterCount = ownWords.match(script)?.length ?? 0
    if (scriptLetterCount < letterCount * MIN_SCRIPT_SHARE)
      addFinding('language', `${scriptLetterCount} of ${letterCount} letters are in the script of the language`)
  }
}

/** Quoted text may be in another language, and may contain any characters. */
const QUOTATION = /"[^"]*"|“[^”]*”/g

/** Minimum share of letters in the script of the language. It is low, because stems can contain names and terms in another script. */
const MIN_SCRIPT_SHARE = 0.3

const REFERS_TO_TEXT = /\bthe above\b|\bthe following\b|उपरोक्त|निम्नलिखित/i

/** Pronouns at the start that refer to text that is not shown. */
const UNRESOLVED_PRONOUN = /^(?:(?:he|she|his|her|they|their)\b|(?:वह|वे|उसे|उसका|उसकी|उसके|उसने|उन्हें|उनका|उनकी|उनके)\s)/iu

/** Returns the Flesch-Kincaid grade level of a text. */
function readingGrade(text: string): number {
  const allWords = wordsOf(text)
  const syllables = allWords.reduce((sum, word) => sum + syllablesOf(word), 0)
  return (
    0.39 * (allWords.length / Math.max(1, sentencesOf(text).length)) +
    11.8 * (syllables / Math.max(1, allWords.length)) -
    15.59
  )
}

/**
 * Returns true for negative stems such as "Which is not…", which are easily misread. A "not" that describes the situation ("the motor
 * does not start"), "why not" and an emphasised NOT or **नहीं** are allowed.
 */
function isNegativeStem(stem: string, language: string): boolean {
  const question = sentencesOf(stem).findLast((sentence) => sentence.endsWith('?')) ?? ''
  if (language === 'en') {
    const mainClause = question
      .replace(
        /\b(?:if|when|because|since|while|that|who|after|before|until|although|though|so|whose|whether)\b[^,?]*/gi,
        ' ',
      )
      .replace(/\b(?:NOT|EXCEPT|NEVER|LEAST)\b/g, ' ')
    return /\b(?:which|what|who|where|how)\b.*(?:\b(?:not|except|never|cannot|least likely)\b|n['’]t\b)/i.test(
      mainClause,
    )
  }
  if (language === 'hi') {
    const mainClause = question
      .replace(/[*“"'«]+\s*(?:नहीं|न)\s*[*”"'»]+/gu, ' ')
      .split(/\sकि\s|\sक्योंकि\s/u)[0]!
      .split(/,|\sतो\s|\sऔर\s|\sजो\s/u)
      .at(-1)!
    return /(?:^|\s)(?:कौन|क्या|किस|किन|कहाँ)/u.test(mainClause) && /(?:^|\s)(?:नहीं|मत)(?=[\s?])/u.test(mainClause)
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

const hasExpectedCount = ({ options, isPooled }: CheckedItem) =>
  isPooled ? options.length >= SHOWN_OPTIONS : options.length === SHOWN_OPTIONS

const isValidKey = ({ key, options }: CheckedItem) =>
  Number.isInteger(key) && key >= 0 && key < Math.max(SHOWN_OPTIONS, options.length)

/** Returns true for numbers with or without units. */
function isNumeric(option: string): boolean {
  return /^[₹±]?\s?\d[\d.,/:×x*+\- ]*(?:\s?[\p{L}\p{M}%°²³/.]+){0,3}$/u.test(option)
}

/** Normalises an option; options that differ only in case, spacing or punctuation are duplicates. Feet and inches differ. */
export function normaliseOption(option: string): string {
  return foldText(option)
    .replace(/[.,;!?।\s]+$/u, '')
    .replace(/(?<=\d)['’′]/gu, 'ft')
    .replace(/(?<=\d)["”″]/gu, 'in')
    .replace(/[^\p{L}\p{M}\p{N}+\-*/%<>=#.&|!?()[\]{}^~$@_:]+/gu, '')
}

/** Returns true for control and direction characters, line breaks, and leading, trailing or repeated spaces. */
const hasOddCharacters = (text: string) =>
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029\ufffd]|^\s|\s$|\s{2}/u.test(text.replace(/[\u200c\u200d]/g, ''))

const quote = (text: string) => JSON.stringify(text)
