/** A list of candidates, of which some are correct. */
export interface RankedList {
  features: number[][]
  isCorrect: boolean[]
}

/** Number of steps, size of a step, and decay of the averages of the gradient and its square (Adam). */
const STEPS = 120
const STEP_SIZE = 0.1
const LAST_STEPS = 40
const LAST_STEP_SIZE = 0.03
const MOMENTUM = 0.9
const SQUARE_DECAY = 0.99

/** Minimises a function of some weights. `addGradient` adds the gradient at the weights to its second argument. */
function minimise(size: number, addGradient: (weights: Float64Array, gradient: Float64Array) => void): Float64Array {
  const weights = new Float64Array(size)
  const means = new Float64Array(size)
  const squares = new Float64Array(size)
  for (let step = 1; step <= STEPS; step++) {
    const gradient = new Float64Array(size)
    addGradient(weights, gradient)
    for (let i = 0; i < size; i++) {
      means[i] = MOMENTUM * means[i]! + (1 - MOMENTUM) * gradient[i]!
      squares[i] = SQUARE_DECAY * squares[i]! + (1 - SQUARE_DECAY) * gradient[i]! ** 2
      const mean = means[i]! / (1 - MOMENTUM ** step)
      const square = squares[i]! / (1 - SQUARE_DECAY ** step)
      weights[i]! -= ((step > STEPS - LAST_STEPS ? LAST_STEP_SIZE : STEP_SIZE) * mean) / (Math.sqrt(square) + 1e-8)
    }
  }
  return weights
}

/** Means and standard deviations of the features. Both models are fitted to standardised features. */
function standardise(rows: readonly number[][]): { means: number[]; deviations: number[] } {
  const means = rows[0]!.map((_, f) => rows.reduce((sum, row) => sum + row[f]!, 0) / rows.length)
  const deviations = means.map(
    (mean, f) => Math.sqrt(rows.reduce((sum, row) => sum + (row[f]! - mean) ** 2, 0) / rows.length) + 1e-6,
  )
  return { means, deviations }
}

/** Returns the weights of a linear model that ranks the correct candidates of each list first (softmax over the list). */
export function fitRanking(lists: readonly RankedList[], l2: number): number[] {
  const usable = lists.filter(({ isCorrect }) => isCorrect.some(Boolean))
  const allRows = usable.flatMap(({ features }) => features)
  const { means, deviations } = standardise(allRows)
  const width = means.length
  const values = Float64Array.from({ length: allRows.length * width }, (_, i) => {
    const f = i % width
    return (allRows[Math.floor(i / width)]![f]! - means[f]!) / deviations[f]!
  })
  const targets = Float64Array.from(
    usable.flatMap(({ isCorrect }) => {
      const correctCount = isCorrect.filter(Boolean).length
      return isCorrect.map((correct) => (correct ? 1 / correctCount : 0))
    }),
  )
  const scores = new Float64Array(allRows.length)
  const weights = minimise(width, (current, gradient) => {
    for (let f = 0; f < width; f++) gradient[f]! += l2 * current[f]!
    let from = 0
    for (const { features } of usable) {
      const to = from + features.length
      addListGradient(values, targets, scores, from, to, current, gradient, 1 / usable.length)
      from = to
    }
  })
  return Array.from(weights, (weight, f) => weight / deviations[f]!)
}

/** Adds the gradient of the cross-entropy of the candidates `from` up to `to`, which are one list. */
function addListGradient(
  values: Float64Array,
  targets: Float64Array,
  scores: Float64Array,
  from: number,
  to: number,
  weights: Float64Array,
  gradient: Float64Array,
  factor: number,
): void {
  const width = weights.length
  let max = Number.NEGATIVE_INFINITY
  for (let row = from; row < to; row++) {
    let score = 0
    for (let f = 0; f < width; f++) score += values[row * width + f]! * weights[f]!
    scores[row] = score
    if (score > max) max = score
  }
  let total = 0
  for (let row = from; row < to; row++) {
    scores[row] = Math.exp(scores[row]! - max)
    total += scores[row]!
  }
  for (let row = from; row < to; row++) {
    const error = (scores[row]! / total - targets[row]!) * factor
    for (let f = 0; f < width; f++) gradient[f]! += error * values[row * width + f]!
  }
}

/** Returns the weights of a logistic regression, and its intercept as the last item. */
export function fitProbability(rows: readonly number[][], isCorrect: readonly boolean[], l2: number): number[] {
  const { means, deviations } = standardise(rows)
  const scaled = rows.map((row) => [...row.map((value, f) => (value - means[f]!) / deviations[f]!), 1])
  const weights = minimise(means.length + 1, (current, gradient) => {
    for (let f = 0; f < means.length; f++) gradient[f]! += l2 * current[f]!
    scaled.forEach((row, i) => {
      const logit = row.reduce((sum, value, f) => sum + value * current[f]!, 0)
      const error = 1 / (1 + Math.exp(-logit)) - (isCorrect[i] ? 1 : 0)
      for (let f = 0; f < row.length; f++) gradient[f]! += (error * row[f]!) / scaled.length
    })
  })
  const slopes = Array.from(weights.slice(0, -1), (weight, f) => weight / deviations[f]!)
  const intercept = weights.at(-1)! - slopes.reduce((sum, slope, f) => sum + slope * means[f]!, 0)
  return [...slopes, intercept]
}
