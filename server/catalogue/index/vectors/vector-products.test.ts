import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { wordHash } from '../text/tokens.ts'
import { VectorProducts } from './vector-products.ts'
import type { WordVectors } from './word-vectors.ts'

/** Compares the products and the similar rows, which are computed in WebAssembly, with plain loops. */

const WORD_COUNT = 200
const PHRASE_COUNT = 200
const SEED = 106

/** In ascending order of their hashes, so that the position of a word is its row. */
const words = Array.from({ length: WORD_COUNT }, (_, i) => `word${i}`).sort((a, b) => wordHash(a) - wordHash(b))
const UNKNOWN_WORD = 'unknown'

function modelWith(dimensions: number, vectors: Int8Array): WordVectors {
  return { dimensions, hashes: Int32Array.from(words, wordHash), englishBits: new Uint8Array(WORD_COUNT / 8), vectors }
}

/** Returns a model of random vectors. Every fourth number is on average 0 or one of the limits of its range. */
function randomModel(dimensions: number): WordVectors {
  const number = fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: -128, max: 127 }) },
    { weight: 1, arbitrary: fc.constantFrom(-128, 0, 127) },
  )
  return modelWith(dimensions, Int8Array.from(fc.sample(number, { numRuns: WORD_COUNT * dimensions, seed: SEED })))
}

const phraseWord = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...words) },
  { weight: 1, arbitrary: fc.constant(UNKNOWN_WORD) },
)
const phrases = [
  [],
  [UNKNOWN_WORD],
  // The largest sums: one word as often as a phrase can contain it.
  new Array<string>(16).fill(words[0]!),
  ...fc.sample(fc.array(phraseWord, { minLength: 1, maxLength: 16 }), { numRuns: PHRASE_COUNT, seed: SEED }),
]

function sumOfVectors({ dimensions, vectors }: WordVectors, phrase: readonly string[]): number[] {
  const knownRows = phrase.map((word) => words.indexOf(word)).filter((row) => row >= 0)
  return Array.from({ length: dimensions }, (_, d) =>
    knownRows.reduce((sum, row) => sum + vectors[row * dimensions + d]!, 0),
  )
}

function vectorOf({ dimensions, vectors }: WordVectors, row: number): number[] {
  return [...vectors.subarray(row * dimensions, (row + 1) * dimensions)]
}

function dotProduct(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, d) => sum + value * b[d]!, 0)
}

function countDifferentSigns(a: readonly number[], b: readonly number[]): number {
  return a.filter((value, d) => value > 0 !== b[d]! > 0).length
}

for (const dimensions of [20, 100, 128]) {
  const model = randomModel(dimensions)
  const vectors = words.map((_, row) => vectorOf(model, row))

  test(`the length and the products of a phrase are those of the sum of its vectors (${dimensions} dimensions)`, () => {
    const products = new VectorProducts(model)
    for (const phrase of phrases) {
      const sum = sumOfVectors(model, phrase)
      const { knownCount, length } = products.setPhrase(phrase)
      assert.equal(knownCount, phrase.filter((word) => word !== UNKNOWN_WORD).length)
      assert.equal(length, Math.sqrt(dotProduct(sum, sum)))
      assert.deepEqual(
        words.map((_, row) => products.productOf(row)),
        vectors.map((vector) => dotProduct(sum, vector)),
        phrase.join(' '),
      )
    }
  })

  test(`the similar rows are those with few different signs, also if lists take turns (${dimensions} dimensions)`, () => {
    const products = new VectorProducts(model)
    const allRows = Int32Array.from(words.keys())
    const rowLists = [
      new Int32Array(0),
      allRows,
      // Two lists of the same length, the second in descending order.
      allRows.filter((row) => row % 2 === 0),
      allRows.filter((row) => row % 2 === 1).reverse(),
    ]
    let [someSimilar, noneSimilar] = [0, 0]
    for (const phrase of phrases) {
      const sum = sumOfVectors(model, phrase)
      const differences = vectors.map((vector) => countDifferentSigns(sum, vector))
      const rowProducts = vectors.map((vector) => dotProduct(sum, vector))
      products.setPhrase(phrase)
      for (const maxDifferences of [0, Math.floor(dimensions * 0.4), dimensions / 2, dimensions])
        for (const rows of rowLists) {
          const expected = [...rows].flatMap((row, position) =>
            differences[row]! <= maxDifferences ? [position, rowProducts[row]!] : [],
          )
          const count = products.findSimilar(rows, maxDifferences)
          assert.deepEqual([...products.similar.subarray(0, count * 2)], expected, phrase.join(' '))
          if (count === 0) noneSimilar++
          else if (count < rows.length) someSimilar++
        }
    }
    assert.ok(someSimilar > PHRASE_COUNT && noneSimilar > PHRASE_COUNT)
  })
}

test('the products of a phrase do not change if another list of rows was compared', () => {
  const products = new VectorProducts(randomModel(100))
  products.setPhrase(words.slice(0, 3))
  const before = words.map((_, row) => products.productOf(row))
  products.findSimilar(Int32Array.from(words.keys()), 100)
  products.findSimilar(Int32Array.of(7), 100)
  assert.deepEqual(
    words.map((_, row) => products.productOf(row)),
    before,
  )
})

test('a model without words has no similar rows', () => {
  const noNumbers = new Int32Array(0)
  const model = { dimensions: 100, hashes: noNumbers, englishBits: new Uint8Array(0), vectors: new Int8Array(0) }
  const products = new VectorProducts(model)
  assert.deepEqual(products.setPhrase(['welding']), { knownCount: 0, length: 0 })
  assert.equal(products.findSimilar(noNumbers, 100), 0)
})

test('a model with more than 128 dimensions is rejected', () => {
  assert.throws(() => new VectorProducts(modelWith(129, new Int8Array(WORD_COUNT * 129))), {
    message: /at most 128 dimensions; got 129\b/,
  })
})
