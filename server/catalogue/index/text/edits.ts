const WIDTH = 64
const rows = [new Uint8Array(WIDTH + 1), new Uint8Array(WIDTH + 1), new Uint8Array(WIDTH + 1)] as const

/** How many edits a word of this length may be away: none below 4 letters, one up to 7, two above. */
export function editsAllowed(length: number): number {
  return length < 4 ? 0 : length < 8 ? 1 : 2
}

/**
 * Edits between two words, where swapping two neighbours is one edit; `limit + 1` when there are more than `limit`. With
 * `asPrefix` the edits to the nearest beginning of `b`. Only the diagonal band that can stay within the limit is computed.
 */
export function editDistance(a: string, b: string, limit: number, asPrefix = false): number {
  const over = limit + 1
  const reach = asPrefix ? Math.min(b.length, a.length + limit) : b.length
  if (a.length > WIDTH || reach > WIDTH || Math.abs(a.length - reach) > limit) return over
  // What both begin and end with takes no edits.
  let start = 0
  const shorter = Math.min(a.length, reach)
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start++
  let same = 0
  if (!asPrefix)
    while (same < shorter - start && a.charCodeAt(a.length - 1 - same) === b.charCodeAt(reach - 1 - same)) same++
  const height = a.length - start - same
  const width = reach - start - same
  if (height === 0) return asPrefix ? 0 : width
  if (width === 0) return height > limit ? over : height
  let [older, previous, current] = rows as unknown as Uint8Array[]
  for (let j = 0; j <= width; j++) previous![j] = j
  for (let i = 1; i <= height; i++) {
    const from = Math.max(1, i - limit)
    const to = Math.min(width, i + limit)
    const letter = a.charCodeAt(start + i - 1)
    const before = i > 1 ? a.charCodeAt(start + i - 2) : -1
    current![from - 1] = from === 1 ? i : over
    let least = from === 1 ? i : over
    for (let j = from; j <= to; j++) {
      const other = b.charCodeAt(start + j - 1)
      let cost = previous![j - 1]! + (letter === other ? 0 : 1)
      if (j < i + limit && previous![j]! + 1 < cost) cost = previous![j]! + 1
      if (current![j - 1]! + 1 < cost) cost = current![j - 1]! + 1
      if (j > 1 && before === other && letter === b.charCodeAt(start + j - 2)) {
        cost = Math.min(cost, older![j - 2]! + 1)
      }
      current![j] = cost
      if (cost < least) least = cost
    }
    if (least > limit) return over
    const spare = older!
    older = previous!
    previous = current!
    current = spare
  }
  if (!asPrefix) return Math.min(previous![width]!, over)
  let nearest = over
  for (let j = Math.max(0, height - limit); j <= width; j++) nearest = Math.min(nearest, previous![j]!)
  return nearest
}

/** Letters that fit the bits of a number. */
const BITS = 31

/**
 * How many edits a word is at least away from others, when it is held against many: a whole column of the table at a time, one
 * bit a cell, after Hyyrö. Letters that share their last eight bits count as the same, so that it may say too few and never too
 * many; `editDistance` has the last word.
 */
export class FewestEdits {
  private word = ''
  private readonly places = new Int32Array(256)

  from(word: string): void {
    const { places } = this
    for (let i = 0; i < this.word.length; i++) places[this.word.charCodeAt(i) & 255] = 0
    this.word = word
    if (word.length > BITS) return
    for (let i = 0; i < word.length; i++) places[word.charCodeAt(i) & 255]! |= 1 << i
  }

  to(other: string): number {
    const { places } = this
    const { length } = this.word
    if (length > BITS) return 0
    const last = 1 << (length - 1)
    let edits = length
    let up = -1
    let down = 0
    let same = 0
    let before = 0
    for (let i = 0; i < other.length; i++) {
      const here = places[other.charCodeAt(i) & 255]!
      const swapped = ((~same & here) << 1) & before
      same = (((here & up) + up) ^ up) | here | down | swapped
      const right = down | ~(same | up)
      const left = same & up
      if (right & last) edits++
      else if (left & last) edits--
      const shifted = (right << 1) | 1
      up = (left << 1) | ~(same | shifted)
      down = shifted & same
      before = here
    }
    return edits
  }
}
