import type { PhrasePair } from './phrase-pairs.ts'

export interface ContrastiveOptions {
  dimensions: number
  batchSize: number
  /** Cosines are multiplied by this before the softmax. */
  scale: number
  learningRate: number
}

/**
 * Trains word vectors so that the two texts of a pair have a higher cosine than each of them has with the texts of the other pairs
 * of its batch. The loss is the cross-entropy of the softmax over the batch, in both directions. The vector of a text is the sum of
 * the vectors of its words. Steps are scaled for each word by the squares of its earlier gradients (Adagrad).
 */
export class ContrastiveTrainer {
  private readonly values: Float32Array
  private readonly rowOf: (word: string) => number
  private readonly options: ContrastiveOptions
  /** By row: the sum of the squared gradients. */
  private readonly squares: Float32Array

  constructor(values: Float32Array, rowOf: (word: string) => number, options: ContrastiveOptions) {
    this.values = values
    this.rowOf = rowOf
    this.options = options
    this.squares = new Float32Array(values.length / options.dimensions)
  }

  /** Trains on all pairs once. Returns the mean loss. */
  trainEpoch(pairs: readonly PhrasePair[]): number {
    let loss = 0
    let batches = 0
    for (let from = 0; from + this.options.batchSize <= pairs.length; from += this.options.batchSize) {
      loss += this.trainBatch(pairs.slice(from, from + this.options.batchSize))
      batches++
    }
    return loss / batches
  }

  private trainBatch(pairs: readonly PhrasePair[]): number {
    const { dimensions, scale } = this.options
    const size = pairs.length
    const left = pairs.map((pair) => this.encode(pair.left))
    const right = pairs.map((pair) => this.encode(pair.right))
    const logits = new Float32Array(size * size)
    for (let i = 0; i < size; i++)
      for (let j = 0; j < size; j++) {
        const isOtherTextOfSkill = i !== j && pairs[i]!.skill === pairs[j]!.skill
        logits[i * size + j] = isOtherTextOfSkill ? -1e9 : scale * dot(left[i]!.unit, right[j]!.unit)
      }
    const gradients = new Float32Array(size * size)
    const loss = softmaxGradients(logits, gradients, size, size, 1) + softmaxGradients(logits, gradients, size, 1, size)
    for (let i = 0; i < size; i++) {
      const leftGradient = new Float32Array(dimensions)
      const rightGradient = new Float32Array(dimensions)
      for (let j = 0; j < size; j++) {
        addScaled(leftGradient, right[j]!.unit, gradients[i * size + j]! * scale)
        addScaled(rightGradient, left[j]!.unit, gradients[j * size + i]! * scale)
      }
      this.update(left[i]!, leftGradient)
      this.update(right[i]!, rightGradient)
    }
    return loss / (2 * size)
  }

  private encode(words: readonly string[]): EncodedText {
    const { dimensions } = this.options
    const rows: number[] = []
    const unit = new Float32Array(dimensions)
    for (const word of words) {
      const row = this.rowOf(word)
      if (row < 0) continue
      rows.push(row)
      for (let d = 0; d < dimensions; d++) unit[d]! += this.values[row * dimensions + d]!
    }
    const length = Math.sqrt(dot(unit, unit)) + 1e-6
    for (let d = 0; d < dimensions; d++) unit[d]! /= length
    return { rows, unit, length }
  }

  /** Moves the words of a text against the gradient of its unit vector. */
  private update({ rows, unit, length }: EncodedText, gradient: Float32Array): void {
    const { dimensions, learningRate } = this.options
    const along = dot(gradient, unit)
    let square = 0
    for (let d = 0; d < dimensions; d++) {
      gradient[d] = (gradient[d]! - along * unit[d]!) / length
      square += gradient[d]! ** 2
    }
    for (const row of rows) {
      this.squares[row]! += square / dimensions
      const step = learningRate / Math.sqrt(this.squares[row]! + 1e-8)
      for (let d = 0; d < dimensions; d++) this.values[row * dimensions + d]! -= step * gradient[d]!
    }
  }
}

interface EncodedText {
  rows: number[]
  unit: Float32Array
  /** Length of the sum of the word vectors. */
  length: number
}

/**
 * Adds the gradients of the cross-entropy of each line of a matrix, where the diagonal is correct. Lines are `lineStep` apart, their
 * items `itemStep`. Returns the sum of the losses.
 */
function softmaxGradients(
  logits: Float32Array,
  gradients: Float32Array,
  size: number,
  lineStep: number,
  itemStep: number,
): number {
  let loss = 0
  for (let line = 0; line < size; line++) {
    let max = Number.NEGATIVE_INFINITY
    for (let i = 0; i < size; i++) max = Math.max(max, logits[line * lineStep + i * itemStep]!)
    let sum = 0
    for (let i = 0; i < size; i++) sum += Math.exp(logits[line * lineStep + i * itemStep]! - max)
    for (let i = 0; i < size; i++) {
      const at = line * lineStep + i * itemStep
      gradients[at]! += (Math.exp(logits[at]! - max) / sum - (i === line ? 1 : 0)) / (2 * size)
    }
    loss -= logits[line * lineStep + line * itemStep]! - max - Math.log(sum)
  }
  return loss
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let d = 0; d < a.length; d++) sum += a[d]! * b[d]!
  return sum
}

function addScaled(target: Float32Array, source: Float32Array, factor: number): void {
  for (let d = 0; d < target.length; d++) target[d]! += source[d]! * factor
}
