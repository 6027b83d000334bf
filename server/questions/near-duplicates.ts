import type { CheckedItem } from './checks.ts'
import { fold, tellingWordsOf, wordsOf } from './text.ts'

/** Pairs of items that ask the same thing, word for word or nearly. */
export interface Pair {
  one: number
  other: number
  message: string
}

interface Sketch {
  exact: string
  stem: Set<string>
  options: Set<string>
}

/** Share of telling words from which on two texts are taken for the same. */
const STEM_ALONE = 0.8
const STEM_WITH_OPTIONS = 0.5
const OPTIONS = 0.6

export function sketch({ stem, options }: Pick<CheckedItem, 'stem' | 'options'>): Sketch {
  return {
    exact: wordsOf(fold(stem)).join(' '),
    stem: tellingWordsOf(stem),
    options: tellingWordsOf(options.join(' ')),
  }
}

export function sameQuestion(a: Sketch, b: Sketch): boolean {
  const options = likeness(a.options, b.options)
  // One stem may serve for other cases: "Which tool do you take?" asks something else with other options.
  if (a.exact === b.exact) return options >= 0.3
  const stems = likeness(a.stem, b.stem)
  return (stems >= STEM_ALONE && options >= 0.3) || (stems >= STEM_WITH_OPTIONS && options >= OPTIONS)
}

export function findDuplicates(items: readonly Pick<CheckedItem, 'stem' | 'options'>[]): Pair[] {
  const sketches = items.map(sketch)
  const pairs: Pair[] = []
  for (let one = 0; one < sketches.length; one++) {
    for (let other = one + 1; other < sketches.length; other++) {
      if (!sameQuestion(sketches[one]!, sketches[other]!)) continue
      pairs.push({ one, other, message: `asks the same as ${JSON.stringify(items[one]!.stem)}` })
    }
  }
  return pairs
}

/** Words shared, of all words of both. */
function likeness(a: Set<string>, b: Set<string>): number {
  if (a.size === 0 || b.size === 0) return a.size === b.size ? 1 : 0
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return shared / (a.size + b.size - shared)
}
