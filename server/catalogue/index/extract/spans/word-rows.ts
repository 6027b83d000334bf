import type { Tokens } from '../../text/tokens.ts'
import { type SpanModel, WEIGHTS_PER_ROW, WEIGHTS_PER_WORD } from './span-model.ts'
import { SHAPE_COUNT, visitAffixFeatures } from './word-features.ts'

/** Number of slots of the cache, a power of two, and the number of words after which it is cleared. */
const SLOT_COUNT = 16_384
const MAX_WORDS = 8192

/**
 * Cache of the summed weights of words. All features of a word, in all of its roles, depend only on its letters and its shape. Texts
 * repeat their words, so the features are hashed and summed once for each distinct word.
 */
export class WordRows {
  /** The weights of the word in a slot begin at slot * WEIGHTS_PER_WORD; those of a role at + role * WEIGHTS_PER_ROW. */
  readonly weights = new Int16Array(SLOT_COUNT * WEIGHTS_PER_WORD)
  private readonly model: SpanModel
  private readonly hashes = new Int32Array(SLOT_COUNT)
  /** By slot: the check hash combined with the shape; 0 if the slot is free. */
  private readonly checks = new Int32Array(SLOT_COUNT)
  private wordCount = 0

  constructor(model: SpanModel) {
    this.model = model
  }

  /** Returns the index in `weights` where the row of a word begins. The index is valid until the next call of `reserve`. */
  indexOf({ hashes, checkHashes, chars, charStarts }: Tokens, at: number, shape: number): number {
    const hash = hashes[at]!
    const check = Math.imul(checkHashes[at]!, SHAPE_COUNT * 2) + shape * 2 + 1
    let slot = (hash ^ (hash >>> 15) ^ Math.imul(shape, 0x9e37)) & (SLOT_COUNT - 1)
    while (this.checks[slot] !== 0) {
      if (this.hashes[slot] === hash && this.checks[slot] === check) return slot * WEIGHTS_PER_WORD
      slot = (slot + 1) & (SLOT_COUNT - 1)
    }
    this.hashes[slot] = hash
    this.checks[slot] = check
    this.wordCount++
    const first = slot * WEIGHTS_PER_WORD
    const { weights } = this
    const { rows, rowShift } = this.model
    const word = this.findWord(hash)
    for (let i = 0; i < WEIGHTS_PER_WORD; i++)
      weights[first + i] = word < 0 ? 0 : this.model.words[word * WEIGHTS_PER_WORD + i]!
    visitAffixFeatures(chars, charStarts[at]!, charStarts[at + 1]!, shape, (role, feature) => {
      const row = (feature >>> rowShift) * WEIGHTS_PER_ROW
      for (let i = 0; i < WEIGHTS_PER_ROW; i++) weights[first + role * WEIGHTS_PER_ROW + i]! += rows[row + i]!
    })
    return first
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
    this.checks.fill(0)
    this.wordCount = 0
  }
}

/** Longest sentence that the tagger reads at once, so that its words fit into the cache. Longer ones are split. */
export const MAX_SENTENCE_WORDS = 512
