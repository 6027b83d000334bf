import type { CheckedItem } from './checks.ts'
import { contentWords, foldText, wordsOf } from './text.ts'

/** Finds pairs of items that ask the same, literally or nearly. */
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

/** Similarity of content words above which two texts count as the same. */
const STEM_SIMILARITY = 0.8
const STEM_SIMILARITY_WITH_OPTIONS = 0.5
const OPTION_SIMILARITY = 0.6

export function sketch({ stem, options }: Pick<CheckedItem, 'stem' | 'options'>): Sketch {
  return {
    exact: wordsOf(foldText(stem)).join(' '),
    stem: contentWords(stem),
    options: contentWords(options.join(' ')),
  }
}

export function isSameQuestion(a: Sketch, b: Sketch): boolean {
  const options = jaccardSimilarity(a.options, b.options)
  // The same stem with other options can be a different question: "Which tool do you take?"
  if (a.exact === b.exact) return options >= 0.3
  const stems = jaccardSimilarity(a.stem, b.stem)
  return (
    (stems >= STEM_SIMILARITY && options >= 0.3) ||
    (stems >= STEM_SIMILARITY_WITH_OPTIONS && options >= OPTION_SIMILARITY)
  )
}

export function findDuplicates(items: readonly Pick<CheckedItem, 'stem' | 'options'>[]): Pair[] {
  const sketches = items.map(sketch)
  const pairs: Pair[] = []
  for (let one = 0; one < sketches.length; one++) {
    for (let other = one + 1; other < sketches.length; other++) {
      if (!isSameQuestion(sketches[one]!, sketches[other]!)) continue
      pairs.push({ one, other, message: `asks the same as ${JSON.stringify(items[one]!.stem)}` })
    }
  }
  return pairs
}

/** Jaccard similarity: shared words divided by all words of both. */
function jaccardSimilarity(a: Set<string>, b: Set<string>): number {
  if (a.size === 0 || b.size === 0) return a.size === b.size ? 1 : 0
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return shared / (a.size + b.size - shared)
}
