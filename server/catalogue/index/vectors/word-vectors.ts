import { readFileSync } from 'node:fs'
import { wordHash } from '../text/tokens.ts'

/**
 * Trained vectors of words, read from `data/models/word-vectors.bin`. The vector of a phrase is the sum of the vectors of its words;
 * the cosine of two phrases is high if they mean similar things. Important words have long vectors. The file:
 *
 * - bytes 0 to 3: the letters "WVEC"; 4 to 7: the version; 8 to 11: the number of dimensions; 12 to 15: the number of words
 * - the hashes of the words, 32-bit integers in ascending order
 * - one bit per word: 1 if it is a common English word
 * - the vectors, 8-bit integers
 *
 * Numbers are little-endian.
 */
export interface WordVectors {
  dimensions: number
  hashes: Int32Array
  englishBits: Uint8Array
  /** The vector of row r begins at r * dimensions. */
  vectors: Int8Array
}

const MODEL_VERSION = 1
const MAGIC = 'WVEC'
const HEADER_BYTES = 16

const MODEL_FILE = new URL('../../../../data/models/word-vectors.bin', import.meta.url)
let loadedVectors: WordVectors | undefined

/** Returns the vectors of the repository. They are read once for the whole process. */
export function wordVectors(): WordVectors {
  loadedVectors ??= parseWordVectors(readFileSync(MODEL_FILE))
  return loadedVectors
}

function parseWordVectors(bytes: Uint8Array): WordVectors {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length))
  const version = bytes.length < HEADER_BYTES ? 0 : view.getInt32(4, true)
  if (magic !== MAGIC || version !== MODEL_VERSION)
    throw new Error(
      `word-vectors.bin must be a model of version ${MODEL_VERSION}; got "${magic}" of version ${version}. Check out the file again, or train it as described in training/README.md.`,
    )
  const dimensions = view.getInt32(8, true)
  const wordCount = view.getInt32(12, true)
  const bitsAt = HEADER_BYTES + wordCount * 4
  const vectorsAt = bitsAt + Math.ceil(wordCount / 8)
  const expectedLength = vectorsAt + wordCount * dimensions
  if (bytes.length !== expectedLength)
    throw new Error(
      `word-vectors.bin must have ${expectedLength} bytes; got ${bytes.length}. Check out the file again.`,
    )
  return {
    dimensions,
    hashes: Int32Array.from({ length: wordCount }, (_, i) => view.getInt32(HEADER_BYTES + i * 4, true)),
    englishBits: Uint8Array.from(bytes.subarray(bitsAt, vectorsAt)),
    vectors: Int8Array.from(bytes.subarray(vectorsAt)),
  }
}

/** Converts vectors to the bytes of their file. */
export function serialiseWordVectors({ dimensions, hashes, englishBits, vectors }: WordVectors): Uint8Array {
  const bitsAt = HEADER_BYTES + hashes.length * 4
  const vectorsAt = bitsAt + englishBits.length
  const bytes = new Uint8Array(vectorsAt + vectors.length)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < MAGIC.length; i++) bytes[i] = MAGIC.charCodeAt(i)
  view.setInt32(4, MODEL_VERSION, true)
  view.setInt32(8, dimensions, true)
  view.setInt32(12, hashes.length, true)
  hashes.forEach((hash, i) => {
    view.setInt32(HEADER_BYTES + i * 4, hash, true)
  })
  bytes.set(englishBits, bitsAt)
  bytes.set(new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.length), vectorsAt)
  return bytes
}

/** Returns the row of a word, or -1. Binary search. */
export function rowOfWord({ hashes }: WordVectors, word: string): number {
  const hash = wordHash(word)
  let [low, high] = [0, hashes.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    if (hashes[middle] === hash) return middle
    if (hashes[middle]! < hash) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** Whether the word is a common English word, correctly spelled. */
export function isEnglishWord(word: string): boolean {
  const model = wordVectors()
  const row = rowOfWord(model, word)
  return row >= 0 && (model.englishBits[row >> 3]! & (1 << (row & 7))) !== 0
}
