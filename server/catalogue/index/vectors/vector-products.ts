import { BLOCK_BYTES, createVectorModule, type MemoryLayout, type VectorModule } from './wasm-module.ts'
import { rowOfWord, type WordVectors } from './word-vectors.ts'

/** The signs of a vector are stored as bits in this many bytes. */
const SIGN_BYTES = 16
const MAX_DIMENSIONS = SIGN_BYTES * 8
/** The vectors begin at multiples of this, because the processor reads two cache lines together. */
const CACHE_LINE_PAIR_BYTES = 128

/**
 * Multiplies the vector of a phrase with those of words, in WebAssembly (wasm-module.ts). The products are integers, so they do not
 * depend on the machine.
 */
export class VectorProducts {
  private readonly model: WordVectors
  private readonly module: VectorModule
  private readonly phraseVector: Int16Array
  private readonly phraseSigns: Uint8Array
  private readonly allSigns: Uint8Array
  private readonly comparedSigns: Uint8Array
  private readonly rows: Int32Array
  /** The rows that were compared last, which are still in the memory of the module. */
  private comparedRows: Int32Array | undefined
  /** By similar row: its position in the rows that were compared, and its product with the phrase. */
  readonly similar: Int32Array

  constructor(model: WordVectors) {
    const { dimensions, vectors, hashes } = model
    if (dimensions > MAX_DIMENSIONS)
      throw new Error(
        `A model of word vectors must have at most ${MAX_DIMENSIONS} dimensions; got ${dimensions}. Train it with vectors of fewer dimensions, as described in training/README.md.`,
      )
    const layout = layoutFor(dimensions, hashes.length)
    this.model = model
    this.module = createVectorModule(layout)
    const { buffer } = this.module.memory
    const numbers = new Int8Array(buffer)
    this.allSigns = new Uint8Array(hashes.length * SIGN_BYTES)
    for (let row = 0; row < hashes.length; row++) {
      const vector = vectors.subarray(row * dimensions, (row + 1) * dimensions)
      numbers.set(vector, layout.vectors + row * layout.vectorBytes)
      setSigns(vector, this.allSigns, row * SIGN_BYTES)
    }
    this.phraseVector = new Int16Array(buffer, layout.phrase, dimensions)
    this.phraseSigns = new Uint8Array(buffer, layout.phraseSigns, SIGN_BYTES)
    this.comparedSigns = new Uint8Array(buffer, layout.signs, hashes.length * SIGN_BYTES)
    this.rows = new Int32Array(buffer, layout.rows, hashes.length)
    this.similar = new Int32Array(buffer, layout.similar, hashes.length * 2)
  }

  /** Sets the phrase that the other methods compare. Returns the number of its words that have a vector, and the length of its vector. */
  setPhrase(words: readonly string[]): { knownCount: number; length: number } {
    const { phraseVector, model } = this
    const { dimensions, vectors } = model
    phraseVector.fill(0)
    let knownCount = 0
    for (const word of words) {
      const row = rowOfWord(model, word)
      if (row < 0) continue
      for (let d = 0; d < dimensions; d++) phraseVector[d]! += vectors[row * dimensions + d]!
      knownCount++
    }
    let squares = 0
    for (let d = 0; d < dimensions; d++) squares += phraseVector[d]! ** 2
    return { knownCount, length: Math.sqrt(squares) }
  }

  /** Returns the dot product of the phrase and the word of this row. */
  productOf(row: number): number {
    return this.module.product(row)
  }

  /** Finds the rows of which at most `maxDifferences` signs differ from the phrase. Returns their number and sets `similar`. */
  findSimilar(rows: Int32Array, maxDifferences: number): number {
    this.phraseSigns.fill(0)
    setSigns(this.phraseVector, this.phraseSigns, 0)
    if (rows !== this.comparedRows) this.load(rows)
    return this.module.findSimilar(rows.length, maxDifferences)
  }

  /** Copies the rows and their signs to the memory of the module, one after the other, because reading them in order is fast. */
  private load(rows: Int32Array): void {
    this.comparedRows = rows
    this.rows.set(rows)
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i]! * SIGN_BYTES
      this.comparedSigns.set(this.allSigns.subarray(at, at + SIGN_BYTES), i * SIGN_BYTES)
    }
  }
}

const productsByModel = new WeakMap<WordVectors, VectorProducts>()

/** Returns the products of a model. They are created once, by the first phrase, because that takes some milliseconds and 4 MB. */
export function vectorProducts(model: WordVectors): VectorProducts {
  let products = productsByModel.get(model)
  if (!products) {
    products = new VectorProducts(model)
    productsByModel.set(model, products)
  }
  return products
}

function layoutFor(dimensions: number, rowCount: number): MemoryLayout {
  const usedVectorBytes = roundUp(dimensions, BLOCK_BYTES)
  const vectorBytes = roundUp(dimensions, CACHE_LINE_PAIR_BYTES)
  const phraseSigns = usedVectorBytes * 2
  const vectors = roundUp(phraseSigns + SIGN_BYTES, CACHE_LINE_PAIR_BYTES)
  const signs = vectors + rowCount * vectorBytes
  const rows = signs + rowCount * SIGN_BYTES
  const similar = rows + rowCount * 4
  // One more item is written after the last similar row.
  const byteLength = similar + (rowCount + 1) * 8
  return { phrase: 0, phraseSigns, vectors, vectorBytes, usedVectorBytes, signs, rows, similar, byteLength }
}

function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple
}

/** Stores one bit for each number of a vector: 1 if it is positive. */
function setSigns(vector: Int8Array | Int16Array, bits: Uint8Array, at: number): void {
  for (let d = 0; d < vector.length; d++) if (vector[d]! > 0) bits[at + (d >> 3)]! |= 1 << (d & 7)
}
