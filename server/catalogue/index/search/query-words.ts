import type { NearWords } from '../labels/near-words.ts'
import type { Postings } from '../labels/postings.ts'
import type { Vocabulary } from '../labels/vocabulary.ts'
import { tailOf } from '../text/letter-keys.ts'
import { isDevanagari } from '../text/sounds.ts'

/** How well a word of the catalogue agrees with a word of the query, in hundredths. */
export const EXACT = 100
export const STEM = 88
/** The same word in the other script. */
const OTHER_SCRIPT = 93
export const PREFIX = 92
/** A word that begins with the only letter asked for. */
export const ONE_LETTER = 85
const SOUND = 86
const ONE_TYPO = 80
const INSIDE = 72
const TWO_TYPOS = 66
const TYPO_PREFIX = 58

/** Whether a word that agrees so well is the word that was meant, and not one that holds it. */
export function isOneWord(agreement: number): boolean {
  return (
    agreement === STEM ||
    agreement === OTHER_SCRIPT ||
    agreement === SOUND ||
    agreement === ONE_TYPO ||
    agreement === TWO_TYPOS
  )
}

const MIN_PREFIX = 2
const CERTAIN_PREFIX = 7
const MAX_NEAR = 4000

/**
 * The words of the catalogue that one word of a query may stand for: a range that begins with it, and single words that
 * are near it. Kept in arrays as long as the vocabulary, so that asking "does this word agree, and how well" is one read.
 */
export class QueryWord {
  text = ''
  /** The word itself, or -1. */
  exact = -1
  /** The words that begin with it. */
  from = 0
  to = 0
  near: number[] = []
  /** 0 for a single letter beside other words: it helps when it agrees and does no harm when not. */
  required = 1
  reach = 0
  /** How well the best word of the label last looked at agrees, and where in the label it stands. */
  found = 0
  place = 0
  private first = false
  /** The last two letters that any word may have to agree; 0 when it takes more. */
  private tail = 0
  private readonly marks: Uint8Array
  private readonly markSound = (id: number) => this.mark(id, SOUND)
  private readonly markTypo = (id: number, edits: number) => this.mark(id, edits === 1 ? ONE_TYPO : TWO_TYPOS)
  private readonly markInside = (id: number) => this.mark(id, INSIDE)
  private readonly markTypoPrefix = (id: number) => this.mark(id, TYPO_PREFIX)
  private readonly vocabulary: Vocabulary
  private readonly nearWords: NearWords

  constructor(vocabulary: Vocabulary, nearWords: NearWords) {
    this.vocabulary = vocabulary
    this.nearWords = nearWords
    this.marks = new Uint8Array(vocabulary.words.length)
  }

  /**
   * Looks the word up. Only the first word of a query may have lost all but two letters, and only the last may be a
   * single letter of a longer word. `lenient` also takes typos and likeness in sound for a word that the catalogue knows.
   */
  read(text: string, first: boolean, last: boolean, lenient: boolean): void {
    this.forget()
    const { vocabulary, nearWords } = this
    this.text = text
    this.first = first
    this.required = text.length === 1 && !(first && last) ? 0 : 1
    this.exact = vocabulary.find(text)
    this.from = vocabulary.lowerBound(text)
    const whole = text.length < MIN_PREFIX && !last
    this.to = whole ? this.from + (this.exact >= 0 ? 1 : 0) : vocabulary.prefixEnd(text, this.from)
    if (this.exact >= 0) {
      const stem = vocabulary.stems[this.exact]!
      for (let at = vocabulary.stemStarts[stem]!; at < vocabulary.stemStarts[stem + 1]!; at++)
        this.mark(vocabulary.stemWords[at]!, STEM)
      if (isDevanagari(text))
        nearWords.soundsLike(text, (id, other) => {
          if (!isDevanagari(other)) this.mark(id, OTHER_SCRIPT)
        })
    }
    // So many letters with which a word begins are no typo of another.
    const typed = last && !lenient && text.length >= CERTAIN_PREFIX && this.to > this.from
    if (typed) return
    if (this.exact < 0 || lenient) {
      nearWords.soundsLike(text, this.markSound)
      nearWords.typos(text, this.markTypo, lenient || this.from === this.to)
    }
    if (text.length > 2 && (first || lenient || this.exact < 0)) nearWords.inside(text, this.markInside)
    else if (text.length === 2 && first && !last) this.tail = tailOf(text)
    if (this.exact < 0 && (lenient || (this.from === this.to && this.near.length === 0)))
      nearWords.typoPrefixes(text, this.markTypoPrefix)
  }

  /** Lists the words that end with its two letters, where otherwise too many skills would have to be looked at for them. */
  listEndings(): void {
    if (this.tail === 0) return
    this.tail = 0
    this.nearWords.ending(this.text, this.markInside)
  }

  /** How well a word of the catalogue agrees: 0 when not at all. */
  agreement(word: number): number {
    if (word === this.exact) return EXACT
    if (word >= this.from && word < this.to) return Math.max(PREFIX, this.marks[word]!)
    return this.marks[word]!
  }

  /**
   * Finds the word that agrees best in a stretch of label words; false when a word that is required has none. Of words that agree
   * alike the first of a query has the first, the others the last: the "b" of "balance b" is that of "Balance beams".
   */
  lookIn(words: Int32Array, from: number, to: number): boolean {
    const { exact, from: low, to: high, marks, tail } = this
    let found = 0
    for (let at = from; at < to; at++) {
      const word = words[at]!
      let agreement = marks[word]!
      if (word === exact) agreement = EXACT
      else if (agreement < PREFIX && word >= low && word < high) agreement = PREFIX
      if (agreement > found || (agreement === found && agreement > 0 && !this.first)) {
        found = agreement
        this.place = at - from
      }
    }
    if (tail !== 0 && found < INSIDE) {
      const { tails } = this.nearWords
      for (let at = from; at < to; at++) {
        if (tails[words[at]!] !== tail) continue
        found = INSIDE
        this.place = at - from
        break
      }
    }
    this.found = found
    return found > 0 || this.required === 0
  }

  /** The words that agree, best first; those that only begin with it are left to the range. */
  byAgreement(): number[] {
    const ids = this.exact < 0 ? this.near : [this.exact, ...this.near]
    return [...ids].sort((a, b) => this.agreement(b) - this.agreement(a) || a - b)
  }

  /** How many skills the word leads to, counted once for each word that leads there. */
  reachIn(postings: Postings): number {
    if (this.tail !== 0) return Number.POSITIVE_INFINITY
    let reach = postings.starts[this.to]! - postings.starts[this.from]!
    for (const id of this.near) reach += postings.starts[id + 1]! - postings.starts[id]!
    return reach
  }

  forget(): void {
    for (const id of this.near) this.marks[id] = 0
    this.near.length = 0
    this.tail = 0
  }

  private mark(id: number, agreement: number): void {
    if (id === this.exact) return
    const before = this.marks[id]!
    if (before >= agreement) return
    const prefixed = id >= this.from && id < this.to
    if (prefixed && agreement <= PREFIX) return
    if (before === 0) {
      if (this.near.length >= MAX_NEAR) return
      this.near.push(id)
    }
    this.marks[id] = agreement
  }
}
