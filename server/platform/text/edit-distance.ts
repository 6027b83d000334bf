/** Maximum length of a text; longer texts are treated as too far from every other text. */
export const MAX_EDIT_DISTANCE_LENGTH = 100

const matrixRows = Array.from({ length: 3 }, () => new Uint8Array(MAX_EDIT_DISTANCE_LENGTH + 1))

/** Returns the number of typos tolerated in a word of this length: none below 4 letters, one up to 7, two above. */
export function typoTolerance(length: number): number {
  return length < 4 ? 0 : length < 8 ? 1 : 2
}

/**
 * Returns the number of insertions, deletions, substitutions and swaps of adjacent letters between two texts (optimal string
 * alignment), or `limit + 1` if there are more than `limit`.
 */
export function editDistance(a: string, b: string, limit: number): number {
  return bandedDistance(a, b, limit, false)
}

/** Returns the edit distance between `a` and the closest prefix of `b`, or `limit + 1`. */
export function prefixEditDistance(a: string, b: string, limit: number): number {
  return bandedDistance(a, b, limit, true)
}

/** Computes only the diagonal band of the distance matrix that can stay within the limit. */
function bandedDistance(a: string, b: string, limit: number, asPrefix: boolean): number {
  const overLimit = limit + 1
  const comparedLength = asPrefix ? Math.min(b.length, a.length + limit) : b.length
  if (
    a.length > MAX_EDIT_DISTANCE_LENGTH ||
    comparedLength > MAX_EDIT_DISTANCE_LENGTH ||
    Math.abs(a.length - comparedLength) > limit
  )
    return overLimit
  // A common prefix and suffix need no edits.
  let start = 0
  const shorter = Math.min(a.length, comparedLength)
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start++
  let suffix = 0
  if (!asPrefix)
    while (
      suffix < shorter - start &&
      a.charCodeAt(a.length - 1 - suffix) === b.charCodeAt(comparedLength - 1 - suffix)
    )
      suffix++
  const height = a.length - start - suffix
  const width = comparedLength - start - suffix
  if (height === 0) return asPrefix ? 0 : width
  if (width === 0) return height > limit ? overLimit : height
  let [older, previous, current] = matrixRows as [Uint8Array, Uint8Array, Uint8Array]
  for (let j = 0; j <= width; j++) previous[j] = j
  for (let i = 1; i <= height; i++) {
    const firstColumn = Math.max(1, i - limit)
    const lastColumn = Math.min(width, i + limit)
    const letter = a.charCodeAt(start + i - 1)
    const previousLetter = i > 1 ? a.charCodeAt(start + i - 2) : -1
    current[firstColumn - 1] = firstColumn === 1 ? i : overLimit
    let least = firstColumn === 1 ? i : overLimit
    for (let j = firstColumn; j <= lastColumn; j++) {
      const otherLetter = b.charCodeAt(start + j - 1)
      let cost = previous[j - 1]! + (letter === otherLetter ? 0 : 1)
      if (j < i + limit && previous[j]! + 1 < cost) cost = previous[j]! + 1
      if (current[j - 1]! + 1 < cost) cost = current[j - 1]! + 1
      if (j > 1 && previousLetter === otherLetter && letter === b.charCodeAt(start + j - 2)) {
        cost = Math.min(cost, older[j - 2]! + 1)
      }
      current[j] = cost
      if (cost < least) least = cost
    }
    if (least > limit) return overLimit
    const reusedRow = older
    older = previous
    previous = current
    current = reusedRow
  }
  if (!asPrefix) return Math.min(previous[width]!, overLimit)
  let nearest = overLimit
  for (let j = Math.max(0, height - limit); j <= width; j++) nearest = Math.min(nearest, previous[j]!)
  return nearest
}

/** Maximum length of a word: each letter needs one bit of a 32-bit integer. */
const MAX_BIT_PARALLEL_LENGTH = 31

/**
 * Lower bound of the edit distance from one word to many others: computes a column of the matrix at a time with one bit per
 * cell (Hyyrö's bit-parallel algorithm). Letters that share their last eight bits count as equal, so the bound can be too low
 * and never too high.
 */
export class EditDistanceLowerBound {
  private word = ''
  /** For each letter, the positions at which the word contains it, as a bit set. */
  private readonly positions = new Int32Array(256)

  setWord(word: string): void {
    const { positions } = this
    for (let i = 0; i < this.word.length; i++) positions[this.word.charCodeAt(i) & 255] = 0
    this.word = word
    if (word.length > MAX_BIT_PARALLEL_LENGTH) return
    for (let i = 0; i < word.length; i++) positions[word.charCodeAt(i) & 255]! |= 1 << i
  }

  /** Returns the lower bound of the distance from the word to another one. */
  to(other: string): number {
    const { positions } = this
    const { length } = this.word
    if (length > MAX_BIT_PARALLEL_LENGTH) return 0
    const lastBit = 1 << (length - 1)
    let edits = length
    // Each variable has one bit per cell of a column. `up` and `down`: the cell is one more or one less than the cell above it (VP and
    // VN in the paper). `right` and `left`: one more or one less than the cell to its left (HP and HN). `same`: equal to the cell
    // diagonally before it (D0).
    let up = -1
    let down = 0
    let same = 0
    let previousPositions = 0
    for (let i = 0; i < other.length; i++) {
      const letterPositions = positions[other.charCodeAt(i) & 255]!
      const swapped = ((~same & letterPositions) << 1) & previousPositions
      same = (((letterPositions & up) + up) ^ up) | letterPositions | down | swapped
      const right = down | ~(same | up)
      const left = same & up
      if (right & lastBit) edits++
      else if (left & lastBit) edits--
      const shifted = (right << 1) | 1
      up = (left << 1) | ~(same | shifted)
      down = shifted & same
      previousPositions = letterPositions
    }
    return edits
  }
}
