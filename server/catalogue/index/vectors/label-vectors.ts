import type { Labels } from '../labels/labels.ts'
import type { Postings } from '../labels/postings.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { rowOfWord, type WordVectors } from './word-vectors.ts'

/** The signs of a vector are stored as bits in this many integers, which is enough for 128 dimensions. */
const INTEGERS_PER_SIGNATURE = 4
/** A word of the catalogue may be similar to a phrase if at most this fraction of the signs differ. */
const MAX_DIFFERENT_SIGNS = 0.4
/** The skills that contain one of the words with the highest products are compared with the phrase. */
const MAX_SIMILAR_WORDS = 24
const MAX_COMPARED_SKILLS = 300
/** The skills of more frequent words are not compared: there are too many, and the word alone says little. */
const MAX_SKILLS_PER_WORD = 150

/**
 * The cosines of a phrase and the labels of the catalogue. The vector of a phrase or label is the sum of the vectors of its words. So the
 * product of a phrase and a label is the sum of the products of the phrase and the words of the label. They are computed once per phrase, for
 * the words that are needed.
 */
export class LabelVectors {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly model: WordVectors
  /** By word number: the row of its vector, or -1. */
  private readonly rows: Int32Array
  /** The numbers of the words that have a vector, and their signatures. */
  private readonly knownWords: Int32Array
  private readonly signatures: Int32Array
  /** By label: 1 / the length of its vector; 0 if no word has a vector. */
  private readonly inverseLengths: Float32Array
  /** By word number: the product with the phrase of this round. */
  private readonly products: Int32Array
  private readonly productRounds: Int32Array
  /** The words with similar signs in this round, and by word number their products; 0 for all other words. */
  private readonly similarWords: Int32Array
  private similarWordCount = 0
  private readonly similarProducts: Int32Array
  /** By entry index: the round in which the skill was last compared. */
  private readonly comparedRounds: Int32Array
  private readonly phraseVector: Int32Array
  private readonly phraseSignature = new Int32Array(INTEGERS_PER_SIGNATURE)
  private inversePhraseLength = 0
  /** The cosines of the phrase with the labels of the skill that was compared last: name, highest, mean. */
  nameCosine = 0
  bestCosine = 0
  meanCosine = 0
  /** Increases with every phrase. */
  private round = 0

  constructor(
    labels: Labels,
    postings: Postings,
    model: WordVectors,
    rows: Int32Array,
    knownWords: Int32Array,
    signatures: Int32Array,
    inverseLengths: Float32Array,
  ) {
    this.labels = labels
    this.postings = postings
    this.model = model
    this.rows = rows
    this.knownWords = knownWords
    this.signatures = signatures
    this.inverseLengths = inverseLengths
    this.products = new Int32Array(rows.length)
    this.productRounds = new Int32Array(rows.length)
    this.similarWords = new Int32Array(knownWords.length)
    this.similarProducts = new Int32Array(rows.length)
    this.comparedRounds = new Int32Array(labels.names.length)
    this.phraseVector = new Int32Array(model.dimensions)
  }

  /** Returns the arguments of the constructor. */
  storedParts(): ConstructorParameters<typeof LabelVectors> {
    const { labels, postings, model, rows, knownWords, signatures, inverseLengths } = this
    return [labels, postings, model, rows, knownWords, signatures, inverseLengths]
  }

  /** Sets the phrase that the other methods compare. Returns the fraction of its words that have a vector. */
  setPhrase(words: readonly string[]): number {
    const { phraseVector, model } = this
    const { dimensions, vectors } = model
    this.round++
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
    this.inversePhraseLength = squares > 0 ? 1 / Math.sqrt(squares) : 0
    return squares > 0 ? knownCount / words.length : 0
  }

  /** Sets the cosines of the phrase with the labels of a skill. */
  compare(entryIndex: number): void {
    const { products, productRounds, round, inverseLengths, inversePhraseLength } = this
    const { labelStarts, wordStarts, words } = this.labels
    const first = labelStarts[entryIndex]!
    const end = labelStarts[entryIndex + 1]!
    let best = 0
    let sum = 0
    for (let label = first, at = wordStarts[first]!; label < end; label++) {
      const labelEnd = wordStarts[label + 1]!
      let product = 0
      for (; at < labelEnd; at++) {
        const word = words[at]!
        product += productRounds[word] === round ? products[word]! : this.computeProduct(word)
      }
      const cosine = product * inverseLengths[label]! * inversePhraseLength
      if (label === first) this.nameCosine = cosine
      sum += cosine
      if (cosine > best) best = cosine
    }
    this.bestCosine = best
    this.meanCosine = sum / (end - first)
  }

  /**
   * Returns the entry indexes of up to `count` skills whose best label has the highest cosine, and at least `minCosine`. Compares only
   * skills with a word that is similar to the phrase, and counts only such words, so the cosines are approximate.
   */
  nearest(count: number, minCosine: number): number[] {
    this.findSimilarWords()
    const nearest: { entryIndex: number; cosine: number }[] = []
    for (const entryIndex of this.skillsWithSimilarWords()) {
      const cosine = this.approximateBestCosineOf(entryIndex)
      if (cosine >= minCosine) nearest.push({ entryIndex, cosine })
    }
    return nearest
      .sort((a, b) => b.cosine - a.cosine || a.entryIndex - b.entryIndex)
      .slice(0, count)
      .map(({ entryIndex }) => entryIndex)
  }

  private approximateBestCosineOf(entryIndex: number): number {
    const { similarProducts, inverseLengths } = this
    const { labelStarts, wordStarts, words } = this.labels
    const end = labelStarts[entryIndex + 1]!
    let best = 0
    for (let label = labelStarts[entryIndex]!, at = wordStarts[label]!; label < end; label++) {
      const labelEnd = wordStarts[label + 1]!
      let product = 0
      for (; at < labelEnd; at++) product += similarProducts[words[at]!]!
      if (product <= 0) continue
      const cosine = product * inverseLengths[label]!
      if (cosine > best) best = cosine
    }
    return best * this.inversePhraseLength
  }

  private skillsWithSimilarWords(): number[] {
    const { comparedRounds, round } = this
    const { starts, entryIndexes } = this.postings
    const found: number[] = []
    for (const word of this.mostSimilarWords()) {
      for (let at = starts[word]!; at < starts[word + 1]!; at++) {
        const entryIndex = entryIndexes[at]!
        if (comparedRounds[entryIndex] === round) continue
        comparedRounds[entryIndex] = round
        found.push(entryIndex)
      }
      if (found.length >= MAX_COMPARED_SKILLS) break
    }
    return found
  }

  /** Returns words of the catalogue with the highest products with the phrase. */
  private mostSimilarWords(): number[] {
    const { similarWords, similarProducts } = this
    const { starts } = this.postings
    const best: number[] = []
    let lowestProduct = 0
    for (let i = 0; i < this.similarWordCount; i++) {
      const word = similarWords[i]!
      const product = similarProducts[word]!
      if (product <= lowestProduct || starts[word + 1]! - starts[word]! > MAX_SKILLS_PER_WORD) continue
      let at = best.length
      while (at > 0 && similarProducts[best[at - 1]!]! < product) at--
      best.splice(at, 0, word)
      if (best.length > MAX_SIMILAR_WORDS) best.pop()
      if (best.length === MAX_SIMILAR_WORDS) lowestProduct = similarProducts[best.at(-1)!]!
    }
    return best
  }

  /** Finds the words with similar signs. Comparing signs takes a small fraction of the time of multiplying all vectors. */
  private findSimilarWords(): void {
    const { knownWords, signatures, phraseVector, phraseSignature, similarWords, similarProducts } = this
    for (let i = 0; i < this.similarWordCount; i++) similarProducts[similarWords[i]!] = 0
    phraseSignature.fill(0)
    setSignature(phraseVector, 0, phraseVector.length, phraseSignature, 0)
    const [bits0, bits1, bits2, bits3] = phraseSignature as unknown as [number, number, number, number]
    const maxDifferences = Math.floor(phraseVector.length * MAX_DIFFERENT_SIGNS)
    let count = 0
    for (let i = 0, at = 0; i < knownWords.length; i++, at += INTEGERS_PER_SIGNATURE) {
      const fours01 = countBitsPerFour(bits0 ^ signatures[at]!) + countBitsPerFour(bits1 ^ signatures[at + 1]!)
      const fours23 = countBitsPerFour(bits2 ^ signatures[at + 2]!) + countBitsPerFour(bits3 ^ signatures[at + 3]!)
      const eights =
        (fours01 & 0x0f0f0f0f) +
        ((fours01 >>> 4) & 0x0f0f0f0f) +
        (fours23 & 0x0f0f0f0f) +
        ((fours23 >>> 4) & 0x0f0f0f0f)
      if (Math.imul(eights, 0x01010101) >>> 24 <= maxDifferences) similarWords[count++] = knownWords[i]!
    }
    this.similarWordCount = count
    for (let i = 0; i < count; i++) similarProducts[similarWords[i]!] = this.computeProduct(similarWords[i]!)
  }

  /** Computes the dot product of the vectors of the phrase and of a catalogue word, and caches it. */
  private computeProduct(word: number): number {
    const { phraseVector, model } = this
    const { dimensions, vectors } = model
    const row = this.rows[word]!
    let product = 0
    if (row >= 0) {
      const from = row * dimensions
      for (let d = 0; d < dimensions; d++) product += Math.imul(phraseVector[d]!, vectors[from + d]!)
    }
    this.productRounds[word] = this.round
    this.products[word] = product
    return product
  }
}

export function* buildLabelVectors(labels: Labels, postings: Postings, model: WordVectors): SlicedTask<LabelVectors> {
  const { words: catalogueWords } = labels.vocabulary
  const { dimensions, vectors } = model
  const rows = new Int32Array(catalogueWords.length)
  let knownCount = 0
  for (let word = 0; word < rows.length; word++) {
    rows[word] = rowOfWord(model, catalogueWords[word]!)
    if (rows[word]! >= 0) knownCount++
    if (word % 2048 === 2047) yield
  }
  const knownWords = new Int32Array(knownCount)
  const signatures = new Int32Array(knownCount * INTEGERS_PER_SIGNATURE)
  for (let word = 0, i = 0; word < rows.length; word++) {
    if (rows[word]! < 0) continue
    const from = rows[word]! * dimensions
    setSignature(vectors, from, dimensions, signatures, i * INTEGERS_PER_SIGNATURE)
    knownWords[i++] = word
    if (i % 2048 === 0) yield
  }
  const inverseLengths = new Float32Array(labels.entryIndexOfLabel.length)
  const unknownSquare = meanSquare(model)
  for (let from = 0; from < inverseLengths.length; from += 1024) {
    addInverseLengths(
      labels,
      model,
      rows,
      unknownSquare,
      inverseLengths,
      from,
      Math.min(inverseLengths.length, from + 1024),
    )
    yield
  }
  return new LabelVectors(labels, postings, model, rows, knownWords, signatures, inverseLengths)
}

/** Stores one bit for each number of a vector: 1 if it is positive. */
function setSignature(
  vectors: Int8Array | Int32Array,
  from: number,
  dimensions: number,
  signatures: Int32Array,
  to: number,
): void {
  for (let d = 0; d < dimensions; d++) if (vectors[from + d]! > 0) signatures[to + (d >> 5)]! |= 1 << (d & 31)
}

/** Returns the numbers of bits that are 1, for each group of four bits. */
function countBitsPerFour(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  return (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
}

/** Returns the mean squared length of the vectors. */
function meanSquare({ hashes, vectors }: WordVectors): number {
  let squares = 0
  for (let i = 0; i < vectors.length; i++) squares += vectors[i]! * vectors[i]!
  return squares / Math.max(1, hashes.length)
}

/**
 * Sets 1 / the length of the vectors of the labels `from` up to `to`. A word without a vector counts like a vector of mean length that
 * is orthogonal to all others.
 */
function addInverseLengths(
  { wordStarts, words }: Labels,
  { dimensions, vectors }: WordVectors,
  rows: Int32Array,
  unknownSquare: number,
  inverseLengths: Float32Array,
  from: number,
  to: number,
): void {
  const sum = new Int32Array(dimensions)
  for (let label = from; label < to; label++) {
    sum.fill(0)
    let unknownCount = 0
    for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
      const row = rows[words[at]!]!
      if (row < 0) unknownCount++
      else for (let d = 0; d < dimensions; d++) sum[d]! += vectors[row * dimensions + d]!
    }
    let squares = unknownCount * unknownSquare
    for (let d = 0; d < dimensions; d++) squares += sum[d]! * sum[d]!
    inverseLengths[label] = squares > 0 ? 1 / Math.sqrt(squares) : 0
  }
}
