/** The name that was probably meant: the same but for case and underscores, or but for a slip of the finger. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  if (given.length > 60) return undefined
  const plain = plainName(given)
  const most = plain.length < 4 ? 0 : plain.length < 8 ? 1 : 2
  let closest: string | undefined
  let fewest = most + 1
  for (const name of names) {
    const edits = editsBetween(plain, plainName(name), fewest)
    if (edits < fewest) [closest, fewest] = [name, edits]
  }
  return closest
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Letters to add, leave out, exchange or swap; `enough` or more count alike. */
function editsBetween(a: string, b: string, enough: number): number {
  if (Math.abs(a.length - b.length) >= enough) return enough
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let edits = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) edits = Math.min(edits, before[j - 2]! + 1)
      next.push(edits)
    }
    ;[before, row] = [row, next]
  }
  return Math.min(enough, row[b.length]!)
}
