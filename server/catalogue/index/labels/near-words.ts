import {
  EditDistanceLowerBound,
  editDistance,
  prefixEditDistance,
  typoTolerance,
} from '../../../platform/text/edit-distance.ts'
import { deletionHash, lastTwoLetters, letterSignature, popCount, trigramHash } from '../text/letter-keys.ts'
import { phoneticKey } from '../text/phonetics.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { wordHash } from '../text/tokens.ts'
import { buildKeyedLists, type KeyedLists, keyCountFor, WORD_NUMBER_BITS, WORD_NUMBER_MASK } from './keyed-lists.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Matches abbreviations that are spoken letter by letter: khaana does not sound like CCNA. */
const ABBREVIATION_SPOKEN_BY_LETTER = /^(?:([bcdfghj-np-tv-z])\1.{0,3}|[b-df-hj-np-tv-z]+)$/

/**
 * Finds words of the catalogue that are similar to a given one: that contain it, that differ from it by typos, or that sound
 * like it.
 *
 * - Trigrams (with marks for the beginning and end of a word) lead to the words that contain them, and to their position there.
 *   A word inside another shares all its trigrams. A typo destroys at most one of the trigrams that do not touch each other, so
 *   a word two typos away still has one of any three such trigrams, at most two positions away. The three with the shortest
 *   lists are read.
 * - Short words have too few trigrams. They are listed by the word itself and by the word without each of its letters
 *   (deletions): words that differ by one typo share a deletion.
 * - Every candidate from these lists is then compared letter by letter, so a hash collision costs only time.
 */
export class NearWords {
  private readonly vocabulary: Vocabulary
  private readonly trigrams: KeyedLists
  private readonly deletions: KeyedLists
  private readonly homophones: KeyedLists
  /** The letter signature of each word. */
  private readonly signatures: Int32Array
  private readonly lengths: Uint8Array
  /** The last two letters of each word. */
  readonly suffixes: Uint16Array
  private readonly editBound = new EditDistanceLowerBound()
  private readonly lastSeenRound: Int32Array
  private round = 0

  constructor(
    vocabulary: Vocabulary,
    lists: { trigrams: KeyedLists; deletions: KeyedLists; homophones: KeyedLists },
    signatures: Int32Array,
    suffixes: Uint16Array,
  ) {
    this.vocabulary = vocabulary
    this.trigrams = lists.trigrams
    this.deletions = lists.deletions
    this.homophones = lists.homophones
    this.signatures = signatures
    this.suffixes = suffixes
    this.lengths = new Uint8Array(vocabulary.words.length)
    for (let id = 0; id < this.lengths.length; id++) this.lengths[id] = Math.min(255, vocabulary.words[id]!.length)
    this.lastSeenRound = new Int32Array(vocabulary.words.length)
  }

  /** Finds the words that contain the given one, other than at their beginning. */
  findContaining(word: string, onFound: (id: number) => void): void {
    const { words } = this.vocabulary
    if (word.length < TRIGRAM_LENGTH) return
    let rarestKey = 0
    let position = 0
    let fewestItems = Number.POSITIVE_INFINITY
    for (let i = 0; i + TRIGRAM_LENGTH <= word.length; i++) {
      const key = trigramHash(word, i) & this.trigrams.mask
      const size = this.trigrams.size(key)
      if (size < fewestItems) {
        fewestItems = size
        rarestKey = key
        position = i + 1
      }
    }
    const { starts, items } = this.trigrams
    const listEnd = starts[rarestKey + 1]!
    for (let at = starts[rarestKey]!; at < listEnd; at++) {
      const item = items[at]!
      const start = (item >>> WORD_NUMBER_BITS) - position
      if (start > 0 && words[item & WORD_NUMBER_MASK]!.startsWith(word, start)) onFound(item & WORD_NUMBER_MASK)
    }
  }

  /** Finds the words that end with the given two letters. */
  findEndingWith(word: string, onFound: (id: number) => void): void {
    const { words } = this.vocabulary
    const { starts, items, mask } = this.trigrams
    const list = trigramHash(word, 0) & mask
    for (let at = starts[list]!; at < starts[list + 1]!; at++) {
      const id = items[at]! & WORD_NUMBER_MASK
      if (words[id]!.endsWith(word)) onFound(id)
    }
  }

  /**
   * Finds the words within the typo tolerance, with the number of edits; not the word itself. The tolerance is that of the
   * longer of the two words, because the typo may be a missing letter. For a word of 6 or 7 letters, `withLonger` also finds
   * longer words two edits away if no closer one exists.
   */
  findTypos(word: string, onFound: (id: number, edits: number) => void, withLonger = true): void {
    const { length } = word
    this.round++
    this.editBound.setWord(word)
    let count = 0
    if (length === 3) this.checkDeletions(deletionHash(word, -1), word, onFound)
    if (length > 3 && length < MIN_TRIGRAM_WORD_LENGTH)
      for (let dropped = -1; dropped < length; dropped++)
        count += this.checkDeletions(deletionHash(word, dropped), word, onFound)
    if (length >= MIN_TRIGRAM_WORD_LENGTH || (withLonger && length > MIN_TRIGRAM_WORD_LENGTH - 3 && count === 0))
      for (const position of this.chooseTrigrams(word, MAX_EDITS, length - 1))
        this.checkTrigrams(position, word, onFound)
  }

  /** Finds longer words with a prefix that is one typo away from the given word. */
  findTypoPrefixes(word: string, onFound: (id: number) => void): void {
    const { words } = this.vocabulary
    const limit = Math.min(1, typoTolerance(word.length))
    if (limit === 0) return
    this.round++
    const { starts, items, mask } = this.trigrams
    for (const position of this.chooseTrigrams(word, 1, word.length - 2)) {
      const list = trigramHash(word, position - 1) & mask
      const end = starts[list + 1]!
      for (let at = starts[list]!; at < end; at++) {
        const id = items[at]! & WORD_NUMBER_MASK
        const shift = (items[at]! >>> WORD_NUMBER_BITS) - position
        if (shift > limit || -shift > limit || this.lastSeenRound[id] === this.round) continue
        this.lastSeenRound[id] = this.round
        if (words[id]!.length > word.length && prefixEditDistance(word, words[id]!, limit) <= limit) onFound(id)
      }
    }
  }

  /** Finds other words with the same phonetic key. */
  findHomophones(word: string, onFound: (id: number, word: string) => void): void {
    const key = phoneticKey(word)
    if (!key) return
    const { words } = this.vocabulary
    const { starts, items, mask } = this.homophones
    const list = wordHash(key) & mask
    for (let at = starts[list]!; at < starts[list + 1]!; at++) {
      const otherWord = words[items[at]!]!
      if (otherWord !== word && phoneticKey(otherWord) === key && !ABBREVIATION_SPOKEN_BY_LETTER.test(otherWord))
        onFound(items[at]!, otherWord)
    }
  }

  /** Checks the words that share a deletion and returns how many match. */
  private checkDeletions(hash: number, word: string, onFound: (id: number, edits: number) => void): number {
    const { starts, items, mask } = this.deletions
    const list = hash & mask
    const end = starts[list + 1]!
    const signature = letterSignature(word)
    const { length } = word
    let count = 0
    for (let at = starts[list]!; at < end; at++) {
      const id = items[at]!
      const otherLength = this.lengths[id]!
      const limit = typoTolerance(otherLength > length ? otherLength : length)
      if (otherLength - length > limit || length - otherLength > limit) continue
      if (this.check(id, word, signature, limit, onFound)) count++
    }
    return count
  }

  /** Checks the words that contain the trigram at about the same position. */
  private checkTrigrams(position: number, word: string, onFound: (id: number, edits: number) => void): void {
    const { lengths } = this
    const { starts, items, mask } = this.trigrams
    const list = trigramHash(word, position - 1) & mask
    const end = starts[list + 1]!
    const signature = letterSignature(word)
    const { length } = word
    for (let at = starts[list]!; at < end; at++) {
      const item = items[at]!
      const shift = (item >>> WORD_NUMBER_BITS) - position
      if (shift > MAX_EDITS || shift < -MAX_EDITS) continue
      const id = item & WORD_NUMBER_MASK
      const otherLength = lengths[id]!
      const shiftAfter = otherLength - length - shift
      const limit = typoTolerance(otherLength > length ? otherLength : length)
      if ((shift < 0 ? -shift : shift) + (shiftAfter < 0 ? -shiftAfter : shiftAfter) > limit) continue
      this.check(id, word, signature, limit, onFound)
    }
  }

  private check(
    id: number,
    word: string,
    signature: number,
    limit: number,
    onFound: (id: number, edits: number) => void,
  ): boolean {
    if (this.lastSeenRound[id] === this.round) return false
    this.lastSeenRound[id] = this.round
    if (popCount(this.signatures[id]! ^ signature) > 2 * limit) return false
    const otherWord = this.vocabulary.words[id]!
    if (this.editBound.to(otherWord) > limit) return false
    const edits = editDistance(word, otherWord, limit)
    if (edits > limit || edits === 0) return false
    onFound(id, edits)
    return true
  }

  /**
   * Chooses one trigram more than there may be typos, with a letter between any two, so that at least one of them is intact;
   * among all such choices the one with the shortest lists. Returns positions up to `end`; all of them if the word is too short.
   */
  private chooseTrigrams(word: string, maxTypos: number, end: number): number[] {
    const { trigrams } = this
    const trigramCount = end + 1
    const listSizes = new Array<number>(trigramCount)
    for (let i = 0; i < trigramCount; i++) listSizes[i] = trigrams.size(trigramHash(word, i - 1) & trigrams.mask)
    // Shorter words use adjacent trigrams, although swapping two letters across their boundary destroys both.
    const distance = maxTypos * MIN_TRIGRAM_DISTANCE < trigramCount ? MIN_TRIGRAM_DISTANCE : TRIGRAM_LENGTH
    if (maxTypos * distance >= trigramCount) return Array.from(listSizes.keys())
    // Dynamic programming: nextCosts[i] is the least cost of the trigrams chosen so far among the first i + 1, lastChosen[i] the position
    // of the last of them.
    let leastCosts = new Array<number>(trigramCount).fill(0)
    const lastPositions: number[][] = []
    for (let chosen = 0; chosen <= maxTypos; chosen++) {
      const nextCosts = new Array<number>(trigramCount).fill(Number.POSITIVE_INFINITY)
      const lastChosen = new Array<number>(trigramCount).fill(-1)
      for (let i = 0; i < trigramCount; i++) {
        const costBefore = chosen === 0 ? 0 : i >= distance ? leastCosts[i - distance]! : Number.POSITIVE_INFINITY
        const cost = costBefore + listSizes[i]!
        const skipCost = i > 0 ? nextCosts[i - 1]! : Number.POSITIVE_INFINITY
        nextCosts[i] = Math.min(cost, skipCost)
        lastChosen[i] = cost <= skipCost ? i : lastChosen[i - 1]!
      }
      leastCosts = nextCosts
      lastPositions.push(lastChosen)
    }
    const positions: number[] = []
    let at = trigramCount - 1
    for (let chosen = maxTypos; chosen >= 0; chosen--) {
      const position = lastPositions[chosen]![at]!
      positions.push(position)
      at = position - distance
    }
    return positions
  }
}

const TRIGRAM_LENGTH = 3
/** Trigrams at this distance have a letter between them, so that no typo, not even a swap, destroys both. */
const MIN_TRIGRAM_DISTANCE = 4
const MAX_EDITS = 2

/** Stored instead of a hash for a word without a phonetic key. */
const NO_PHONETIC_KEY = 0

/** Minimum length of a word to tolerate two edits; such words have enough trigrams. */
const MIN_TRIGRAM_WORD_LENGTH = 8

export function* buildNearWords(vocabulary: Vocabulary): SlicedTask<NearWords> {
  const { words } = vocabulary
  const signatures = new Int32Array(words.length)
  const suffixes = new Uint16Array(words.length)
  for (let id = 0; id < words.length; id++) {
    signatures[id] = letterSignature(words[id]!)
    suffixes[id] = lastTwoLetters(words[id]!)
    if (id % 8192 === 8191) yield
  }
  const trigrams = yield* buildKeyedLists(words, 65_536, (word, emit) => {
    for (let i = -1; i < word.length - 1; i++) emit(trigramHash(word, i), i < 254 ? i + 1 : 255)
  })
  const deletions = yield* buildKeyedLists(words, keyCountFor(words.length * 4), (word, emit) => {
    if (word.length < 3 || word.length > MIN_TRIGRAM_WORD_LENGTH) return
    for (let dropped = -1; dropped < word.length; dropped++) emit(deletionHash(word, dropped), 0)
  })
  const phoneticHashes = new Int32Array(words.length)
  for (let id = 0; id < words.length; id++) {
    const key = words[id]!.length < 3 ? '' : phoneticKey(words[id]!)
    phoneticHashes[id] = key ? wordHash(key) : NO_PHONETIC_KEY
    if (id % 2048 === 2047) yield
  }
  const homophones = yield* buildKeyedLists(words, keyCountFor(words.length), (_, emit, id) => {
    if (phoneticHashes[id] !== NO_PHONETIC_KEY) emit(phoneticHashes[id]!, 0)
  })
  return new NearWords(vocabulary, { trigrams, deletions, homophones }, signatures, suffixes)
}
