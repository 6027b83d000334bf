/**
 * A linear-chain conditional random field with two independent chains (spans of skills and of knowledge) over the same features,
 * trained by AdaGrad. Labels are O, B and I. The score of O is 0, so each feature has four weights: B and I of each chain.
 */

const OUTPUTS = 4
const STATES = 3
const CHAINS = 2
const TRANSITIONS = STATES * STATES

export interface Example {
  count: number
  /** The features of token t are rows[rowStarts[t]] up to rowStarts[t + 1], with their values. */
  rowStarts: Int32Array
  rows: Int32Array
  values: Float32Array
  /** By token: the number of its word vector, or -1. */
  vectors: Int32Array
  gapKinds: Uint8Array
  /** By token: the first token of its sentence, and the index after the last one. */
  sentenceStarts: Int32Array
  sentenceEnds: Int32Array
  /** By chain and token: bit set of the allowed labels; 7 if the token is not labelled. */
  allowed: Uint8Array[]
}

export interface CrfOptions {
  rowCount: number
  gapKindCount: number
  /** Gap kinds from here on end a span. */
  firstHardGap: number
  /** The gap kind before a sentence. */
  sentenceGap: number
  vectors: Float32Array
  dimensions: number
  learningRate: number
  l2: number
  denseL2: number
}

/** The word vectors are dense features, which need a lower learning rate. */
const DENSE_RATE_FACTOR = 0.3
/** Offsets of the words whose vectors are used. */
const VECTOR_OFFSETS = [-2, -1, 0, 1, 2]

export class Crf {
  readonly weights: Float32Array
  readonly transitions: Float32Array
  readonly dense: Float32Array
  private readonly gradients: Float32Array
  private readonly transitionGradients: Float32Array
  private readonly denseGradients: Float32Array
  private readonly denseErrors: Float32Array
  private readonly options: CrfOptions
  private emissions = new Float64Array(0)
  private errors = new Float64Array(0)
  constructor(options: CrfOptions) {
    this.options = options
    this.weights = new Float32Array(options.rowCount * OUTPUTS)
    this.gradients = new Float32Array(options.rowCount * OUTPUTS).fill(1e-6)
    this.transitions = new Float32Array(CHAINS * options.gapKindCount * TRANSITIONS)
    this.transitionGradients = new Float32Array(this.transitions.length).fill(1e-6)
    this.dense = new Float32Array(VECTOR_OFFSETS.length * options.dimensions * OUTPUTS)
    this.denseGradients = new Float32Array(this.dense.length).fill(1e-6)
    this.denseErrors = new Float32Array(this.dense.length)
  }

  /** Computes the scores of B and I of each token and chain. */
  computeEmissions(example: Example): Float64Array {
    const { count, rowStarts, rows, values, vectors, sentenceStarts, sentenceEnds } = example
    if (this.emissions.length < count * OUTPUTS) {
      this.emissions = new Float64Array(count * OUTPUTS * 2)
      this.errors = new Float64Array(count * OUTPUTS * 2)
    }
    const { emissions, weights, dense } = this
    const { dimensions, vectors: table } = this.options
    emissions.fill(0, 0, count * OUTPUTS)
    for (let t = 0; t < count; t++) {
      const out = t * OUTPUTS
      for (let k = rowStarts[t]!; k < rowStarts[t + 1]!; k++) {
        const row = rows[k]! * OUTPUTS
        const value = values[k]!
        for (let o = 0; o < OUTPUTS; o++) emissions[out + o]! += value * weights[row + o]!
      }
      for (let v = 0; v < VECTOR_OFFSETS.length; v++) {
        const other = t + VECTOR_OFFSETS[v]!
        if (other < sentenceStarts[t]! || other >= sentenceEnds[t]! || vectors[other]! < 0) continue
        const from = vectors[other]! * dimensions
        for (let d = 0; d < dimensions; d++) {
          const x = table[from + d]!
          const w = (v * dimensions + d) * OUTPUTS
          for (let o = 0; o < OUTPUTS; o++) emissions[out + o]! += x * dense[w + o]!
        }
      }
    }
    return emissions
  }

  /** Makes one step on an example and returns its negative log-likelihood. */
  train(example: Example): number {
    const { count, rowStarts, rows, values, vectors, sentenceStarts, sentenceEnds } = example
    if (count === 0) return 0
    this.computeEmissions(example)
    const { errors, weights, gradients, dense, denseGradients } = this
    errors.fill(0, 0, count * OUTPUTS)
    const { learningRate, l2, denseL2, dimensions, vectors: table } = this.options
    const transitionErrors = new Float64Array(this.transitions.length)
    const denseErrors = this.denseErrors.fill(0)
    let loss = 0
    for (let chain = 0; chain < CHAINS; chain++) {
      loss += this.addExpectations(example, chain, undefined, 1, transitionErrors)
      loss -= this.addExpectations(example, chain, example.allowed[chain], -1, transitionErrors)
    }
    for (let t = 0; t < count; t++) {
      const out = t * OUTPUTS
      for (let k = rowStarts[t]!; k < rowStarts[t + 1]!; k++) {
        const row = rows[k]! * OUTPUTS
        for (let o = 0; o < OUTPUTS; o++) {
          const g = errors[out + o]! * values[k]! + l2 * weights[row + o]!
          gradients[row + o]! += g * g
          weights[row + o]! -= (learningRate * g) / Math.sqrt(gradients[row + o]!)
        }
      }
      for (let v = 0; v < VECTOR_OFFSETS.length; v++) {
        const other = t + VECTOR_OFFSETS[v]!
        if (other < sentenceStarts[t]! || other >= sentenceEnds[t]! || vectors[other]! < 0) continue
        const from = vectors[other]! * dimensions
        for (let d = 0; d < dimensions; d++) {
          const x = table[from + d]!
          const w = (v * dimensions + d) * OUTPUTS
          for (let o = 0; o < OUTPUTS; o++) denseErrors[w + o]! += errors[out + o]! * x
        }
      }
    }
    for (let i = 0; i < dense.length; i++) {
      const g = denseErrors[i]! + denseL2 * dense[i]!
      denseGradients[i]! += g * g
      dense[i]! -= (learningRate * DENSE_RATE_FACTOR * g) / Math.sqrt(denseGradients[i]!)
    }
    for (let i = 0; i < transitionErrors.length; i++) {
      const g = transitionErrors[i]!
      if (g === 0) continue
      this.transitionGradients[i]! += g * g
      this.transitions[i]! -= (learningRate * g) / Math.sqrt(this.transitionGradients[i]!)
    }
    return loss
  }

  /** Returns the score of an output that a word vector adds to a token; the word is at VECTOR_OFFSETS[role] from the token. */
  vectorScore(vector: number, role: number, output: number): number {
    const { dimensions, vectors } = this.options
    let score = 0
    for (let d = 0; d < dimensions; d++)
      score += vectors[vector * dimensions + d]! * this.dense[(role * dimensions + d) * OUTPUTS + output]!
    return score
  }

  private emission(chain: number, t: number, state: number): number {
    return state === 0 ? 0 : this.emissions[t * OUTPUTS + chain * 2 + state - 1]!
  }

  private transition(chain: number, gap: number, previous: number, state: number): number {
    if (state === 2 && (previous === 0 || gap >= this.options.firstHardGap)) return Number.NEGATIVE_INFINITY
    return this.transitions[this.transitionIndex(chain, gap, previous, state)]!
  }

  /** The labels of a sentence do not depend on those of the sentence before it. */
  private transitionIndex(chain: number, gap: number, previous: number, state: number): number {
    const { gapKindCount, sentenceGap } = this.options
    return (chain * gapKindCount + gap) * TRANSITIONS + (gap === sentenceGap ? 0 : previous) * STATES + state
  }

  /** Adds `sign` times the expected counts of labels and transitions to the errors; returns the log of the partition function. */
  private addExpectations(
    { count, gapKinds }: Example,
    chain: number,
    allowed: Uint8Array | undefined,
    sign: number,
    transitionErrors: Float64Array,
  ): number {
    const forward = new Float64Array(count * STATES).fill(Number.NEGATIVE_INFINITY)
    const backward = new Float64Array(count * STATES).fill(Number.NEGATIVE_INFINITY)
    const isAllowed = (t: number, state: number) => !allowed || (allowed[t]! & (1 << state)) !== 0
    for (let s = 0; s < STATES; s++)
      if (isAllowed(0, s)) forward[s] = this.transition(chain, gapKinds[0]!, 0, s) + this.emission(chain, 0, s)
    for (let t = 1; t < count; t++)
      for (let s = 0; s < STATES; s++) {
        if (!isAllowed(t, s)) continue
        let sum = Number.NEGATIVE_INFINITY
        for (let p = 0; p < STATES; p++)
          sum = logAdd(sum, forward[(t - 1) * STATES + p]! + this.transition(chain, gapKinds[t]!, p, s))
        forward[t * STATES + s] = sum + this.emission(chain, t, s)
      }
    for (let s = 0; s < STATES; s++) if (isAllowed(count - 1, s)) backward[(count - 1) * STATES + s] = 0
    for (let t = count - 2; t >= 0; t--)
      for (let s = 0; s < STATES; s++) {
        if (!isAllowed(t, s)) continue
        let sum = Number.NEGATIVE_INFINITY
        for (let n = 0; n < STATES; n++)
          sum = logAdd(
            sum,
            backward[(t + 1) * STATES + n]! +
              this.transition(chain, gapKinds[t + 1]!, s, n) +
              this.emission(chain, t + 1, n),
          )
        backward[t * STATES + s] = sum
      }
    let total = Number.NEGATIVE_INFINITY
    for (let s = 0; s < STATES; s++) total = logAdd(total, forward[(count - 1) * STATES + s]!)
    if (total === Number.NEGATIVE_INFINITY) throw new Error('the labels of an example contradict the constraints')
    for (let t = 0; t < count; t++) {
      for (let s = 1; s < STATES; s++)
        this.errors[t * OUTPUTS + chain * 2 + s - 1]! +=
          sign * Math.exp(forward[t * STATES + s]! + backward[t * STATES + s]! - total)
      for (let p = 0; p < STATES; p++) {
        if (t === 0 && p > 0) break
        for (let s = 0; s < STATES; s++) {
          const before = t === 0 ? 0 : forward[(t - 1) * STATES + p]!
          const expectation = Math.exp(
            before +
              this.transition(chain, gapKinds[t]!, p, s) +
              this.emission(chain, t, s) +
              backward[t * STATES + s]! -
              total,
          )
          if (expectation > 0) transitionErrors[this.transitionIndex(chain, gapKinds[t]!, p, s)]! += sign * expectation
        }
      }
    }
    return total
  }

  /** Returns the most probable labels of a chain. `bias` is added to the score of O. */
  decode(example: Example, chain: number, bias: number): Uint8Array {
    const { count, gapKinds } = example
    const labels = new Uint8Array(count)
    if (count === 0) return labels
    const scores = new Float64Array(count * STATES)
    const back = new Uint8Array(count * STATES)
    for (let t = 0; t < count; t++)
      for (let s = 0; s < STATES; s++) {
        let best = Number.NEGATIVE_INFINITY
        for (let p = 0; p < STATES; p++) {
          if (t === 0 && p > 0) break
          const score = (t === 0 ? 0 : scores[(t - 1) * STATES + p]!) + this.transition(chain, gapKinds[t]!, p, s)
          if (score > best) {
            best = score
            back[t * STATES + s] = p
          }
        }
        scores[t * STATES + s] = best + this.emission(chain, t, s) + (s === 0 ? bias : 0)
      }
    let state = 0
    for (let s = 1; s < STATES; s++)
      if (scores[(count - 1) * STATES + s]! > scores[(count - 1) * STATES + state]!) state = s
    for (let t = count - 1; t >= 0; t--) {
      labels[t] = state
      state = back[t * STATES + state]!
    }
    return labels
  }
}

function logAdd(a: number, b: number): number {
  if (a === Number.NEGATIVE_INFINITY) return b
  if (b === Number.NEGATIVE_INFINITY) return a
  return a > b ? a + Math.log1p(Math.exp(b - a)) : b + Math.log1p(Math.exp(a - b))
}
