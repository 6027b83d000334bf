import type { Tokens } from '../../text/tokens.ts'
import { packWeights } from './packed-weights.ts'
import { type SpanModel, WEIGHTS_PER_ROW, WEIGHTS_PER_WORD } from './span-model.ts'
import { SHAPE_COUNT, visitAffixFeatures } from './word-features.ts'

/**
 * Number of slots of the cache, a power of two, and the number of words after which it is cleared. It has room for the words of a few hundred
 * advertisements: a cache of 8,192 words was cleared so often that filling it took a third of the time of the tagger.
 */
const SLOT_COUNT = 32_768
const MAX_WORDS = 20_000

/** Number of packed weights (packed-weights.ts) per role and per word. */
export const PACKED_PER_ROW = WEIGHTS_PER_ROW / 2
const PACKED_PER_WORD = WEIGHTS_PER_WORD / 2

/** Index in `weights` of a word whose weights are zero, for the places before and after a sentence. */
export const NO_WORD = SLOT_COUNT * PACKED_PER_WORD

/**
 * Cache of the summed weights of words. All features of a word, in all of its roles, depend only on its letters and its shape. Texts
 * repeat their words, so the features are hashed and summed once for each distinct word.
 */
export class WordRows {
  /** The packed weights of the word in a slot begin at slot * PACKED_PER_WORD; those of a role at + role * PACKED_PER_ROW. */
  readonly weights = new Int32Array((SLOT_COUNT + 1) * PACKED_PER_WORD)
  private readonly model: SpanModel
  /** Two integers per slot: the hash of the word, and the check hash combined with the shape; 0 if the slot is free. */
  private readonly keys = new Int32Array(SLOT_COUNT * 2)
  private readonly sums = new Int32Array(WEIGHTS_PER_WORD)
  private wordCount = 0

  constructor(model: SpanModel) {
    this.model = model
  }

  /** Returns the index in `weights` where the row of a word begins. The index is valid until the next call of `reserve`. */
  indexOf(tokens: Tokens, at: number, shape: number): number {
    const { keys } = this
    const hash = tokens.hashes[at]!
    const check = (Math.imul(tokens.checkHashes[at]!, SHAPE_COUNT * 2) + shape * 2 + 1) | 0
    let slot = (hash ^ (hash >>> 15) ^ Math.imul(shape, 0x9e37)) & (SLOT_COUNT - 1)
    for (;;) {
      const slotCheck = keys[slot * 2 + 1]!
      if (slotCheck === check && keys[slot * 2] === hash) return slot * PACKED_PER_WORD
      if (slotCheck === 0) break
      slot = (slot + 1) & (SLOT_COUNT - 1)
    }
    keys[slot * 2] = hash
    keys[slot * 2 + 1] = check
    this.wordCount++
    this.sumWeights(tokens, at, shape, slot * PACKED_PER_WORD)
    return slot * PACKED_PER_WORD
  }

  /** Writes the summed weights of a word into `weights` from the index `first` on. */
  private sumWeights({ hashes, chars, charStarts }: Tokens, at: number, shape: number, first: number): void {
    const { sums, weights } = this
    const { rows, rowShift, words } = this.model
    const word = this.findWord(hashes[at]!)
    for (let i = 0; i < WEIGHTS_PER_WORD; i++) sums[i] = word < 0 ? 0 : words[word * WEIGHTS_PER_WORD + i]!
    visitAffixFeatures(chars, charStarts[at]!, charStarts[at + 1]!, shape, (role, feature) => {
      const row = (feature >>> rowShift) * WEIGHTS_PER_ROW
      for (let i = 0; i < WEIGHTS_PER_ROW; i++) sums[role * WEIGHTS_PER_ROW + i]! += rows[row + i]!
    })
    for (let i = 0; i < PACKED_PER_WORD; i++) weights[first + i] = packWeights(sums[i * 2]!, sums[i * 2 + 1]!)
  }

  /** Returns the number of the known word with this hash, or -1. Binary search: it runs once for each distinct word. */
  private findWord(hash: number): number {
    const { wordHashes } = this.model
    let [low, high] = [0, wordHashes.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      if (wordHashes[middle] === hash) return middle
      if (wordHashes[middle]! < hash) low = middle + 1
      else high = middle - 1
    }
    return -1
  }

  /** Makes room for the words of a sentence. Clears the cache if it has too many words. */
  reserve(count: number): void {
    if (this.wordCount + count <= MAX_WORDS) return
    this.keys.fill(0)
    this.wordCount = 0
  }
}

/** Longest sentence that the tagger reads at once, so that its words fit into the cache. Longer ones are split. */
export const MAX_SENTENCE_WORDS = 512
