import { editDistance, editsAllowed, FewestEdits } from '../text/edits.ts'
import { bits, lettersOf, remainder, tailOf, tripleAt } from '../text/letter-keys.ts'
import { soundKey } from '../text/sounds.ts'
import type { Stepwise } from '../text/time-slicing.ts'
import { hashOf } from '../text/tokens.ts'
import type { Vocabulary } from './vocabulary.ts'
import { ID_BITS, ID_MASK, type Lists, listWords, sizeFor } from './word-lists.ts'

/** Letters that are spoken one by one: khaana is no CCNA. */
const SPELT_OUT = /^(?:([bcdfghj-np-tv-z])\1.{0,3}|[b-df-hj-np-tv-z]+)$/

/**
 * Words of the catalogue that are near a given one: that hold it inside, that a typo makes of it, that sound like it.
 *
 * - Three letters in a row (with marks for beginning and end) lead to the words that hold them, and to their place there. A
 *   word inside another shares all its triples. A typo spoils one of the triples that stand apart from each other, so that of
 *   three such triples a word two typos away has kept one, at most so many letters away: the three with the shortest lists are read.
 * - Short words keep too few triples. For them the word itself and the word without each one of its letters are listed:
 *   words one typo apart have one such remainder in common.
 * - What these lists offer is then checked letter by letter, so a chance hit in a list costs time and nothing else.
 */
export class NearWords {
  private readonly vocabulary: Vocabulary
  private readonly triples: Lists
  private readonly remainders: Lists
  private readonly sounds: Lists
  /** Which letters each word has. */
  private readonly letters: Int32Array
  private readonly lengths: Uint8Array
  /** The last two letters of each word. */
  readonly tails: Uint16Array
  private readonly fewestEdits = new FewestEdits()
  private readonly seen: Int32Array
  private round = 0

  constructor(
    vocabulary: Vocabulary,
    lists: { triples: Lists; remainders: Lists; sounds: Lists },
    letters: Int32Array,
    tails: Uint16Array,
  ) {
    this.vocabulary = vocabulary
    this.triples = lists.triples
    this.remainders = lists.remainders
    this.sounds = lists.sounds
    this.letters = letters
    this.tails = tails
    this.lengths = new Uint8Array(vocabulary.words.length)
    for (let id = 0; id < this.lengths.length; id++) this.lengths[id] = Math.min(255, vocabulary.words[id]!.length)
    this.seen = new Int32Array(vocabulary.words.length)
  }

  /** Words that hold the given one, other than at their beginning. */
  inside(word: string, found: (id: number) => void): void {
    const { words } = this.vocabulary
    if (word.length < TRIPLE) return
    let rarest = 0
    let place = 0
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i + TRIPLE <= word.length; i++) {
      const list = tripleAt(word, i) & this.triples.mask
      const size = this.triples.size(list)
      if (size < least) {
        least = size
        rarest = list
        place = i + 1
      }
    }
    const { starts, items } = this.triples
    const end = starts[rarest + 1]!
    for (let at = starts[rarest]!; at < end; at++) {
      const item = items[at]!
      const begins = (item >>> ID_BITS) - place
      if (begins > 0 && words[item & ID_MASK]!.startsWith(word, begins)) found(item & ID_MASK)
    }
  }

  /** Words that end with the given two letters. */
  ending(word: string, found: (id: number) => void): void {
    const { words } = this.vocabulary
    const { starts, items, mask } = this.triples
    const list = tripleAt(word, 0) & mask
    for (let at = starts[list]!; at < starts[list + 1]!; at++) {
      const id = items[at]! & ID_MASK
      if (words[id]!.endsWith(word)) found(id)
    }
  }

  /**
   * Words within the allowed edits, with the number of edits; the word itself is not among them. What counts is the longer
   * of the two words, because a typo may be a letter lost. Of a short word, `far` also asks for the longer ones two edits away.
   */
  typos(word: string, found: (id: number, edits: number) => void, far = true): void {
    const { length } = word
    this.round++
    this.fewestEdits.from(word)
    let count = 0
    if (length === 3) this.offerRemainders(remainder(word, -1), word, found)
    if (length > 3 && length < SHORT)
      for (let drop = -1; drop < length; drop++) count += this.offerRemainders(remainder(word, drop), word, found)
    if (length >= SHORT || (far && length > SHORT - 3 && count === 0))
      for (const place of this.triplesToRead(word, 2, length - 1)) this.offerTriples(place, word, found)
  }

  /** Words that begin with something a typo away from the given beginning. */
  typoPrefixes(word: string, found: (id: number) => void): void {
    const { words } = this.vocabulary
    const limit = Math.min(1, editsAllowed(word.length))
    if (limit === 0) return
    this.round++
    const { starts, items, mask } = this.triples
    for (const place of this.triplesToRead(word, 1, word.length - 2)) {
      const list = tripleAt(word, place - 1) & mask
      const end = starts[list + 1]!
      for (let at = starts[list]!; at < end; at++) {
        const id = items[at]! & ID_MASK
        const shift = (items[at]! >>> ID_BITS) - place
        if (shift > limit || -shift > limit || this.seen[id] === this.round) continue
        this.seen[id] = this.round
        if (words[id]!.length > word.length && editDistance(word, words[id]!, limit, true) <= limit) found(id)
      }
    }
  }

  /** Words that sound the same. */
  soundsLike(word: string, found: (id: number, word: string) => void): void {
    const key = soundKey(word)
    if (!key) return
    const { words } = this.vocabulary
    const { starts, items, mask } = this.sounds
    const list = hashOf(key) & mask
    for (let at = starts[list]!; at < starts[list + 1]!; at++) {
      const other = words[items[at]!]!
      if (other !== word && soundKey(other) === key && !SPELT_OUT.test(other)) found(items[at]!, other)
    }
  }

  /** Checks the words that leave the same remainder. */
  private offerRemainders(hash: number, word: string, found: (id: number, edits: number) => void): number {
    const { starts, items, mask } = this.remainders
    const list = hash & mask
    const end = starts[list + 1]!
    const letters = lettersOf(word)
    const { length } = word
    let count = 0
    for (let at = starts[list]!; at < end; at++) {
      const id = items[at]!
      const other = this.lengths[id]!
      const limit = editsAllowed(other > length ? other : length)
      if (other - length > limit || length - other > limit) continue
      if (this.check(id, word, letters, limit, found)) count++
    }
    return count
  }

  /** Checks the words that hold the word's triple at that place, give or take the letters that a typo adds or loses. */
  private offerTriples(place: number, word: string, found: (id: number, edits: number) => void): void {
    const { lengths } = this
    const { starts, items, mask } = this.triples
    const list = tripleAt(word, place - 1) & mask
    const end = starts[list + 1]!
    const letters = lettersOf(word)
    const { length } = word
    for (let at = starts[list]!; at < end; at++) {
      const item = items[at]!
      const shift = (item >>> ID_BITS) - place
      if (shift > MOST_EDITS || shift < -MOST_EDITS) continue
      const id = item & ID_MASK
      const other = lengths[id]!
      const rest = other - length - shift
      const limit = editsAllowed(other > length ? other : length)
      if ((shift < 0 ? -shift : shift) + (rest < 0 ? -rest : rest) > limit) continue
      this.check(id, word, letters, limit, found)
    }
  }

  private check(
    id: number,
    word: string,
    letters: number,
    limit: number,
    found: (id: number, edits: number) => void,
  ): boolean {
    if (this.seen[id] === this.round) return false
    this.seen[id] = this.round
    if (bits(this.letters[id]! ^ letters) > 2 * limit) return false
    const other = this.vocabulary.words[id]!
    if (this.fewestEdits.to(other) > limit) return false
    const edits = editDistance(word, other, limit)
    if (edits > limit || edits === 0) return false
    found(id, edits)
    return true
  }

  /**
   * Places of triples, in whose lists every word that differs by so many typos stands at least once: one more than typos of triples
   * before `end` that have a letter between them, those with the fewest words in all. Of a word too short for that, all its triples.
   */
  private triplesToRead(word: string, typos: number, end: number): number[] {
    const { triples } = this
    const count = end + 1
    const sizes = new Array<number>(count)
    for (let i = 0; i < count; i++) sizes[i] = triples.size(tripleAt(word, i - 1) & triples.mask)
    // Side by side they serve shorter words, though two letters swapped where they meet spoil both.
    const apart = typos * APART_BY < count ? APART_BY : TRIPLE
    if (typos * apart >= count) return Array.from(sizes.keys())
    // next[i] is the least cost of the triples chosen so far among the first i + 1, last[i] the place of the last of them.
    let best = new Array<number>(count).fill(0)
    const places: number[][] = []
    for (let chosen = 0; chosen <= typos; chosen++) {
      const next = new Array<number>(count).fill(Number.POSITIVE_INFINITY)
      const last = new Array<number>(count).fill(-1)
      for (let i = 0; i < count; i++) {
        const before = chosen === 0 ? 0 : i >= apart ? best[i - apart]! : Number.POSITIVE_INFINITY
        const cost = before + sizes[i]!
        const keep = i > 0 ? next[i - 1]! : Number.POSITIVE_INFINITY
        next[i] = Math.min(cost, keep)
        last[i] = cost <= keep ? i : last[i - 1]!
      }
      best = next
      places.push(last)
    }
    const read: number[] = []
    let at = count - 1
    for (let chosen = typos; chosen >= 0; chosen--) {
      const place = places[chosen]![at]!
      read.push(place)
      at = place - apart
    }
    return read
  }
}

/** Triples this far apart have a letter between them, so that no typo, not even two letters swapped, spoils both. */
const APART_BY = 4
const TRIPLE = 3
const MOST_EDITS = 2

/** In the place of a sound key's hash. */
const NO_SOUND = 0

/** From this length on two edits are allowed, and words keep enough triples. */
const SHORT = 8

export function* buildNearWords(vocabulary: Vocabulary): Stepwise<NearWords> {
  const { words } = vocabulary
  const letters = new Int32Array(words.length)
  const tails = new Uint16Array(words.length)
  for (let id = 0; id < words.length; id++) {
    letters[id] = lettersOf(words[id]!)
    tails[id] = tailOf(words[id]!)
    if (id % 8192 === 8191) yield
  }
  const triples = yield* listWords(words, 65_536, (word, put) => {
    for (let i = -1; i < word.length - 1; i++) put(tripleAt(word, i), i < 254 ? i + 1 : 255)
  })
  const remainders = yield* listWords(words, sizeFor(words.length * 4), (word, put) => {
    if (word.length < 3 || word.length > SHORT) return
    for (let drop = -1; drop < word.length; drop++) put(remainder(word, drop), 0)
  })
  const keys = new Int32Array(words.length)
  for (let id = 0; id < words.length; id++) {
    const key = words[id]!.length < 3 ? '' : soundKey(words[id]!)
    keys[id] = key ? hashOf(key) : NO_SOUND
    if (id % 2048 === 2047) yield
  }
  const sounds = yield* listWords(words, sizeFor(words.length), (_, put, id) => {
    if (keys[id] !== NO_SOUND) put(keys[id]!, 0)
  })
  return new NearWords(vocabulary, { triples, remainders, sounds }, letters, tails)
}
