import { readFileSync } from 'node:fs'
import { GAP_KIND_COUNT } from './token-context.ts'
import { ROLE_COUNT } from './word-features.ts'

/**
 * Weights of the span tagger, read from `data/models/span-tagger.bin`. The weights are integers in units of 1/`scale`:
 *
 * - bytes 0 to 3: the letters "SPAN"; 4 to 7: the version; 8 to 11: `scale`; 12 to 15: the number of rows, a power of two;
 *   16 to 19: the number of words
 * - the transitions, 16-bit integers, by chain, gap kind, previous label and label
 * - the hashes of the words, 32-bit integers in ascending order
 * - the weights of the words, 8-bit integers: for each role (word-features.ts) a row with B and I of the skill chain, and B and I of
 *   the knowledge chain
 * - the rows of the other features, by the high bits of the feature
 *
 * Numbers are little-endian.
 */
export interface SpanModel {
  scale: number
  transitions: Int16Array
  /** The row of a feature is its hash shifted right by this number of bits. */
  rowShift: number
  rows: Int8Array
  wordHashes: Int32Array
  /** The weights of word w begin at w * WEIGHTS_PER_WORD. */
  words: Int8Array
}

const MODEL_VERSION = 1
const MAGIC = 'SPAN'
const HEADER_BYTES = 20
export const WEIGHTS_PER_ROW = 4
export const WEIGHTS_PER_WORD = ROLE_COUNT * WEIGHTS_PER_ROW
/** Two chains with three labels. */
export const TRANSITION_COUNT = 2 * GAP_KIND_COUNT * 9

const MODEL_FILE = new URL('../../../../../data/models/span-tagger.bin', import.meta.url)
let loadedModel: SpanModel | undefined

/** Returns the model of the repository. It is read once for the whole process. */
export function spanModel(): SpanModel {
  loadedModel ??= parseSpanModel(readFileSync(MODEL_FILE))
  return loadedModel
}

export function parseSpanModel(bytes: Uint8Array): SpanModel {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length))
  const version = bytes.length < HEADER_BYTES ? 0 : view.getInt32(4, true)
  if (magic !== MAGIC || version !== MODEL_VERSION)
    throw new Error(
      `span-tagger.bin must be a model of version ${MODEL_VERSION}; got "${magic}" of version ${version}. Check out the file again, or train it as described in training/README.md.`,
    )
  const rowCount = view.getInt32(12, true)
  const wordCount = view.getInt32(16, true)
  const hashesAt = HEADER_BYTES + TRANSITION_COUNT * 2
  const wordsAt = hashesAt + wordCount * 4
  const rowsAt = wordsAt + wordCount * WEIGHTS_PER_WORD
  const expectedLength = rowsAt + rowCount * WEIGHTS_PER_ROW
  if (bytes.length !== expectedLength)
    throw new Error(`span-tagger.bin must have ${expectedLength} bytes; got ${bytes.length}. Check out the file again.`)
  return {
    scale: view.getInt32(8, true),
    transitions: Int16Array.from({ length: TRANSITION_COUNT }, (_, i) => view.getInt16(HEADER_BYTES + i * 2, true)),
    rowShift: 32 - Math.log2(rowCount),
    rows: Int8Array.from(bytes.subarray(rowsAt)),
    wordHashes: Int32Array.from({ length: wordCount }, (_, i) => view.getInt32(hashesAt + i * 4, true)),
    words: Int8Array.from(bytes.subarray(wordsAt, rowsAt)),
  }
}

/** Converts a model to the bytes of its file. */
export function serialiseSpanModel({
  scale,
  transitions,
  rows,
  wordHashes,
  words,
}: Omit<SpanModel, 'rowShift'>): Uint8Array {
  const hashesAt = HEADER_BYTES + TRANSITION_COUNT * 2
  const wordsAt = hashesAt + wordHashes.length * 4
  const bytes = new Uint8Array(wordsAt + words.length + rows.length)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < MAGIC.length; i++) bytes[i] = MAGIC.charCodeAt(i)
  view.setInt32(4, MODEL_VERSION, true)
  view.setInt32(8, scale, true)
  view.setInt32(12, rows.length / WEIGHTS_PER_ROW, true)
  view.setInt32(16, wordHashes.length, true)
  for (let i = 0; i < TRANSITION_COUNT; i++) view.setInt16(HEADER_BYTES + i * 2, transitions[i]!, true)
  for (let i = 0; i < wordHashes.length; i++) view.setInt32(hashesAt + i * 4, wordHashes[i]!, true)
  bytes.set(new Uint8Array(words.buffer, words.byteOffset, words.length), wordsAt)
  bytes.set(new Uint8Array(rows.buffer, rows.byteOffset, rows.length), wordsAt + words.length)
  return bytes
}
