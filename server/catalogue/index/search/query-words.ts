import type { NearWords } from '../labels/near-words.ts'
import type { Postings } from '../labels/postings.ts'
import type { Vocabulary } from '../labels/vocabulary.ts'
import { lastTwoLetters } from '../text/letter-keys.ts'
import { isDevanagari } from '../text/phonetics.ts'

/** How well a word of the catalogue agrees with a word of the query, in hundredths. */
export const EXACT_AGREEMENT = 100
export const SAME_STEM_AGREEMENT = 88
/** The same word in Latin script, for a query word in Devanagari. */
export const OTHER_SCRIPT_AGREEMENT = 93
export const PREFIX_AGREEMENT = 92
/** A word that begins with the only letter of the query. */
export const ONE_LETTER_PREFIX_AGREEMENT = 85
export const HOMOPHONE_AGREEMENT = 86
export const ONE_TYPO_AGREEMENT = 80
export const SUBSTRING_AGREEMENT = 72
export const TWO_TYPOS_AGREEMENT = 66
export const TYPO_PREFIX_AGREEMENT = 58

/** Whether the query's word agrees with the whole word of the catalogue, and not only with a part of it. */
export function isWholeWordAgreement(agreement: number): boolean {
  return (
    agreement === SAME_STEM_AGREEMENT ||
    agreement === OTHER_SCRIPT_AGREEMENT ||
    agreement === HOMOPHONE_AGREEMENT ||
    agreement === ONE_TYPO_AGREEMENT ||
    agreement === TWO_TYPOS_AGREEMENT
  )
}

const MIN_PREFIX_LENGTH = 2
/** A prefix of this many letters is not treated as a typo of another word. */
export const CERTAIN_PREFIX_LENGTH = 7
const MAX_SIMILAR_WORDS = 4000

/**
 * A word of a query with the words of the catalogue that it may stand for: the range of words that begin with it, and single
 * similar words. Agreements are stored by word number, so that reading one is a single array access.
 */
export class QueryWord {
  text = ''
  /** The number of the word itself, or -1. */
  exactWord = -1
  /** The range of words that begin with it. */
  prefixStart = 0
  prefixEnd = 0
  similarWords: number[] = []
  /** 0 for a single letter next to other words: it raises a score but is not required to match. */
  required = 1
  postingCount = 0
  /** Agreement and position of the best word in the label that was matched last; 0 and -1 if none agrees. */
  agreement = 0
  position = 0
  private isFirst = false
  /** The two letters that a word must end with to agree; 0 if suffixes are not considered. */
  private requiredSuffix = 0
  private readonly marks: Uint8Array
  private readonly markHomophone = (id: number) => this.mark(id, HOMOPHONE_AGREEMENT)
  private readonly markTypo = (id: number, edits: number) =>
    this.mark(id, edits === 1 ? ONE_TYPO_AGREEMENT : TWO_TYPOS_AGREEMENT)
  private readonly markSubstring = (id: number) => this.mark(id, SUBSTRING_AGREEMENT)
  private readonly markTypoPrefix = (id: number) => this.mark(id, TYPO_PREFIX_AGREEMENT)
  private readonly vocabulary: Vocabulary
  private readonly nearWords: NearWords

  constructor(vocabulary: Vocabulary, nearWords: NearWords) {
    this.vocabulary = vocabulary
    this.nearWords = nearWords
    this.marks = new Uint8Array(vocabulary.words.length)
  }

  /**
   * Looks the word up. Only the first word of a query may be a two-letter suffix, and only the last may be a single letter of a
   * longer word. `lenient` also accepts typos and homophones of a word that the catalogue contains.
   */
  lookUp(text: string, isFirst: boolean, isLast: boolean, isLenient: boolean): void {
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
        this.mark(vocabulary.stemWords[at]!, SAME_STEM_AGREEMENT)
      if (isDevanagari(text))
        nearWords.findHomophones(text, (id, other) => {
          if (!isDevanagari(other)) this.mark(id, OTHER_SCRIPT_AGREEMENT)
        })
    }
    if (isLast && !isLenient && text.length >= CERTAIN_PREFIX_LENGTH && this.prefixEnd > this.prefixStart) return
    if (this.exactWord < 0 || isLenient) {
      nearWords.findHomophones(text, this.markHomophone)
      nearWords.findTypos(text, this.markTypo, isLenient || this.prefixStart === this.prefixEnd)
    }
    if (text.length > 2 && (isFirst || isLenient || this.exactWord < 0))
      nearWords.findContaining(text, this.markSubstring)
    else if (text.length === 2 && isFirst && !isLast) this.requiredSuffix = lastTwoLetters(text)
    if (this.exactWord < 0 && (isLenient || (this.prefixStart === this.prefixEnd && this.similarWords.length === 0)))
      nearWords.findTypoPrefixes(text, this.markTypoPrefix)
  }

  /** Looks up the words that end with its two letters, so that their postings can be used instead of checking every label. */
  expandSuffix(): void {
    if (this.requiredSuffix === 0) return
    this.requiredSuffix = 0
    this.nearWords.findEndingWith(this.text, this.markSubstring)
  }

  /** Returns how well a word of the catalogue agrees; 0 if it does not. */
  agreementWith(word: number): number {
    if (word === this.exactWord) return EXACT_AGREEMENT
    if (word >= this.prefixStart && word < this.prefixEnd) return Math.max(PREFIX_AGREEMENT, this.marks[word]!)
    return this.marks[word]!
  }

  /**
   * Finds the best-agreeing word in a range of label words; returns false if the word is required and none agrees. Among equal
   * agreements the first word of a query takes the first, the others the last: the "b" of "balance b" is that of "Balance beams".
   */
  matchLabel(words: Int32Array, from: number, to: number): boolean {
    const { exactWord, prefixStart: rangeStart, prefixEnd: rangeEnd, marks, requiredSuffix } = this
    let bestAgreement = 0
    this.position = -1
    for (let at = from; at < to; at++) {
      const word = words[at]!
      let agreement = marks[word]!
      if (word === exactWord) agreement = EXACT_AGREEMENT
      else if (agreement < PREFIX_AGREEMENT && word >= rangeStart && word < rangeEnd) agreement = PREFIX_AGREEMENT
      if (agreement > bestAgreement || (agreement === bestAgreement && agreement > 0 && !this.isFirst)) {
        bestAgreement = agreement
        this.position = at - from
      }
    }
    if (requiredSuffix !== 0 && bestAgreement < SUBSTRING_AGREEMENT) {
      const { suffixes } = this.nearWords
      for (let at = from; at < to; at++) {
        if (suffixes[words[at]!] !== requiredSuffix) continue
        bestAgreement = SUBSTRING_AGREEMENT
        this.position = at - from
        break
      }
    }
    this.agreement = bestAgreement
    return bestAgreement > 0 || this.required === 0
  }

  /** Returns the word itself and the similar words, best agreement first; words that only begin with it are in the range. */
  similarWordsByAgreement(): number[] {
    const ids = this.exactWord < 0 ? this.similarWords : [this.exactWord, ...this.similarWords]
    return [...ids].sort((a, b) => this.agreementWith(b) - this.agreementWith(a) || a - b)
  }

  /** Returns the number of postings of all words that agree; infinite if suffixes are not expanded. */
  countPostings(postings: Postings): number {
    if (this.requiredSuffix !== 0) return Number.POSITIVE_INFINITY
    let count = postings.starts[this.prefixEnd]! - postings.starts[this.prefixStart]!
    for (const id of this.similarWords) count += postings.starts[id + 1]! - postings.starts[id]!
    return count
  }

  clear(): void {
    for (const id of this.similarWords) this.marks[id] = 0
    this.similarWords.length = 0
    this.requiredSuffix = 0
  }

  private mark(id: number, agreement: number): void {
    if (id === this.exactWord) return
    const agreementBefore = this.marks[id]!
    if (agreementBefore >= agreement) return
    const hasPrefix = id >= this.prefixStart && id < this.prefixEnd
    if (hasPrefix && agreement <= PREFIX_AGREEMENT) return
    if (agreementBefore === 0) {
      if (this.similarWords.length >= MAX_SIMILAR_WORDS) return
      this.similarWords.push(id)
    }
    this.marks[id] = agreement
  }
}
