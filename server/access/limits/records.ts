/**
 * Hash table of fixed-length records of 32-bit words, keyed by fingerprint. Uses open addressing with linear probing in typed arrays,
 * so that the garbage collector sees a few hundred arrays instead of a million objects. The table is split into shards that grow, shrink
 * and are swept independently, so that no call waits for more than a small part of the table to be rehashed.
 *
 * The first four words of a record are its fingerprint (two words), the minute from which it can be deleted and the used part of its limit. The
 * constants named _OFFSET are word offsets within a record. Times are 64-bit floats at even word offsets.
 */
const HASH_A_OFFSET = 0
const HASH_B_OFFSET = 1
export const IDLE_MINUTE_OFFSET = 2
export const USED_OFFSET = 3
/** Offset of the first word whose meaning depends on the kind of record. */
export const PAYLOAD_OFFSET = 4

const SHARD_COUNT = 256
const SHARDS_PER_SWEEP = 4
// Special values of the word at IDLE_MINUTE_OFFSET.
/** Marks a slot that was never used: lookups stop there. */
const EMPTY_SLOT = 0
/** Marks an evicted record: lookups probe past it, and its slot can be reused. */
const TOMBSTONE = 1
/** Set in a new record until the caller sets the actual minute. */
const NEVER_IDLE = 0x7fff_ffff
/** Fraction of the slots that may be in use, tombstones included, before a shard is rehashed. */
const MAX_LOAD_FACTOR = 0.8
/** Maximum load after a rehash; lower than MAX_LOAD_FACTOR, so that the next rehash is not due soon. */
const REHASHED_LOAD_FACTOR = 0.75 * MAX_LOAD_FACTOR
/** A shard shrinks when the fraction of active records falls below this. */
const MIN_LOAD_FACTOR = 1 / 8
const MIN_SLOTS = 4
/** Number of records from which the eviction victim is chosen. */
const EVICTION_SAMPLE_SIZE = 8

export class Records {
  readonly shards: Shard[] = []
  /** Number of records, including idle ones that are not swept yet. */
  size = 0
  readonly maxRecords: number
  /** Minute of the last sweep. Records that were idle by then can be deleted. */
  sweepMinute = TOMBSTONE
  #nextShard = 0

  /** `recordWords` is the length of a record and must be even. Beyond `maxRecords`, adding a record evicts another. */
  constructor(recordWords: number, maxRecords: number) {
    this.maxRecords = maxRecords
    for (let i = 0; i < SHARD_COUNT; i++) this.shards.push(new Shard(this, recordWords))
  }

  shard(hashA: number): Shard {
    return this.shards[hashA & (SHARD_COUNT - 1)]!
  }

  /** Frees idle records, a few shards at a time. */
  sweep(minute: number): void {
    this.sweepMinute = Math.max(minute, TOMBSTONE)
    for (let i = 0; i < SHARDS_PER_SWEEP; i++) {
      this.shards[this.#nextShard]!.sweep()
      this.#nextShard = (this.#nextShard + 1) % SHARD_COUNT
    }
  }

  get bytes(): number {
    return this.shards.reduce((sum, shard) => sum + shard.words.byteLength, 0)
  }
}

export class Shard {
  /** Two views of one buffer. `add` can replace both: do not keep references to them across calls of `add`. */
  words: Int32Array
  floats: Float64Array
  readonly #records: Records
  readonly #recordWords: number
  #mask = MIN_SLOTS - 1
  /** Slots that are not empty, including tombstones. */
  #usedSlots = 0

  constructor(records: Records, recordWords: number) {
    this.#records = records
    this.#recordWords = recordWords
    this.words = new Int32Array(MIN_SLOTS * recordWords)
    this.floats = new Float64Array(this.words.buffer)
  }

  matches(offset: number, hashA: number, hashB: number): boolean {
    const { words } = this
    return (
      words[offset + HASH_B_OFFSET] === hashB &&
      words[offset + HASH_A_OFFSET] === hashA &&
      words[offset + IDLE_MINUTE_OFFSET]! > TOMBSTONE
    )
  }

  /** Returns the offset of a record's first word, or -1. */
  find(hashA: number, hashB: number): number {
    const { words } = this
    const recordWords = this.#recordWords
    const mask = this.#mask
    for (let slot = hashB & mask; ; slot = (slot + 1) & mask) {
      const offset = slot * recordWords
      if (this.matches(offset, hashA, hashB)) return offset
      if (words[offset + IDLE_MINUTE_OFFSET] === EMPTY_SLOT) return -1
    }
  }

  /** Adds a zeroed record that `find` did not find, and returns its offset. The caller must set the idle minute. */
  add(hashA: number, hashB: number): number {
    if (this.#records.size >= this.#records.maxRecords) this.#evict(hashA)
    if (this.#usedSlots + 1 > (this.#mask + 1) * MAX_LOAD_FACTOR) this.#rehash()
    const { words } = this
    const { sweepMinute } = this.#records
    let slot = hashB & this.#mask
    while (words[slot * this.#recordWords + IDLE_MINUTE_OFFSET]! > sweepMinute) slot = (slot + 1) & this.#mask
    const offset = slot * this.#recordWords
    if (words[offset + IDLE_MINUTE_OFFSET] === EMPTY_SLOT) this.#usedSlots++
    if (words[offset + IDLE_MINUTE_OFFSET]! <= TOMBSTONE) this.#records.size++
    words.fill(0, offset, offset + this.#recordWords)
    words[offset + HASH_A_OFFSET] = hashA
    words[offset + HASH_B_OFFSET] = hashB
    words[offset + IDLE_MINUTE_OFFSET] = NEVER_IDLE
    return offset
  }

  sweep(): void {
    const { words } = this
    const { sweepMinute } = this.#records
    let activeCount = 0
    for (let offset = IDLE_MINUTE_OFFSET; offset < words.length; offset += this.#recordWords)
      if (words[offset]! > sweepMinute) activeCount++
    const isTooLarge = this.#mask + 1 > MIN_SLOTS && activeCount < (this.#mask + 1) * MIN_LOAD_FACTOR
    const isMostlyIdle = activeCount < this.#usedSlots / 2
    if (isMostlyIdle || isTooLarge) this.#rehash()
  }

  /**
   * Evicts a record when the table is full: from a small sample, an idle record, or else the record that has used the least of its limit, because
   * its caller gains least from the reset. A flood of new callers therefore evicts new callers, not those near their limits.
   */
  #evict(hashA: number): void {
    const { words } = this
    const { sweepMinute } = this.#records
    let victim = -1
    let sampledCount = 0
    const startSlot = (hashA >>> 8) & this.#mask
    for (let i = 0; i <= this.#mask && sampledCount < EVICTION_SAMPLE_SIZE; i++) {
      const offset = ((startSlot + i) & this.#mask) * this.#recordWords
      if (words[offset + IDLE_MINUTE_OFFSET]! <= TOMBSTONE) continue
      sampledCount++
      if (words[offset + IDLE_MINUTE_OFFSET]! <= sweepMinute) {
        victim = offset
        break
      }
      if (victim < 0 || words[offset + USED_OFFSET]! < words[victim + USED_OFFSET]!) victim = offset
    }
    if (victim < 0) return
    words[victim + IDLE_MINUTE_OFFSET] = TOMBSTONE
    this.#records.size--
  }

  /** Moves the active records into new arrays of a suitable size. Drops tombstones and idle records. */
  #rehash(): void {
    const { words: oldWords } = this
    const { sweepMinute } = this.#records
    const recordWords = this.#recordWords
    let activeCount = 0
    let recordCount = 0
    for (let offset = IDLE_MINUTE_OFFSET; offset < oldWords.length; offset += recordWords) {
      if (oldWords[offset]! > sweepMinute) activeCount++
      if (oldWords[offset]! > TOMBSTONE) recordCount++
    }
    let slots = MIN_SLOTS
    while (activeCount + 1 > slots * REHASHED_LOAD_FACTOR) slots *= 2
    this.#records.size += activeCount - recordCount
    this.#usedSlots = activeCount
    this.#mask = slots - 1
    const words = new Int32Array(slots * recordWords)
    for (let oldOffset = 0; oldOffset < oldWords.length; oldOffset += recordWords) {
      if (oldWords[oldOffset + IDLE_MINUTE_OFFSET]! <= sweepMinute) continue
      let slot = oldWords[oldOffset + HASH_B_OFFSET]! & this.#mask
      while (words[slot * recordWords + IDLE_MINUTE_OFFSET] !== EMPTY_SLOT) slot = (slot + 1) & this.#mask
      const newOffset = slot * recordWords
      for (let i = 0; i < recordWords; i++) words[newOffset + i] = oldWords[oldOffset + i]!
    }
    this.words = words
    this.floats = new Float64Array(words.buffer)
  }
}
