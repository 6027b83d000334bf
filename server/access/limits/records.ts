/**
 * Records of a fixed number of 32-bit words, found by fingerprint: open addressing in typed arrays, so that a million of them
 * are some hundred arrays to the garbage collector. Split into shards, each of which grows, shrinks and is swept by itself: no
 * call ever waits for more than a small part of the table to move.
 *
 * The first four words of a record are its fingerprint (A, B), the minute from which it may be forgotten (IDLE) and how much of its limit
 * it has used (USED). Times are 64-bit floats; they sit at even words.
 */
export const A = 0
export const B = 1
export const IDLE = 2
export const USED = 3
/** The first word that belongs to the kind of record. */
export const OWN = 4

const SHARDS = 256
/** A sweep looks at so many of them. */
const SWEPT_AT_ONCE = 4
const EMPTY = 0
/** Given up before its time: still a stepping stone for searches, but free to be reused. */
const EVICTED = 1
const NEVER = 0x7fff_ffff
const FULLEST = 0.8
const SMALLEST = 4
/** How many records compete when one of them must go. */
const CANDIDATES = 8

export class Records {
  readonly shards: Shard[] = []
  /** Records held, those included that are idle but not yet swept. */
  size = 0
  readonly most: number
  /** The time of the last sweep: what was idle by then may be forgotten. */
  minute = EVICTED
  #nextSwept = 0

  /** `words` is the length of a record, even; `most` how many are held before new ones push old ones out. */
  constructor(words: number, most: number) {
    this.most = most
    for (let i = 0; i < SHARDS; i++) this.shards.push(new Shard(this, words))
  }

  shard(a: number): Shard {
    return this.shards[a & (SHARDS - 1)]!
  }

  /** Gives back the room of records that are idle, a few shards at a time. */
  sweep(minute: number): void {
    this.minute = Math.max(minute, EVICTED)
    for (let i = 0; i < SWEPT_AT_ONCE; i++) {
      this.shards[this.#nextSwept]!.sweep()
      this.#nextSwept = (this.#nextSwept + 1) % SHARDS
    }
  }

  get bytes(): number {
    return this.shards.reduce((sum, shard) => sum + shard.words.byteLength, 0)
  }
}

export class Shard {
  /** The two views of one buffer. Both are replaced whenever a record is added: hold neither across `add`. */
  words: Int32Array
  floats: Float64Array
  readonly #records: Records
  readonly #length: number
  #mask = SMALLEST - 1
  /** Places that are not empty. */
  #filled = 0

  constructor(records: Records, length: number) {
    this.#records = records
    this.#length = length
    this.words = new Int32Array(SMALLEST * length)
    this.floats = new Float64Array(this.words.buffer)
  }

  holds(at: number, a: number, b: number): boolean {
    const { words } = this
    return words[at + B] === b && words[at + A] === a && words[at + IDLE]! > EVICTED
  }

  /** Where a record's words begin, or -1. */
  find(a: number, b: number): number {
    const { words } = this
    const length = this.#length
    const mask = this.#mask
    for (let place = b & mask; ; place = (place + 1) & mask) {
      const at = place * length
      if (this.holds(at, a, b)) return at
      if (words[at + IDLE] === EMPTY) return -1
    }
  }

  /** Makes room for a record that `find` did not find: zeros under its fingerprint. Whoever adds it sets IDLE. */
  add(a: number, b: number): number {
    if (this.#records.size >= this.#records.most) this.#evict(a)
    if (this.#filled + 1 > (this.#mask + 1) * FULLEST) this.#rebuild()
    const { words } = this
    const { minute } = this.#records
    let place = b & this.#mask
    while (words[place * this.#length + IDLE]! > minute) place = (place + 1) & this.#mask
    const at = place * this.#length
    if (words[at + IDLE] === EMPTY) this.#filled++
    if (words[at + IDLE]! <= EVICTED) this.#records.size++
    words.fill(0, at, at + this.#length)
    words[at + A] = a
    words[at + B] = b
    words[at + IDLE] = NEVER
    return at
  }

  sweep(): void {
    const { words } = this
    const { minute } = this.#records
    let kept = 0
    for (let at = IDLE; at < words.length; at += this.#length) if (words[at]! > minute) kept++
    const tooLarge = this.#mask + 1 > SMALLEST && kept < (this.#mask + 1) / 8
    if (kept < this.#filled / 2 || tooLarge) this.#rebuild()
  }

  /**
   * The table is full of records in use. Of a few, the one that has used least of its limit goes, because its owner gains
   * least by being forgotten: a flood of newcomers pushes out newcomers, not those near their limits.
   */
  #evict(a: number): void {
    const { words } = this
    const { minute } = this.#records
    let victim = -1
    let seen = 0
    const start = (a >>> 8) & this.#mask
    for (let step = 0; step <= this.#mask && seen < CANDIDATES; step++) {
      const at = ((start + step) & this.#mask) * this.#length
      if (words[at + IDLE]! <= EVICTED) continue
      seen++
      if (words[at + IDLE]! <= minute) {
        victim = at
        break
      }
      if (victim < 0 || words[at + USED]! < words[victim + USED]!) victim = at
    }
    if (victim < 0) return
    words[victim + IDLE] = EVICTED
    this.#records.size--
  }

  /** Moves what is in use into arrays of a fitting size. */
  #rebuild(): void {
    const { words: old } = this
    const { minute } = this.#records
    const length = this.#length
    let kept = 0
    let held = 0
    for (let at = IDLE; at < old.length; at += length) {
      if (old[at]! > minute) kept++
      if (old[at]! > EVICTED) held++
    }
    let places = SMALLEST
    while (kept + 1 > places * FULLEST * 0.75) places *= 2
    this.#records.size += kept - held
    this.#filled = kept
    this.#mask = places - 1
    const words = new Int32Array(places * length)
    for (let from = 0; from < old.length; from += length) {
      if (old[from + IDLE]! <= minute) continue
      let place = old[from + B]! & this.#mask
      while (words[place * length + IDLE] !== EMPTY) place = (place + 1) & this.#mask
      const to = place * length
      for (let i = 0; i < length; i++) words[to + i] = old[from + i]!
    }
    this.words = words
    this.floats = new Float64Array(words.buffer)
  }
}
