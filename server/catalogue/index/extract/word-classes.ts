import { wordHash } from '../text/tokens.ts'

/**
 * The classes of a word, by its hash: one bit for every list that contains the word. Negation checks every word around a
 * mention, and most words are in no list, so a lookup is one read of a small hash table.
 */
export class WordClasses {
  /** Hash and bits next to each other; a slot without bits is free. */
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

  /** Returns the bits of a word; 0 if it is in no list. */
  of(hash: number): number {
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
