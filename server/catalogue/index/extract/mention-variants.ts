import { ALIAS, type Labels, NAME } from '../labels/labels.ts'
import type { Postings } from '../labels/postings.ts'
import { employerWords, everydayWords, nameParts, numerals, shortForms, stopWords } from '../lexicon/lexicon.ts'
import { agentNounsFor, hindiInflections, hindiTranslations, romanisedInflections } from '../lexicon/word-forms.ts'
import { isDevanagari } from '../text/phonetics.ts'
import type { MentionPatterns } from './mention-patterns.ts'

/** Maximum number of words of a label that gets variants. */
const MAX_LABEL_WORDS_FOR_VARIANTS = 5

/**
 * Ways to write the last word of a name first: directly ("load trucks" for truck loading), or with "of" ("installation of
 * pumps").
 */
const INVERTS_FREELY = 1
const INVERTS_WITH_OF = 2
const INVERTS_WITH_OF_ENDING = /(tion|sion|ment|ance|repair|service)$/

const activityWords = new Set(nameParts.activities)
const wordsLeftOutWithActivities = new Set(nameParts['left out with activities'])
/** Minimum number of letters of a first word that alone mentions the whole name: "overlock" for overlock sewing. */
const MIN_DISTINCTIVE_WORD_LENGTH = 5

/**
 * Minimum number of letters of a short form. Shorter ones often mean something else: "pm" in "6 pm" is not project management.
 */
const MIN_SHORT_FORM_LENGTH = 3
const employerSelfDescriptions = new Set(employerWords['self-descriptions'])

/** Minimum number of letters of a word that is split in two, and of each part. */
const MIN_SPLIT_WORD_LENGTH = 8
const MIN_SPLIT_PART_LENGTH = 3

/** Adds variants: other wordings of a label. A wording that is a label itself still mentions that label. */
export class MentionVariants {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly patterns: MentionPatterns
  /** By word number: INVERTS_FREELY, INVERTS_WITH_OF, or 0 if the word cannot come first. */
  private readonly inversions: Uint8Array
  private readonly ofStemNumber: number
  /** By word number: the stem numbers that can replace the word, such as those of "fork lift" for "forklift". */
  private readonly replacements = new Map<number, number[]>()
  /** Whether `stemNumbers` applies the replacements. */
  private useReplacements = false
  private readonly pattern: number[] = []

  constructor(labels: Labels, postings: Postings, patterns: MentionPatterns) {
    this.labels = labels
    this.postings = postings
    this.patterns = patterns
    this.inversions = new Uint8Array(labels.vocabulary.words.length)
    this.ofStemNumber = patterns.stemNumberOf('of')
  }

  /** Finds the replacements and inversions of a range of words. Must run for all words before `addLabels`. */
  prepareWords(from: number, to: number): void {
    const { words } = this.labels.vocabulary
    for (let id = from; id < to; id++) {
      const word = words[id]!
      const replacement = this.replacementFor(word)
      if (replacement) this.replacements.set(id, replacement)
      if (word.length > 3)
        this.inversions[id] = word.endsWith('ing')
          ? INVERTS_FREELY
          : INVERTS_WITH_OF_ENDING.test(word)
            ? INVERTS_WITH_OF
            : 0
    }
  }

  addLabels(fromLabel: number, toLabel: number): void {
    const { wordStarts } = this.labels
    for (let label = fromLabel; label < toLabel; label++) {
      const firstWord = wordStarts[label]!
      const endWord = wordStarts[label + 1]!
      if (endWord - firstWord > MAX_LABEL_WORDS_FOR_VARIANTS) continue
      if (endWord - firstWord === 1) this.addSplitWord(label, firstWord)
      else {
        this.addNameWithoutActivityWord(label, firstWord, endWord)
        this.addHalvesOfName(label, firstWord, endWord)
        this.addAgentNouns(label, firstWord, endWord)
        this.addInvertedName(label, firstWord, endWord)
        this.addHindiTranslations(label, firstWord, endWord)
        this.addPlural(label, firstWord, endWord)
        this.addWithReplacements(label, firstWord, endWord)
      }
    }
  }

  /**
   * Returns the stem number of a numeral in digits ("2" for "two"), or the two stem numbers of a word that is split ("fork
   * lift").
   */
  private replacementFor(word: string): number[] | undefined {
    const digits = numerals.get(word)
    if (digits) return [this.patterns.addForm(digits)]
    if (word.length < MIN_SPLIT_WORD_LENGTH || isDevanagari(word)) return undefined
    const { vocabulary } = this.labels
    for (let cut = MIN_SPLIT_PART_LENGTH; cut <= word.length - MIN_SPLIT_PART_LENGTH; cut++)
      if (vocabulary.find(word.slice(0, cut)) >= 0 && vocabulary.find(word.slice(cut)) >= 0)
        return [this.patterns.stemNumberOf(word.slice(0, cut)), this.patterns.stemNumberOf(word.slice(cut))]
    return undefined
  }

  /** Adds the short forms of the lexicon whose long form is a label: "team player" for "work in teams". */
  addShortForms(): void {
    for (const [shortForm, longForm] of shortForms) {
      if (
        shortForm.length < MIN_SHORT_FORM_LENGTH ||
        everydayWords.has(shortForm) ||
        employerSelfDescriptions.has(shortForm)
      )
        continue
      const longWords = longForm.split(' ')
      const label =
        longWords.length > 1
          ? this.patterns.labelWithPattern(longWords.map((word) => this.patterns.stemNumberOf(word)))
          : -1
      if (label < 0) continue
      const words = shortForm.split(' ')
      const pattern = words.map((word) => this.patterns.addForm(word))
      if (pattern.length > 1) this.patterns.addPatternVariant(pattern, label)
      else this.patterns.addSingleWordVariant(words[0]!, pattern[0]!, label)
    }
  }

  /** Adds "book keeping" for bookkeeping, राज मिस्त्री for राजमिस्त्री. */
  private addSplitWord(label: number, at: number): void {
    const { vocabulary, words } = this.labels
    const word = vocabulary.words[words[at]!]!
    if (word.length < MIN_SPLIT_WORD_LENGTH) return
    const isHindi = isDevanagari(word)
    for (let cut = MIN_SPLIT_PART_LENGTH; cut <= word.length - MIN_SPLIT_PART_LENGTH; cut++) {
      const rightPart = word.slice(cut)
      if (vocabulary.find(rightPart) < 0 || (isHindi && !/^[अ-ह]/.test(rightPart))) continue
      const leftPart = word.slice(0, cut)
      if (isHindi || vocabulary.find(leftPart) >= 0)
        this.patterns.addPatternVariant([this.patterns.addForm(leftPart), this.patterns.stemNumberOf(rightPart)], label)
    }
  }

  /** Adds "tower crane" for tower crane operation, and "overlock" for overlock sewing if no other skill has that word. */
  private addNameWithoutActivityWord(label: number, from: number, to: number): void {
    const { vocabulary, words, kinds } = this.labels
    if (kinds[label] === ALIAS || !activityWords.has(vocabulary.words[words[to - 1]!]!)) return
    if (to - from > 2 && !stopWords.has(vocabulary.words[words[to - 2]!]!))
      this.patterns.addPatternVariant(this.stemNumbers(from, to - 1), label)
    if (to - from > 3 || (to - from === 3 && !wordsLeftOutWithActivities.has(vocabulary.words[words[from + 1]!]!)))
      return
    const id = words[from]!
    const word = vocabulary.words[id]!
    const skillCount = this.postings.starts[id + 1]! - this.postings.starts[id]!
    if (skillCount === 1 && word.length >= MIN_DISTINCTIVE_WORD_LENGTH && !everydayWords.has(word))
      this.patterns.addSingleWordVariant(word, vocabulary.stems[id]!, label)
  }

  /** Adds "tap installation" for "Tap and mixer installation", "die cutting" for "Die cutting and creasing". */
  private addHalvesOfName(label: number, from: number, to: number): void {
    const { vocabulary, words, kinds } = this.labels
    if (kinds[label] !== NAME || this.inversions[words[to - 1]!] === 0) return
    let andPosition = from + 1
    while (andPosition < to && vocabulary.words[words[andPosition]!] !== 'and') andPosition++
    if (andPosition >= to - 1) return
    const pattern = this.stemNumbers(from, andPosition)
    // "tap" needs the "installation" of the other half, "die cutting" is complete.
    if (this.inversions[words[andPosition - 1]!] === 0) pattern.push(vocabulary.stems[words[to - 1]!]!)
    if (pattern.length > 1) this.patterns.addPatternVariant(pattern, label)
    if (to - andPosition > 2) this.patterns.addPatternVariant(this.stemNumbers(andPosition + 1, to), label)
  }

  /**
   * Adds "two wheeler mechanics" for two wheeler mechanic if the catalogue contains "mechanics", for example in "fluid
   * mechanics". Such a plural has its own stem, which is not that of "mechanic".
   */
  private addPlural(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    const lastWord = vocabulary.words[words[to - 1]!]!
    const pluralNumber = lastWord.endsWith('ic') ? vocabulary.find(`${lastWord}s`) : -1
    if (pluralNumber < 0) return
    const pattern = this.stemNumbers(from, to - 1)
    pattern.push(vocabulary.stems[pluralNumber]!)
    this.patterns.addPatternVariant(pattern, label)
  }

  /** Adds "fork lift operator" for forklift operation, "2 wheeler repair" for two-wheeler repair. */
  private addWithReplacements(label: number, from: number, to: number): void {
    const { words } = this.labels
    let at = from
    while (at < to && !this.replacements.has(words[at]!)) at++
    if (at === to) return
    this.useReplacements = true
    this.patterns.addPatternVariant(this.stemNumbers(from, to), label)
    this.addAgentNouns(label, from, to)
    this.addPlural(label, from, to)
    this.useReplacements = false
  }

  /** Adds "forklift operator" for forklift operation. */
  private addAgentNouns(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    for (const agentNoun of agentNounsFor(vocabulary.words[words[to - 1]!]!)) {
      const pattern = this.stemNumbers(from, to - 1)
      pattern.push(this.patterns.addForm(agentNoun))
      this.patterns.addPatternVariant(pattern, label)
    }
  }

  /** Adds "forklift chalana" for forklift operation. */
  private addHindiTranslations(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    for (const hindiWord of hindiTranslations(vocabulary.words[words[to - 1]!]!)) {
      const pattern = this.stemNumbers(from, to - 1)
      const stemNumber = this.patterns.addForm(hindiWord)
      for (const form of isDevanagari(hindiWord) ? hindiInflections(hindiWord) : romanisedInflections(hindiWord))
        this.patterns.forms.add(form, stemNumber)
      pattern.push(stemNumber)
      this.patterns.addPatternVariant(pattern, label)
    }
  }

  /** Adds "loading of trucks" for truck loading. */
  private addInvertedName(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    const lastWord = words[to - 1]!
    if (this.inversions[lastWord] === 0) return
    const pattern = this.stemNumbers(from, to - 1)
    if (this.inversions[lastWord] === INVERTS_WITH_OF) pattern.unshift(this.ofStemNumber)
    pattern.unshift(vocabulary.stems[lastWord]!)
    this.patterns.addPatternVariant(pattern, label)
  }

  /** Returns the stem numbers of the label words `from` up to `to`, in an array that is reused by the next call. */
  private stemNumbers(from: number, to: number): number[] {
    const { vocabulary, words } = this.labels
    this.pattern.length = 0
    for (let at = from; at < to; at++) {
      const replacement = this.useReplacements ? this.replacements.get(words[at]!) : undefined
      if (replacement) this.pattern.push(...replacement)
      else this.pattern.push(vocabulary.stems[words[at]!]!)
    }
    return this.pattern
  }
}
