import { hashOf } from '../text/tokens.ts'

/**
 * What words are, by their hash: a bit for every list a word stands in. A text asks this of every word around a mention, and most
 * words stand in none, so the answer is one read of a small table.
 */
export class WordKinds {
  /** Hash and bits, side by side; a slot without bits is free. */
  private readonly slots: Int32Array

  /** Lists of words, each with the bit it gives. */
  constructor(lists: readonly (readonly [bit: number, words: string])[]) {
    const kinds = new Map<number, number>()
    for (const [bit, words] of lists)
      for (const word of words.trim().split(/\s+/)) kinds.set(hashOf(word), (kinds.get(hashOf(word)) ?? 0) | bit)
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(kinds.size * 4)) * 2)
    for (const [hash, bits] of kinds) {
      let slot = this.slotOf(hash)
      while (this.slots[slot + 1] !== 0) slot = this.behind(slot)
      this.slots[slot] = hash
      this.slots[slot + 1] = bits
    }
  }

  /** The bits of a word, 0 where it stands in no list. */
  of(hash: number): number {
    const { slots } = this
    let slot = this.slotOf(hash)
    for (;;) {
      const bits = slots[slot + 1]!
      if (bits === 0 || slots[slot] === hash) return bits
      slot = this.behind(slot)
    }
  }

  private slotOf(hash: number): number {
    return ((hash ^ (hash >>> 15)) << 1) & (this.slots.length - 2)
  }

  private behind(slot: number): number {
    return (slot + 2) & (this.slots.length - 2)
  }
}
