import { wordHash } from './tokens.ts'

/**
 * Set of words that numbers them in the order in which they are added, from 0. It is a hash table with open addressing and the
 * hashes of `wordHash`. The letters of all words are in one array, so a lookup compares letters without creating a string.
 */
export class WordTable {
  size = 0
  /** By slot of the hash table: a word number, or -1 if the slot is free. */
  private slots = new Int32Array(1024).fill(-1)
  /** By word number: its hash. */
  private hashes = new Int32Array(512)
  /** The letters of word w are letterPool[starts[w]] up to, but not including, letterPool[starts[w + 1]]. */
  private starts = new Int32Array(513)
  private letterPool = new Uint16Array(4096)

  /** Creates the table that had these stored parts. */
  static restore(slots: Int32Array, hashes: Int32Array, starts: Int32Array, letterPool: Uint16Array): WordTable {
    const table = new WordTable()
    Object.assign(table, { size: hashes.length, slots, hashes, starts, letterPool })
    return table
  }

  /** Returns the arguments of `restore`. Only for a table without spare capacity, which `trim` returns. */
  storedParts(): Parameters<typeof WordTable.restore> {
    return [this.slots, this.hashes, this.starts, this.letterPool]
  }

  /**
   * Returns the number of the word whose folded units are chars[from] up to, but not including, chars[to]; -1 if it is not in
   * the table.
   */
  find(hash: number, chars: Uint16Array, from: number, to: number): number {
    const { slots, hashes, starts, letterPool } = this
    const mask = slots.length - 1
    let slot = mixHash(hash) & mask
    for (;;) {
      const id = slots[slot]!
      if (id < 0) return -1
      if (hashes[id] === hash) {
        const start = starts[id]!
        if (starts[id + 1]! - start === to - from) {
          let i = from
          while (i < to && letterPool[start + i - from] === chars[i]) i++
          if (i === to) return id
        }
      }
      slot = (slot + 1) & mask
    }
  }

  /** Returns the number of the word, or -1. */
  findWord(word: string): number {
    const chars = unitsOf(word)
    return this.find(wordHash(word), chars, 0, word.length)
  }

  /** Adds the word if it is not in the table. Returns its number. */
  add(hash: number, chars: Uint16Array, from: number, to: number): number {
    const existingId = this.find(hash, chars, from, to)
    if (existingId >= 0) return existingId
    if ((this.size + 1) * 2 > this.slots.length) this.grow()
    const id = this.size++
    const start = this.starts[id]!
    const end = start + to - from
    if (end > this.letterPool.length) {
      const pool = new Uint16Array(Math.max(end, this.letterPool.length * 2))
      pool.set(this.letterPool)
      this.letterPool = pool
    }
    for (let i = from; i < to; i++) this.letterPool[start + i - from] = chars[i]!
    this.starts[id + 1] = end
    this.hashes[id] = hash
    this.insertSlot(id)
    return id
  }

  addWord(word: string): number {
    return this.add(wordHash(word), unitsOf(word), 0, word.length)
  }

  word(id: number): string {
    return String.fromCharCode.apply(null, this.letterPool.subarray(this.starts[id]!, this.starts[id + 1]!) as never)
  }

  /** Releases unused capacity. No word can be added afterwards. */
  trim(): this {
    this.hashes = this.hashes.slice(0, this.size)
    this.starts = this.starts.slice(0, this.size + 1)
    this.letterPool = this.letterPool.slice(0, this.starts[this.size]!)
    return this
  }

  private insertSlot(id: number): void {
    const mask = this.slots.length - 1
    let slot = mixHash(this.hashes[id]!) & mask
    while (this.slots[slot]! >= 0) slot = (slot + 1) & mask
    this.slots[slot] = id
  }

  private grow(): void {
    const hashes = new Int32Array(this.slots.length)
    hashes.set(this.hashes.subarray(0, this.size))
    const starts = new Int32Array(this.slots.length + 1)
    starts.set(this.starts.subarray(0, this.size + 1))
    this.hashes = hashes
    this.starts = starts
    this.slots = new Int32Array(this.slots.length * 2).fill(-1)
    for (let id = 0; id < this.size; id++) this.insertSlot(id)
  }
}

const scratchUnits = new Uint16Array(256)

/** Returns the UTF-16 units of a word, in an array that is reused for short words. */
function unitsOf(word: string): Uint16Array {
  const chars = word.length <= scratchUnits.length ? scratchUnits : new Uint16Array(word.length)
  for (let i = 0; i < word.length; i++) chars[i] = word.charCodeAt(i)
  return chars
}

/**
 * Mixes the high bits of a hash into the low ones, which index the table. The low bits of an FNV hash alone are distributed
 * badly.
 */
function mixHash(hash: number): number {
  return hash ^ (hash >>> 15)
}
