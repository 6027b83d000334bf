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

/** Returns the only name that contains all words of the input, in the singular or plural: `event_types` for `types`. */
export function onlyNameWithWords(input: string, names: readonly string[]): string | undefined {
  if (input.length > MAX_INPUT_LENGTH) return undefined
  const inputWords = wordsOf(input)
  if (inputWords.length === 0) return undefined
  const matches = names.filter((name) => {
    const words = wordsOf(name)
    return inputWords.every((word) => words.includes(word))
  })
  return matches.length === 1 ? matches[0] : undefined
}

function wordsOf(name: string): string[] {
  const words = name
    .replace(/[a-z0-9](?=[A-Z])/g, '$&_')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.filter((word) => word !== '').map((word) => word.replace(/(?<=..)s$/, ''))
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
