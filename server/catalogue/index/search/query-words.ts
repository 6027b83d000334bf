import type { NearWords } from '../labels/near-words.ts'
import type { Postings } from '../labels/postings.ts'
import type { Vocabulary } from '../labels/vocabulary.ts'
import { lastTwoLetters } from '../text/letter-keys.ts'
import { isDevanagari } from '../text/phonetics.ts'

/** How well a word of the catalogue agrees with a word of the query, in hundredths. */
export const EXACT = 100
export const SAME_STEM = 88
/** The same word in Latin script. */
export const OTHER_SCRIPT = 93
export const PREFIX = 92
/** A word that begins with the only letter of the query. */
export const ONE_LETTER_PREFIX = 85
export const HOMOPHONE = 86
export const ONE_TYPO = 80
export const SUBSTRING = 72
export const TWO_TYPOS = 66
export const TYPO_PREFIX = 58

/** Whether this agreement means the whole word of the catalogue, not one that only contains the query's word. */
export function isWholeWord(agreement: number): boolean {
  return (
    agreement === SAME_STEM ||
    agreement === OTHER_SCRIPT ||
    agreement === HOMOPHONE ||
    agreement === ONE_TYPO ||
    agreement === TWO_TYPOS
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
  exact = -1
  /** The range of words that begin with it. */
  from = 0
  to = 0
  similar: number[] = []
  /** 0 for a single letter next to other words: it raises a score but is not required to match. */
  required = 1
  postingCount = 0
  /** Agreement and position of the best word in the label that was matched last; 0 and -1 if none agrees. */
  agreement = 0
  position = 0
  private isFirst = false
  /** The two letters that a word must end with to agree; 0 if suffixes are not considered. */
  private suffix = 0
  private readonly marks: Uint8Array
  private readonly markHomophone = (id: number) => this.mark(id, HOMOPHONE)
  private readonly markTypo = (id: number, edits: number) => this.mark(id, edits === 1 ? ONE_TYPO : TWO_TYPOS)
  private readonly markSubstring = (id: number) => this.mark(id, SUBSTRING)
  private readonly markTypoPrefix = (id: number) => this.mark(id, TYPO_PREFIX)
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
  lookUp(text: string, isFirst: boolean, isLast: boolean, lenient: boolean): void {
    this.clear()
    const { vocabulary, nearWords } = this
    this.text = text
    this.isFirst = isFirst
    this.required = text.length === 1 && !(isFirst && isLast) ? 0 : 1
    this.exact = vocabulary.find(text)
    this.from = vocabulary.lowerBound(text)
    const exactOnly = text.length < MIN_PREFIX_LENGTH && !isLast
    this.to = exactOnly ? this.from + (this.exact >= 0 ? 1 : 0) : vocabulary.prefixEnd(text, this.from)
    if (this.exact >= 0) {
      const stem = vocabulary.stems[this.exact]!
      for (let at = vocabulary.stemStarts[stem]!; at < vocabulary.stemStarts[stem + 1]!; at++)
        this.mark(vocabulary.stemWords[at]!, SAME_STEM)
      if (isDevanagari(text))
        nearWords.findHomophones(text, (id, other) => {
          if (!isDevanagari(other)) this.mark(id, OTHER_SCRIPT)
        })
    }
    if (isLast && !lenient && text.length >= CERTAIN_PREFIX_LENGTH && this.to > this.from) return
    if (this.exact < 0 || lenient) {
      nearWords.findHomophones(text, this.markHomophone)
      nearWords.findTypos(text, this.markTypo, lenient || this.from === this.to)
    }
    if (text.length > 2 && (isFirst || lenient || this.exact < 0)) nearWords.findContaining(text, this.markSubstring)
    else if (text.length === 2 && isFirst && !isLast) this.suffix = lastTwoLetters(text)
    if (this.exact < 0 && (lenient || (this.from === this.to && this.similar.length === 0)))
      nearWords.findTypoPrefixes(text, this.markTypoPrefix)
  }

  /** Looks up the words that end with its two letters, so that their postings can be used instead of checking every label. */
  expandSuffix(): void {
    if (this.suffix === 0) return
    this.suffix = 0
    this.nearWords.findEndingWith(this.text, this.markSubstring)
  }

  /** Returns how well a word of the catalogue agrees; 0 if it does not. */
  agreementWith(word: number): number {
    if (word === this.exact) return EXACT
    if (word >= this.from && word < this.to) return Math.max(PREFIX, this.marks[word]!)
    return this.marks[word]!
  }

  /**
   * Finds the best-agreeing word in a range of label words; returns false if the word is required and none agrees. Among equal
   * agreements the first word of a query takes the first, the others the last: the "b" of "balance b" is that of "Balance beams".
   */
  matchLabel(words: Int32Array, from: number, to: number): boolean {
    const { exact, from: low, to: high, marks, suffix } = this
    let best = 0
    this.position = -1
    for (let at = from; at < to; at++) {
      const word = words[at]!
      let agreement = marks[word]!
      if (word === exact) agreement = EXACT
      else if (agreement < PREFIX && word >= low && word < high) agreement = PREFIX
      if (agreement > best || (agreement === best && agreement > 0 && !this.isFirst)) {
        best = agreement
        this.position = at - from
      }
    }
    if (suffix !== 0 && best < SUBSTRING) {
      const { suffixes } = this.nearWords
      for (let at = from; at < to; at++) {
        if (suffixes[words[at]!] !== suffix) continue
        best = SUBSTRING
        this.position = at - from
        break
      }
    }
    this.agreement = best
    return best > 0 || this.required === 0
  }

  /** Returns the word itself and the similar words, best agreement first; words that only begin with it are in the range. */
  similarByAgreement(): number[] {
    const ids = this.exact < 0 ? this.similar : [this.exact, ...this.similar]
    return [...ids].sort((a, b) => this.agreementWith(b) - this.agreementWith(a) || a - b)
  }

  /** Returns the number of postings of all words that agree; infinite if suffixes are not expanded. */
  countPostings(postings: Postings): number {
    if (this.suffix !== 0) return Number.POSITIVE_INFINITY
    let count = postings.starts[this.to]! - postings.starts[this.from]!
    for (const id of this.similar) count += postings.starts[id + 1]! - postings.starts[id]!
    return count
  }

  clear(): void {
    for (const id of this.similar) this.marks[id] = 0
    this.similar.length = 0
    this.suffix = 0
  }

  private mark(id: number, agreement: number): void {
    if (id === this.exact) return
    const before = this.marks[id]!
    if (before >= agreement) return
    const inRange = id >= this.from && id < this.to
    if (inRange && agreement <= PREFIX) return
    if (before === 0) {
      if (this.similar.length >= MAX_SIMILAR_WORDS) return
      this.similar.push(id)
    }
    this.marks[id] = agreement
  }
}
