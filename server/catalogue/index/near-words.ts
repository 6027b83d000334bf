import { editDistance, editsAllowed } from './edits.ts'
import type { Stepwise } from './slices.ts'
import { soundKey } from './sounds.ts'
import { hashOf } from './tokens.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * Words of the catalogue that are near a given one: that hold it inside, that a typo makes of it, that sound like it.
 *
 * - Three letters in a row (with marks for beginning and end) lead to the words that hold them. A word inside another
 *   shares all its triples. A typo spoils one of the triples that stand apart from each other, so that of three such triples
 *   a word two typos away has kept one: the three with the shortest lists are read.
 * - Short words keep too few triples. For them the word itself and the word without each one of its letters are listed:
 *   words one typo apart have one such remainder in common.
 * - What these lists offer is then checked letter by letter, so a chance hit in a list costs time and nothing else.
 */
export class NearWords {
  private readonly vocabulary: Vocabulary
  private readonly triples: Lists
  private readonly remainders: Lists
  private readonly sounds: Lists
  /** One bit a letter: two words k typos apart differ in at most 2k bits. */
  private readonly letters: Int32Array
  private readonly lengths: Uint8Array
  private readonly seen: Int32Array
  private round = 0

  constructor(
    vocabulary: Vocabulary,
    lists: { triples: Lists; remainders: Lists; sounds: Lists },
    letters: Int32Array,
  ) {
    this.vocabulary = vocabulary
    this.triples = lists.triples
    this.remainders = lists.remainders
    this.sounds = lists.sounds
    this.letters = letters
    this.lengths = new Uint8Array(vocabulary.words.length)
    for (let id = 0; id < this.lengths.length; id++) this.lengths[id] = Math.min(255, vocabulary.words[id]!.length)
    this.seen = new Int32Array(vocabulary.words.length)
  }

  /** Words that hold the given one, other than at their beginning. */
  inside(word: string, found: (id: number) => void): void {
    const { words } = this.vocabulary
    if (word.length < 3) return
    let rarest = 0
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i + 3 <= word.length; i++) {
      const list = tripleAt(word, i) & this.triples.mask
      const size = this.triples.size(list)
      if (size < least) {
        least = size
        rarest = list
      }
    }
    const { starts, items } = this.triples
    for (let at = starts[rarest]!; at < starts[rarest + 1]!; at++) {
      const id = items[at]!
      if (words[id]!.indexOf(word, 1) > 0) found(id)
    }
  }

  /** Words that end with the given two letters. */
  ending(word: string, found: (id: number) => void): void {
    const { words } = this.vocabulary
    const { starts, items, mask } = this.triples
    const list = tripleAt(word, 0) & mask
    for (let at = starts[list]!; at < starts[list + 1]!; at++) if (words[items[at]!]!.endsWith(word)) found(items[at]!)
  }

  /**
   * Words within the allowed edits, with the number of edits; the word itself is not among them. What counts is the longer
   * of the two words, because a typo may be a letter lost.
   */
  typos(word: string, found: (id: number, edits: number) => void): void {
    const { length } = word
    this.round++
    let count = 0
    if (length === 3) this.offer(this.remainders, remainder(word, -1), word, found)
    if (length > 3 && length < SHORT)
      for (let drop = -1; drop < length; drop++)
        count += this.offer(this.remainders, remainder(word, drop), word, found)
    if (length > SHORT - 3 && count === 0)
      for (const triple of this.triplesToRead(word, 2, word.length - 1)) this.offer(this.triples, triple, word, found)
  }

  /** Words that begin with something a typo away from the given beginning. */
  typoPrefixes(word: string, found: (id: number) => void): void {
    const { words } = this.vocabulary
    const limit = Math.min(1, editsAllowed(word.length))
    if (limit === 0) return
    this.round++
    const { starts, items } = this.triples
    for (const list of this.triplesToRead(word, 1, word.length - 2)) {
      for (let at = starts[list]!; at < starts[list + 1]!; at++) {
        const id = items[at]!
        if (this.seen[id] === this.round) continue
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
      if (other !== word && soundKey(other) === key) found(items[at]!, other)
    }
  }

  private offer(lists: Lists, hash: number, word: string, found: (id: number, edits: number) => void): number {
    const { seen, round, letters, lengths } = this
    const list = hash & lists.mask
    const end = lists.starts[list + 1]!
    const mask = lettersOf(word)
    const { length } = word
    let count = 0
    for (let at = lists.starts[list]!; at < end; at++) {
      const id = lists.items[at]!
      if (seen[id] === round) continue
      seen[id] = round
      const other = lengths[id]!
      const limit = editsAllowed(Math.max(other, length))
      if (other - length > limit || length - other > limit || bits(letters[id]! ^ mask) > 2 * limit) continue
      const edits = editDistance(word, this.vocabulary.words[id]!, limit)
      if (edits > limit || edits === 0) continue
      found(id, edits)
      count++
    }
    return count
  }

  /**
   * Lists in which every word that differs by so many typos stands at least once: one more than typos of triples before `end`
   * that have a letter between them, those with the fewest words in all. Of a word too short for that, all its triples.
   */
  private triplesToRead(word: string, typos: number, end: number): number[] {
    const { triples } = this
    const count = end + 1
    const lists = new Array<number>(count)
    for (let i = 0; i < count; i++) lists[i] = tripleAt(word, i - 1) & triples.mask
    // Side by side they serve shorter words, though two letters swapped where they meet spoil both.
    const apart = typos * APART_BY < count ? APART_BY : TRIPLE
    if (typos * apart >= count) return lists
    // next[i] is the least cost of the triples chosen so far among the first i + 1, last[i] the place of the last of them.
    let best = new Array<number>(count).fill(0)
    const places: number[][] = []
    for (let chosen = 0; chosen <= typos; chosen++) {
      const next = new Array<number>(count).fill(Number.POSITIVE_INFINITY)
      const last = new Array<number>(count).fill(-1)
      for (let i = 0; i < count; i++) {
        const before = chosen === 0 ? 0 : i >= apart ? best[i - apart]! : Number.POSITIVE_INFINITY
        const cost = before + triples.size(lists[i]!)
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
      read.push(lists[place]!)
      at = place - apart
    }
    return read
  }
}

/** Triples this far apart have a letter between them, so that no typo, not even two letters swapped, spoils both. */
const APART_BY = 4
const TRIPLE = 3

class Lists {
  readonly starts: Int32Array
  readonly items: Int32Array
  readonly mask: number

  constructor(starts: Int32Array, items: Int32Array) {
    this.starts = starts
    this.items = items
    this.mask = starts.length - 2
  }

  size(list: number): number {
    return this.starts[list + 1]! - this.starts[list]!
  }
}

/** In the place of a sound key's hash. */
const NO_SOUND = 0

/** From this length on two edits are allowed, and words keep enough triples. */
const SHORT = 8

export function* buildNearWords(vocabulary: Vocabulary): Stepwise<NearWords> {
  const { words } = vocabulary
  const letters = new Int32Array(words.length)
  for (let id = 0; id < words.length; id++) {
    letters[id] = lettersOf(words[id]!)
    if (id % 8192 === 8191) yield
  }
  const triples = yield* listWords(words, 65_536, (word, put) => {
    for (let i = -1; i < word.length - 1; i++) put(tripleAt(word, i))
  })
  const remainders = yield* listWords(words, sizeFor(words.length * 4), (word, put) => {
    if (word.length < 3 || word.length > SHORT) return
    for (let drop = -1; drop < word.length; drop++) put(remainder(word, drop))
  })
  const keys = new Int32Array(words.length)
  for (let id = 0; id < words.length; id++) {
    const key = words[id]!.length < 3 ? '' : soundKey(words[id]!)
    keys[id] = key ? hashOf(key) : NO_SOUND
    if (id % 2048 === 2047) yield
  }
  const sounds = yield* listWords(words, sizeFor(words.length), (_, put, id) => {
    if (keys[id] !== NO_SOUND) put(keys[id]!)
  })
  return new NearWords(vocabulary, { triples, remainders, sounds }, letters)
}

function sizeFor(items: number): number {
  return 2 ** Math.max(8, Math.ceil(Math.log2(items + 1)))
}

function* listWords(
  words: readonly string[],
  size: number,
  keys: (word: string, put: (key: number) => void, id: number) => void,
): Stepwise<Lists> {
  const starts = new Int32Array(size + 1)
  const count = (key: number) => {
    starts[(key & (size - 1)) + 1]!++
  }
  let current = 0
  const run = (to: number, put: (key: number) => void) => {
    for (; current < to; current++) keys(words[current]!, put, current)
  }
  while (current < words.length) {
    run(Math.min(words.length, current + 2048), count)
    yield
  }
  for (let list = 0; list < size; list++) starts[list + 1]! += starts[list]!
  const next = starts.slice()
  const items = new Int32Array(starts[size]!)
  const place = (key: number) => {
    items[next[key & (size - 1)]!++] = current
  }
  current = 0
  while (current < words.length) {
    run(Math.min(words.length, current + 2048), place)
    yield
  }
  return new Lists(starts, items)
}

/** The three letters around position i + 1, hashed; positions before and behind the word count as a mark. */
function tripleAt(word: string, i: number): number {
  const first = i < 0 ? 1 : word.charCodeAt(i)
  const second = word.charCodeAt(i + 1)
  const third = i + 2 >= word.length ? 1 : word.charCodeAt(i + 2)
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35)
  return hash ^ (hash >>> 15)
}

/** The hash of a word without the letter at `drop`; of the whole word at -1. */
function remainder(word: string, drop: number): number {
  let hash = 0
  for (let i = 0; i < word.length; i++) if (i !== drop) hash = Math.imul(hash ^ word.charCodeAt(i), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

function lettersOf(word: string): number {
  let letters = 0
  for (let i = 0; i < word.length; i++) letters |= 1 << (word.charCodeAt(i) & 31)
  return letters
}

function bits(value: number): number {
  let v = value - ((value >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
