import type { NearWords } from '../labels/near-words.ts'
import type { Postings } from '../labels/postings.ts'
import type { Vocabulary } from '../labels/vocabulary.ts'
import { lastTwoLetters } from '../text/letter-keys.ts'
import { isDevanagari } from '../text/phonetics.ts'

/**
 * Agreement: how well a catalogue word matches a query word, in percent. 100 is the same word; 0 is no match. Homophones are
 * words that sound alike, such as "bijli" and "bijlee".
 */
export const EXACT_AGREEMENT = 100
export const SAME_STEM_AGREEMENT = 88
/** The query word is in Devanagari; the catalogue word is the same word in Latin script. */
export const OTHER_SCRIPT_AGREEMENT = 93
export const PREFIX_AGREEMENT = 92
/** The query word is a single letter; the catalogue word begins with it. */
export const ONE_LETTER_PREFIX_AGREEMENT = 85
export const HOMOPHONE_AGREEMENT = 86
export const ONE_TYPO_AGREEMENT = 80
export const SUBSTRING_AGREEMENT = 72
export const TWO_TYPOS_AGREEMENT = 66
/** The catalogue word begins with the query word, except for one typo: "electrician" for "elactr". */
export const TYPO_PREFIX_AGREEMENT = 58

/** Whether an agreement means that the query word matches the whole catalogue word, and not only a prefix or substring of it. */
export function isWholeWordAgreement(agreement: number): boolean {
  return (
    agreement === SAME_STEM_AGREEMENT ||
    agreement === OTHER_SCRIPT_AGREEMENT ||
    agreement === HOMOPHONE_AGREEMENT ||
    agreement === ONE_TYPO_AGREEMENT ||
    agreement === TWO_TYPOS_AGREEMENT
  )
}

/** Minimum number of letters of a prefix, except for the last query word, which the user may still be typing. */
const MIN_PREFIX_LENGTH = 2
/** If the last query word has at least this many letters and is a prefix of a catalogue word, typos are not considered. */
export const MIN_CERTAIN_PREFIX_LENGTH = 7
/** Maximum number of similar words of a query word, so that a short substring does not slow the search down. */
const MAX_SIMILAR_WORDS = 4000

/**
 * A query word with the catalogue words that the user may mean: all words that begin with it, and similar words. Catalogue words
 * are identified by their numbers in the sorted vocabulary, so the words with a prefix are a range of numbers.
 */
export class QueryWord {
  text = ''
  /** Number of the catalogue word that equals the query word; -1 if there is none. */
  exactWord = -1
  /** Range of the catalogue words that begin with the query word. The end is exclusive. */
  prefixStart = 0
  prefixEnd = 0
  /** Numbers of the similar catalogue words: same stem, homophone, typo or substring. */
  similarWords: number[] = []
  /** 1 if a skill must match the word. 0 for a single letter next to other words: a match only raises the score. */
  required = 1
  postingCount = 0
  /** Results of `matchLabel`: agreement of the best word of the label, and its position there. 0 and -1 if no word agrees. */
  agreement = 0
  position = 0
  private isFirst = false
  /** The query word as a suffix: its two letters, packed by `lastTwoLetters`. 0 if suffixes do not match. */
  private suffixLetters = 0
  /** By word number: the agreement of each similar word. An array, because reading it must be fast. */
  private readonly agreements: Uint8Array
  private readonly addTransliteration = (wordNumber: number) => this.addSimilarWord(wordNumber, OTHER_SCRIPT_AGREEMENT)
  private readonly addHomophone = (wordNumber: number) => this.addSimilarWord(wordNumber, HOMOPHONE_AGREEMENT)
  private readonly addTypo = (wordNumber: number, edits: number) =>
    this.addSimilarWord(wordNumber, edits === 1 ? ONE_TYPO_AGREEMENT : TWO_TYPOS_AGREEMENT)
  private readonly addWordWithSubstring = (wordNumber: number) => this.addSimilarWord(wordNumber, SUBSTRING_AGREEMENT)
  private readonly addTypoPrefix = (wordNumber: number) => this.addSimilarWord(wordNumber, TYPO_PREFIX_AGREEMENT)
  private readonly vocabulary: Vocabulary
  private readonly nearWords: NearWords

  constructor(vocabulary: Vocabulary, nearWords: NearWords) {
    this.vocabulary = vocabulary
    this.nearWords = nearWords
    this.agreements = new Uint8Array(vocabulary.words.length)
  }

  /**
   * Sets the query word and finds the similar catalogue words. Only the first query word can match as a two-letter suffix. Only
   * the last query word can match as a one-letter prefix. If `isLenient` is set, typos and homophones are also found for a word
   * that is in the catalogue.
   */
  findSimilarWords(text: string, isFirst: boolean, isLast: boolean, isLenient: boolean): void {
    this.clear()
    const { vocabulary, nearWords } = this
    this.text = text
    this.isFirst = isFirst
    this.required = text.length === 1 && !(isFirst && isLast) ? 0 : 1
    this.exactWord = vocabulary.find(text)
    this.prefixStart = vocabulary.lowerBound(text)
    const isExactOnly = text.length < MIN_PREFIX_LENGTH && !isLast
    this.prefixEnd = isExactOnly
      ? this.prefixStart + (this.exactWord >= 0 ? 1 : 0)
      : vocabulary.prefixEnd(text, this.prefixStart)
    if (this.exactWord >= 0) {
      const stem = vocabulary.stems[this.exactWord]!
      for (let at = vocabulary.stemStarts[stem]!; at < vocabulary.stemStarts[stem + 1]!; at++)
        this.addSimilarWord(vocabulary.stemWords[at]!, SAME_STEM_AGREEMENT)
      if (isDevanagari(text))
        nearWords.findHomophones(text, (wordNumber, other) => {
          if (!isDevanagari(other)) this.addSimilarWord(wordNumber, OTHER_SCRIPT_AGREEMENT)
        })
      nearWords.findTransliterated(text, this.addTransliteration)
    }
    if (isLast && !isLenient && text.length >= MIN_CERTAIN_PREFIX_LENGTH && this.prefixEnd > this.prefixStart) return
    if (this.exactWord < 0 || isLenient) {
      nearWords.findHomophones(text, this.addHomophone)
      if (this.exactWord < 0) nearWords.findTransliterated(text, this.addHomophone)
      nearWords.findTypos(text, this.addTypo, isLenient || this.prefixStart === this.prefixEnd)
    }
    if (text.length > 2 && (isFirst || isLenient || this.exactWord < 0))
      nearWords.findContaining(text, this.addWordWithSubstring)
    else if (text.length === 2 && isFirst && !isLast) this.suffixLetters = lastTwoLetters(text)
    if (this.exactWord < 0 && (isLenient || (this.prefixStart === this.prefixEnd && this.similarWords.length === 0)))
      nearWords.findTypoPrefixes(text, this.addTypoPrefix)
  }

  /**
   * Adds the catalogue words that end with the two-letter query word. After that, posting lists replace the check of every label.
   */
  expandSuffix(): void {
    if (this.suffixLetters === 0) return
    this.suffixLetters = 0
    this.nearWords.findEndingWith(this.text, this.addWordWithSubstring)
  }

  /** Returns the agreement of a catalogue word, in percent; 0 if it does not agree. */
  agreementWith(wordNumber: number): number {
    if (wordNumber === this.exactWord) return EXACT_AGREEMENT
    const agreement = this.agreements[wordNumber]!
    return wordNumber >= this.prefixStart && wordNumber < this.prefixEnd
      ? Math.max(PREFIX_AGREEMENT, agreement)
      : agreement
  }

  /**
   * Finds the word of a label with the best agreement. Returns false if no word agrees and the query word is required.
   *
   * If several label words have the same agreement, the first query word takes the first of them, and the other query words take
   * the last. So in the label "Balance beams", the "b" of the query "balance b" matches "beams".
   */
  matchLabel(words: Int32Array, from: number, to: number): boolean {
    const { exactWord, prefixStart, prefixEnd, agreements, suffixLetters } = this
    let bestAgreement = 0
    this.position = -1
    for (let at = from; at < to; at++) {
      const word = words[at]!
      let agreement = agreements[word]!
      if (word === exactWord) agreement = EXACT_AGREEMENT
      else if (agreement < PREFIX_AGREEMENT && word >= prefixStart && word < prefixEnd) agreement = PREFIX_AGREEMENT
      if (agreement > bestAgreement || (agreement === bestAgreement && agreement > 0 && !this.isFirst)) {
        bestAgreement = agreement
        this.position = at - from
      }
    }
    if (suffixLetters !== 0 && bestAgreement < SUBSTRING_AGREEMENT) {
      const { suffixes } = this.nearWords
      for (let at = from; at < to; at++) {
        if (suffixes[words[at]!] !== suffixLetters) continue
        bestAgreement = SUBSTRING_AGREEMENT
        this.position = at - from
        break
      }
    }
    this.agreement = bestAgreement
    return bestAgreement > 0 || this.required === 0
  }

  /** Returns the exact word and the similar words, best agreement first. Words that only have the prefix are not included. */
  similarWordsByAgreement(): number[] {
    const wordNumbers = this.exactWord < 0 ? this.similarWords : [this.exactWord, ...this.similarWords]
    return [...wordNumbers].sort((a, b) => this.agreementWith(b) - this.agreementWith(a) || a - b)
  }

  /**
   * Returns the number of postings of all words that agree. Returns infinity for a suffix that is not expanded, because its
   * number of postings is unknown.
   */
  countPostings(postings: Postings): number {
    if (this.suffixLetters !== 0) return Number.POSITIVE_INFINITY
    let count = postings.starts[this.prefixEnd]! - postings.starts[this.prefixStart]!
    for (const wordNumber of this.similarWords) count += postings.starts[wordNumber + 1]! - postings.starts[wordNumber]!
    return count
  }

  clear(): void {
    for (const wordNumber of this.similarWords) this.agreements[wordNumber] = 0
    this.similarWords.length = 0
    this.suffixLetters = 0
  }

  private addSimilarWord(wordNumber: number, agreement: number): void {
    if (wordNumber === this.exactWord) return
    const agreementBefore = this.agreements[wordNumber]!
    if (agreementBefore >= agreement) return
    const hasPrefix = wordNumber >= this.prefixStart && wordNumber < this.prefixEnd
    if (hasPrefix && agreement <= PREFIX_AGREEMENT) return
    if (agreementBefore === 0) {
      if (this.similarWords.length >= MAX_SIMILAR_WORDS) return
      this.similarWords.push(wordNumber)
    }
    this.agreements[wordNumber] = agreement
  }
}
