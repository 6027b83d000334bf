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
  const height = a.length
  const width = asPrefix ? Math.min(b.length, height + limit) : b.length
  if (height > WIDTH || width > WIDTH || Math.abs(height - width) > limit) return over
  let [older, previous, current] = rows as unknown as Uint8Array[]
  for (let j = 0; j <= width; j++) previous![j] = j
  for (let i = 1; i <= height; i++) {
    const from = Math.max(1, i - limit)
    const to = Math.min(width, i + limit)
    const letter = a.charCodeAt(i - 1)
    current![from - 1] = from === 1 ? i : over
    let least = from === 1 ? i : over
    for (let j = from; j <= to; j++) {
      const other = b.charCodeAt(j - 1)
      let cost = previous![j - 1]! + (letter === other ? 0 : 1)
      if (j < i + limit && previous![j]! + 1 < cost) cost = previous![j]! + 1
      if (current![j - 1]! + 1 < cost) cost = current![j - 1]! + 1
      if (i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && other === a.charCodeAt(i - 2)) {
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
