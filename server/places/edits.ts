/**
 * How many letters must be changed, added, left out or swapped with their neighbour to turn `text` into `other`, as far
 * as `most`; beyond it, `most + 1`. With `prefix`, the rest of `other` past the best place is free of charge.
 */
export function edits(text: string, other: string, most: number, prefix = false): number {
  const width = text.length
  if (width - other.length > most || (!prefix && other.length - width > most)) return most + 1
  let before = rows[0]!
  let above = rows[1]!
  let row = rows[2]!
  for (let i = 0; i <= width; i++) above[i] = i
  let best = width
  // Letters of `other` further on than the text is long can only be additions.
  const last = Math.min(other.length, width + most)
  for (let j = 1; j <= last; j++) {
    row[0] = j
    let least = j
    const letter = other.charCodeAt(j - 1)
    for (let i = 1; i <= width; i++) {
      const same = text.charCodeAt(i - 1) === letter
      let cost = Math.min(above[i - 1]! + (same ? 0 : 1), above[i]! + 1, row[i - 1]! + 1)
      if (i > 1 && j > 1 && text.charCodeAt(i - 2) === letter && text.charCodeAt(i - 1) === other.charCodeAt(j - 2)) {
        cost = Math.min(cost, before[i - 2]! + 1)
      }
      row[i] = cost
      if (cost < least) least = cost
    }
    if (row[width]! < best) best = row[width]!
    if (least > most) return prefix ? Math.min(best, most + 1) : most + 1
    ;[before, above, row] = [above, row, before]
  }
  return Math.min(prefix ? best : above[width]!, most + 1)
}

/** Longer texts than this are no names of places. */
export const LONGEST = 100

const rows = Array.from({ length: 3 }, () => new Uint8Array(LONGEST + 1))
