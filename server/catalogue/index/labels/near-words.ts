import {
  EditDistanceLowerBound,
  editDistance,
  prefixEditDistance,
  typoTolerance,
} from '../../../platform/text/edit-distance.ts'
import { deletionHash, lastTwoLetters, letterSignature, popCount, trigramHash } from '../text/letter-keys.ts'
import { consonantKey, isDevanagari, phoneticKey } from '../text/phonetics.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { wordHash } from '../text/tokens.ts'
import { buildKeyedLists, type KeyedLists, keyCountFor, WORD_NUMBER_BITS, WORD_NUMBER_MASK } from './keyed-lists.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * Matches abbreviations that are spoken letter by letter: words without vowels, and words that begin with a doubled consonant.
 * They have no homophones: "khaana" has the phonetic key of CCNA but does not sound like it.
 */
const ABBREVIATION_SPOKEN_BY_LETTER = /^(?:([bcdfghj-np-tv-z])\1.{0,3}|[b-df-hj-np-tv-z]+)$/

/**
 * Finds words of the vocabulary that are similar to a given word: words that contain it, words within a small edit distance
 * (typos), and homophones.
 *
 * - Long words are found by trigrams (n-grams of three letters, with a mark at the beginning and end of the word). Each
 *   trigram has a list of the words that contain it, with its position in each word. Of a query word, three trigrams are used
 *   that have at least one letter between them, so one typo changes at most one of them. After two typos, at least one is
 *   unchanged and at most two positions away. Of the possible choices, the one with the shortest lists is used.
 * - Short words have too few trigrams. They are listed by deletions: the word itself, and the word without each of its letters.
 *   Words that differ by one typo share a deletion: "weld" and "wold" share "wld".
 * - Each candidate is then compared letter by letter, so a hash collision never returns a wrong word.
 */
export class NearWords {
  private readonly vocabulary: Vocabulary
  private readonly trigrams: KeyedLists
  private readonly deletions: KeyedLists
  private readonly homophones: KeyedLists
  private readonly consonants: KeyedLists
  /** By word number: the bit set of its letters (see `letterSignature`), which excludes most candidates quickly. */
  private readonly signatures: Int32Array
  /** By word number: the number of letters, at most 255. */
  private readonly lengths: Uint8Array
  /** By word number: the last two letters, packed by `lastTwoLetters`. */
  readonly suffixes: Uint16Array
  private readonly editLowerBound = new EditDistanceLowerBound()
  /** By word number: the last search that checked the word, so that no word is checked twice in one search. */
  private readonly lastSearchOfWord: Int32Array
  private currentSearch = 0

  constructor(
    vocabulary: Vocabulary,
    lists: { trigrams: KeyedLists; deletions: KeyedLists; homophones: KeyedLists; consonants: KeyedLists },
    signatures: Int32Array,
    suffixes: Uint16Array,
  ) {
    this.vocabulary = vocabulary
    this.trigrams = lists.trigrams
    this.deletions = lists.deletions
    this.homophones = lists.homophones
    this.consonants = lists.consonants
    this.signatures = signatures
    this.suffixes = suffixes
    this.lengths = new Uint8Array(vocabulary.words.length)
    for (let id = 0; id < this.lengths.length; id++) this.lengths[id] = Math.min(255, vocabulary.words[id]!.length)
    this.lastSearchOfWord = new Int32Array(vocabulary.words.length)
  }

  /** Returns the arguments of the constructor. */
  storedParts(): ConstructorParameters<typeof NearWords> {
    const { vocabulary, trigrams, deletions, homophones, consonants, signatures, suffixes } = this
    return [vocabulary, { trigrams, deletions, homophones, consonants }, signatures, suffixes]
  }

  /** Finds the words that contain the given one after their first letter. Reads the list of its rarest trigram. */
  findContaining(word: string, onFound: (id: number) => void): void {
    const { words } = this.vocabulary
    if (word.length < TRIGRAM_LENGTH) return
    let rarestKey = 0
    let middlePosition = 0
    let fewestItems = Number.POSITIVE_INFINITY
    for (let i = 0; i + TRIGRAM_LENGTH <= word.length; i++) {
      const key = trigramHash(word, i) & this.trigrams.keyMask
      const size = this.trigrams.listLength(key)
      if (size < fewestItems) {
        fewestItems = size
        rarestKey = key
        middlePosition = i + 1
      }
    }
    const { starts, items } = this.trigrams
    const listEnd = starts[rarestKey + 1]!
    for (let at = starts[rarestKey]!; at < listEnd; at++) {
      const item = items[at]!
      const start = (item >>> WORD_NUMBER_BITS) - middlePosition
      if (start > 0 && words[item & WORD_NUMBER_MASK]!.startsWith(word, start)) onFound(item & WORD_NUMBER_MASK)
    }
  }

  /** Finds the words that end with a suffix of two letters: a trigram with the mark for the end of the word. */
  findEndingWith(suffix: string, onFound: (id: number) => void): void {
    const { words } = this.vocabulary
    const { starts, items, keyMask } = this.trigrams
    const listKey = trigramHash(suffix, 0) & keyMask
    for (let at = starts[listKey]!; at < starts[listKey + 1]!; at++) {
      const id = items[at]! & WORD_NUMBER_MASK
      if (words[id]!.endsWith(suffix)) onFound(id)
    }
  }

  /**
   * Finds the other words within the typo tolerance, with their edit distance. The tolerance is that of the longer of the two
   * words, because the typo may be a missing letter. If a word of 6 or 7 letters has no word at distance 1, `searchLongerWords`
   * also finds words of at least 8 letters at distance 2: "carpenter" for "carpntr".
   */
  findTypos(word: string, onFound: (id: number, edits: number) => void, searchLongerWords = true): void {
    const { length } = word
    this.currentSearch++
    this.editLowerBound.setWord(word)
    let foundCount = 0
    if (length === 3) this.checkWordsWithDeletion(deletionHash(word, -1), word, onFound)
    if (length > 3 && length < MIN_TRIGRAM_WORD_LENGTH)
      for (let droppedPosition = -1; droppedPosition < length; droppedPosition++)
        foundCount += this.checkWordsWithDeletion(deletionHash(word, droppedPosition), word, onFound)
    if (
      length >= MIN_TRIGRAM_WORD_LENGTH ||
      (searchLongerWords && length > MIN_TRIGRAM_WORD_LENGTH - 3 && foundCount === 0)
    )
      for (const position of this.chooseTrigrams(word, MAX_EDITS, length - 1))
        this.checkWordsWithTrigram(position, word, onFound)
  }

  /** Finds longer words with a prefix at edit distance 1 from the given word, or 0: "carpenter" for "carpnt". */
  findTypoPrefixes(word: string, onFound: (id: number) => void): void {
    const { words } = this.vocabulary
    const maxEdits = Math.min(1, typoTolerance(word.length))
    if (maxEdits === 0) return
    this.currentSearch++
    const { starts, items, keyMask } = this.trigrams
    for (const position of this.chooseTrigrams(word, 1, word.length - 2)) {
      const listKey = trigramHash(word, position - 1) & keyMask
      const end = starts[listKey + 1]!
      for (let at = starts[listKey]!; at < end; at++) {
        const id = items[at]! & WORD_NUMBER_MASK
        const shift = (items[at]! >>> WORD_NUMBER_BITS) - position
        if (shift > maxEdits || -shift > maxEdits || this.lastSearchOfWord[id] === this.currentSearch) continue
        this.lastSearchOfWord[id] = this.currentSearch
        if (words[id]!.length > word.length && prefixEditDistance(word, words[id]!, maxEdits) <= maxEdits) onFound(id)
      }
    }
  }

  /** Finds other words with the same phonetic key. */
  findHomophones(word: string, onFound: (id: number, word: string) => void): void {
    const key = phoneticKey(word)
    if (!key) return
    const { words } = this.vocabulary
    const { starts, items, keyMask } = this.homophones
    const listKey = wordHash(key) & keyMask
    for (let at = starts[listKey]!; at < starts[listKey + 1]!; at++) {
      const otherWord = words[items[at]!]!
      if (otherWord !== word && phoneticKey(otherWord) === key && !ABBREVIATION_SPOKEN_BY_LETTER.test(otherWord))
        onFound(items[at]!, otherWord)
    }
  }

  /** Finds the words in Latin letters that a word in Devanagari transliterates: "plumbing" for प्लंबिंग. */
  findTransliterated(word: string, onFound: (id: number, word: string) => void): void {
    const key = isDevanagari(word) ? consonantKey(word) : ''
    if (!key) return
    const { words } = this.vocabulary
    const { starts, items, keyMask } = this.consonants
    const listKey = wordHash(key) & keyMask
    for (let at = starts[listKey]!; at < starts[listKey + 1]!; at++) {
      const otherWord = words[items[at]!]!
      if (consonantKey(otherWord) === key) onFound(items[at]!, otherWord)
    }
  }

  /** Calls `onFound` for the words with this deletion that are within the typo tolerance. Returns their number. */
  private checkWordsWithDeletion(hash: number, word: string, onFound: (id: number, edits: number) => void): number {
    const { starts, items, keyMask } = this.deletions
    const listKey = hash & keyMask
    const end = starts[listKey + 1]!
    const signature = letterSignature(word)
    const { length } = word
    let count = 0
    for (let at = starts[listKey]!; at < end; at++) {
      const id = items[at]!
      const otherLength = this.lengths[id]!
      const maxEdits = typoTolerance(otherLength > length ? otherLength : length)
      if (otherLength - length > maxEdits || length - otherLength > maxEdits) continue
      if (this.checkWord(id, word, signature, maxEdits, onFound)) count++
    }
    return count
  }

  /**
   * Calls `onFound` for the words within the typo tolerance that contain the trigram of `word` around `position`, at most two
   * positions away.
   */
  private checkWordsWithTrigram(position: number, word: string, onFound: (id: number, edits: number) => void): void {
    const { lengths } = this
    const { starts, items, keyMask } = this.trigrams
    const listKey = trigramHash(word, position - 1) & keyMask
    const end = starts[listKey + 1]!
    const signature = letterSignature(word)
    const { length } = word
    for (let at = starts[listKey]!; at < end; at++) {
      const item = items[at]!
      const shift = (item >>> WORD_NUMBER_BITS) - position
      if (shift > MAX_EDITS || shift < -MAX_EDITS) continue
      const id = item & WORD_NUMBER_MASK
      const otherLength = lengths[id]!
      // If the words differ in length before or after the trigram, each extra letter costs one edit.
      const shiftAfter = otherLength - length - shift
      const maxEdits = typoTolerance(otherLength > length ? otherLength : length)
      if ((shift < 0 ? -shift : shift) + (shiftAfter < 0 ? -shiftAfter : shiftAfter) > maxEdits) continue
      this.checkWord(id, word, signature, maxEdits, onFound)
    }
  }

  /**
   * Calls `onFound` and returns true if the edit distance is from 1 to `maxEdits` and the word was not checked in this search.
   * Runs the fastest tests first.
   */
  private checkWord(
    id: number,
    word: string,
    signature: number,
    maxEdits: number,
    onFound: (id: number, edits: number) => void,
  ): boolean {
    if (this.lastSearchOfWord[id] === this.currentSearch) return false
    this.lastSearchOfWord[id] = this.currentSearch
    if (popCount(this.signatures[id]! ^ signature) > 2 * maxEdits) return false
    const otherWord = this.vocabulary.words[id]!
    if (this.editLowerBound.to(otherWord) > maxEdits) return false
    const edits = editDistance(word, otherWord, maxEdits)
    if (edits > maxEdits || edits === 0) return false
    onFound(id, edits)
    return true
  }

  /**
   * Chooses `maxTypos` + 1 trigrams with a letter between any two, so that at least one has no typo. Of all such sets it
   * chooses the one with the fewest items in its lists. Returns the positions of the middle letters, from 0 to `lastPosition`.
   * Returns all positions if the word is too short for such a set.
   */
  private chooseTrigrams(word: string, maxTypos: number, lastPosition: number): number[] {
    const { trigrams } = this
    const trigramCount = lastPosition + 1
    const listSizes = new Array<number>(trigramCount)
    for (let i = 0; i < trigramCount; i++)
      listSizes[i] = trigrams.listLength(trigramHash(word, i - 1) & trigrams.keyMask)
    // Shorter words use adjacent trigrams. They miss a typo that swaps two letters across the boundary, which changes both
    // trigrams.
    const distance = maxTypos * MIN_TRIGRAM_DISTANCE < trigramCount ? MIN_TRIGRAM_DISTANCE : TRIGRAM_LENGTH
    if (maxTypos * distance >= trigramCount) return Array.from(listSizes.keys())
    // Dynamic programming. Round `chosen` finds the cheapest set of chosen + 1 trigrams among the first i + 1 positions. The
    // cost of the set is nextCosts[i], and the position of its last trigram is lastChosen[i].
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
/** Trigrams at this distance have a letter between them, so that no typo, not even a swap of two letters, changes both. */
const MIN_TRIGRAM_DISTANCE = 4
/** The highest edit distance that is searched; the maximum of `typoTolerance`. */
const MAX_EDITS = 2

/** Minimum number of letters of an English word that is found by its transliteration. */
const MIN_TRANSLITERATED_LENGTH = 5

/** Stored in place of the hash of a phonetic key if the word has none. */
const NO_PHONETIC_KEY = 0

/**
 * Words with at least this many letters are found by trigrams, at distance 1 and 2. Shorter words are found by deletions first.
 */
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
    for (let droppedPosition = -1; droppedPosition < word.length; droppedPosition++)
      emit(deletionHash(word, droppedPosition), 0)
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
  const consonantHashes = new Int32Array(words.length)
  for (let id = 0; id < words.length; id++) {
    const key =
      words[id]!.length < MIN_TRANSLITERATED_LENGTH || isDevanagari(words[id]!) ? '' : consonantKey(words[id]!)
    consonantHashes[id] = key ? wordHash(key) : NO_PHONETIC_KEY
    if (id % 2048 === 2047) yield
  }
  const consonants = yield* buildKeyedLists(words, keyCountFor(words.length), (_, emit, id) => {
    if (consonantHashes[id] !== NO_PHONETIC_KEY) emit(consonantHashes[id]!, 0)
  })
  return new NearWords(vocabulary, { trigrams, deletions, homophones, consonants }, signatures, suffixes)
}
