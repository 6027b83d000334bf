import { editDistance, typoTolerance } from '../text/edit-distance.ts'

/** A longer input gets no suggestion. */
const MAX_INPUT_LENGTH = 60

/** Returns the name that was probably meant: equal except for case and punctuation, or within the typo tolerance. */
export function closestName(input: string, names: readonly string[]): string | undefined {
  if (input.length > MAX_INPUT_LENGTH) return undefined
  const plainInput = plainName(input)
  let closest: string | undefined
  let fewestEdits = typoTolerance(plainInput.length) + 1
  for (const name of names) {
    const edits = editDistance(plainInput, plainName(name), fewestEdits - 1)
    if (edits < fewestEdits) [closest, fewestEdits] = [name, edits]
  }
  return closest
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
