import { wordHash } from '../text/tokens.ts'

/**
 * Maps the hash of a word to its classes, a bit set with one bit for each word list that contains the word. `isNegated` looks up
 * every word around a mention, and most words are in no list. A lookup in this small hash table is faster than one set per list.
 */
export class WordClasses {
  /** Hash table with two integers per slot: the hash of a word and its classes. A slot without classes is free. */
  private readonly slots: Int32Array

  constructor(lists: readonly (readonly [bit: number, words: readonly string[]])[]) {
    const bitsByHash = new Map<number, number>()
    for (const [bit, words] of lists)
      for (const hash of words.map(wordHash)) bitsByHash.set(hash, (bitsByHash.get(hash) ?? 0) | bit)
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(bitsByHash.size * 4)) * 2)
    for (const [hash, bits] of bitsByHash) {
      let slot = this.slotOf(hash)
      while (this.slots[slot + 1] !== 0) slot = this.slotAfter(slot)
      this.slots[slot] = hash
      this.slots[slot + 1] = bits
    }
  }

  /** Returns the classes of the word with this hash; 0 if it is in no list. */
  classesOf(hash: number): number {
    const { slots } = this
    let slot = this.slotOf(hash)
    for (;;) {
      const bits = slots[slot + 1]!
      if (bits === 0 || slots[slot] === hash) return bits
      slot = this.slotAfter(slot)
    }
  }

  private slotOf(hash: number): number {
    return ((hash ^ (hash >>> 15)) << 1) & (this.slots.length - 2)
  }

  private slotAfter(slot: number): number {
    return (slot + 2) & (this.slots.length - 2)
  }
}
