import { editDistance, typoTolerance } from '../text/edit-distance.ts'

/** Returns the name that was probably meant: equal except for case and punctuation, or within the typo tolerance. */
export function closestName(input: string, names: readonly string[]): string | undefined {
  if (input.length > 60) return undefined
  const plainInput = plainName(input)
  let closest: string | undefined
  let fewest = typoTolerance(plainInput.length) + 1
  for (const name of names) {
    const edits = editDistance(plainInput, plainName(name), fewest - 1)
    if (edits < fewest) [closest, fewest] = [name, edits]
  }
  return closest
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
