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
