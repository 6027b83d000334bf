import type { Labels } from '../labels/labels.ts'
import type { Postings } from '../labels/postings.ts'
import type { SkillWords } from '../labels/skill-words.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { type VectorProducts, vectorProducts } from './vector-products.ts'
import { rowOfWord, type WordVectors } from './word-vectors.ts'

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
  private readonly skillWords: SkillWords
  private readonly model: WordVectors
  /** By word number: the row of its vector, or -1. */
  private readonly rows: Int32Array
  /** The numbers of the words that have a vector, and their rows, in the order of the rows, because reading memory in order is fast. */
  private readonly knownWords: Int32Array
  private readonly knownRows: Int32Array
  /** By label: 1 / the length of its vector; 0 if no word has a vector. */
  private readonly inverseLengths: Float32Array
  /** By word number: the product with the phrase of this round. */
  private readonly products: Int32Array
  private readonly productRounds: Int32Array
  /** The words with similar signs in this round, and by word number their products; 0 for all other words. */
  private readonly similarWords: Int32Array
  private similarWordCount = 0
  private readonly similarProducts: Int32Array
  /** By position among the words of the skill that is compared: the product with the phrase. */
  private readonly skillProducts: Int32Array
  /** By entry index: the round in which the skill was last compared. */
  private readonly comparedRounds: Int32Array
  /** Created by the first phrase. */
  private vectorProducts: VectorProducts | undefined
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
    skillWords: SkillWords,
    model: WordVectors,
    rows: Int32Array,
    inverseLengths: Float32Array,
  ) {
    this.labels = labels
    this.postings = postings
    this.skillWords = skillWords
    this.model = model
    this.rows = rows
    this.knownWords = Int32Array.from(rows.keys())
      .filter((word) => rows[word]! >= 0)
      .sort((a, b) => rows[a]! - rows[b]!)
    this.knownRows = this.knownWords.map((word) => rows[word]!)
    this.inverseLengths = inverseLengths
    this.products = new Int32Array(rows.length)
    this.productRounds = new Int32Array(rows.length)
    this.similarWords = new Int32Array(this.knownWords.length)
    this.similarProducts = new Int32Array(rows.length)
    this.skillProducts = new Int32Array(skillWords.maxCount)
    this.comparedRounds = new Int32Array(labels.names.length)
  }

  /** Returns the arguments of the constructor. */
  storedParts(): ConstructorParameters<typeof LabelVectors> {
    const { labels, postings, skillWords, model, rows, inverseLengths } = this
    return [labels, postings, skillWords, model, rows, inverseLengths]
  }

  /** Sets the phrase that the other methods compare. Returns the fraction of its words that have a vector. */
  setPhrase(words: readonly string[]): number {
    this.round++
    this.vectorProducts ??= vectorProducts(this.model)
    const { knownCount, length } = this.vectorProducts.setPhrase(words)
    this.inversePhraseLength = length > 0 ? 1 / length : 0
    return length > 0 ? knownCount / words.length : 0
  }

  /** Sets the cosines of the phrase with the labels of a skill. */
  compare(entryIndex: number): void {
    const { products, productRounds, round, skillProducts, inverseLengths, inversePhraseLength } = this
    const { labelStarts, wordStarts } = this.labels
    const { starts, words, positions } = this.skillWords
    const firstWord = starts[entryIndex]!
    const wordCount = starts[entryIndex + 1]! - firstWord
    for (let i = 0; i < wordCount; i++) {
      const word = words[firstWord + i]!
      skillProducts[i] = productRounds[word] === round ? products[word]! : this.computeProduct(word)
    }
    const first = labelStarts[entryIndex]!
    const end = labelStarts[entryIndex + 1]!
    let best = 0
    let sum = 0
    for (let label = first, at = wordStarts[first]!; label < end; label++) {
      const labelEnd = wordStarts[label + 1]!
      let product = 0
      for (; at < labelEnd; at++) product += skillProducts[positions[at]!]!
      const cosine = product * inverseLengths[label]! * inversePhraseLength
      if (label === first) this.nameCosine = cosine
      sum += cosine
      if (cosine > best) best = cosine
    }
    this.bestCosine = best
    this.meanCosine = sum / (end - first)
  }

  /**
   * Returns the entry indexes of up to `count` skills whose best label has the highest cosine, and at least `minCosine`, best first.
   * Compares only skills with a word that is similar to the phrase, and counts only such words, so the cosines are approximate.
   */
  nearest(count: number, minCosine: number): number[] {
    this.findSimilarWords()
    const nearest: number[] = []
    const cosines: number[] = []
    for (const entryIndex of this.skillsWithSimilarWords()) {
      const cosine = this.approximateBestCosineOf(entryIndex)
      if (cosine < minCosine) continue
      let at = nearest.length
      while (at > 0 && isBetter(cosine, entryIndex, cosines[at - 1]!, nearest[at - 1]!)) at--
      if (at === count) continue
      nearest.splice(at, 0, entryIndex)
      cosines.splice(at, 0, cosine)
      if (nearest.length <= count) continue
      nearest.pop()
      cosines.pop()
    }
    return nearest
  }

  private approximateBestCosineOf(entryIndex: number): number {
    const { similarProducts, skillProducts, inverseLengths } = this
    const { labelStarts, wordStarts } = this.labels
    const { starts, words, positions } = this.skillWords
    const firstWord = starts[entryIndex]!
    const wordCount = starts[entryIndex + 1]! - firstWord
    for (let i = 0; i < wordCount; i++) skillProducts[i] = similarProducts[words[firstWord + i]!]!
    const end = labelStarts[entryIndex + 1]!
    let best = 0
    for (let label = labelStarts[entryIndex]!, at = wordStarts[label]!; label < end; label++) {
      const labelEnd = wordStarts[label + 1]!
      let product = 0
      for (; at < labelEnd; at++) product += skillProducts[positions[at]!]!
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

  /** Returns words of the catalogue with the highest products with the phrase, best first; of equal products, the word with the lower number. */
  private mostSimilarWords(): number[] {
    const { similarWords, similarProducts } = this
    const { starts } = this.postings
    const best: number[] = []
    let lowestProduct = 1
    for (let i = 0; i < this.similarWordCount; i++) {
      const word = similarWords[i]!
      const product = similarProducts[word]!
      if (product < lowestProduct || starts[word + 1]! - starts[word]! > MAX_SKILLS_PER_WORD) continue
      let at = best.length
      while (at > 0 && isBetter(product, word, similarProducts[best[at - 1]!]!, best[at - 1]!)) at--
      if (at === MAX_SIMILAR_WORDS) continue
      best.splice(at, 0, word)
      if (best.length > MAX_SIMILAR_WORDS) best.pop()
      if (best.length === MAX_SIMILAR_WORDS) lowestProduct = similarProducts[best.at(-1)!]!
    }
    return best
  }

  /** Finds the words with similar signs, and their products. Comparing signs takes a small fraction of the time of multiplying all vectors. */
  private findSimilarWords(): void {
    const { knownWords, similarWords, similarProducts, products, productRounds, round } = this
    for (let i = 0; i < this.similarWordCount; i++) similarProducts[similarWords[i]!] = 0
    const maxDifferences = Math.floor(this.model.dimensions * MAX_DIFFERENT_SIGNS)
    const count = this.vectorProducts!.findSimilar(this.knownRows, maxDifferences)
    const { similar } = this.vectorProducts!
    for (let i = 0; i < count; i++) {
      const word = knownWords[similar[i * 2]!]!
      const product = similar[i * 2 + 1]!
      similarWords[i] = word
      similarProducts[word] = product
      products[word] = product
      productRounds[word] = round
    }
    this.similarWordCount = count
  }

  /** Computes the dot product of the vectors of the phrase and of a catalogue word, and keeps it for this round. */
  private computeProduct(word: number): number {
    const row = this.rows[word]!
    const product = row >= 0 ? this.vectorProducts!.productOf(row) : 0
    this.productRounds[word] = this.round
    this.products[word] = product
    return product
  }
}

export function* buildLabelVectors(
  labels: Labels,
  postings: Postings,
  skillWords: SkillWords,
  model: WordVectors,
): SlicedTask<LabelVectors> {
  const { words: catalogueWords } = labels.vocabulary
  const rows = new Int32Array(catalogueWords.length)
  for (let word = 0; word < rows.length; word++) {
    rows[word] = rowOfWord(model, catalogueWords[word]!)
    if (word % 2048 === 2047) yield
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
  return new LabelVectors(labels, postings, skillWords, model, rows, inverseLengths)
}

/** Whether an item has a higher value than another one, or the same value and a lower number. */
function isBetter(value: number, number: number, otherValue: number, otherNumber: number): boolean {
  return value > otherValue || (value === otherValue && number < otherNumber)
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
