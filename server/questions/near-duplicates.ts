import type { CheckedItem } from './checks.ts'
import { contentWords, foldText, wordsOf } from './text.ts'

/** Two items, by index in the list, that ask the same or nearly the same question. */
export interface DuplicatePair {
  firstIndex: number
  secondIndex: number
  message: string
}

/** The words of an item that are compared. */
interface ItemWords {
  /** All words of the stem. */
  wholeStem: string
  /** Content words of the stem and of the options. */
  stem: Set<string>
  options: Set<string>
}

/**
 * Minimum similarities of two questions that count as the same: the stems and some of the options are similar, or the stems are less
 * similar and most of the options are the same.
 */
const MIN_STEM_SIMILARITY = 0.8
const MIN_OPTION_SIMILARITY = 0.3
const MIN_STEM_SIMILARITY_WITH_SAME_OPTIONS = 0.5
const MIN_SAME_OPTION_SIMILARITY = 0.6

export function itemWords({ stem, options }: Pick<CheckedItem, 'stem' | 'options'>): ItemWords {
  return {
    wholeStem: wordsOf(foldText(stem)).join(' '),
    stem: contentWords(stem),
    options: contentWords(options.join(' ')),
  }
}

export function isSameQuestion(a: ItemWords, b: ItemWords): boolean {
  const optionSimilarity = jaccardSimilarity(a.options, b.options)
  // The same stem with other options can be a different question: "Which tool do you take?"
  if (a.wholeStem === b.wholeStem) return optionSimilarity >= MIN_OPTION_SIMILARITY
  const stemSimilarity = jaccardSimilarity(a.stem, b.stem)
  return (
    (stemSimilarity >= MIN_STEM_SIMILARITY && optionSimilarity >= MIN_OPTION_SIMILARITY) ||
    (stemSimilarity >= MIN_STEM_SIMILARITY_WITH_SAME_OPTIONS && optionSimilarity >= MIN_SAME_OPTION_SIMILARITY)
  )
}

export function findDuplicates(items: readonly Pick<CheckedItem, 'stem' | 'options'>[]): DuplicatePair[] {
  const wordsByItem = items.map(itemWords)
  const pairs: DuplicatePair[] = []
  for (let firstIndex = 0; firstIndex < wordsByItem.length; firstIndex++) {
    for (let secondIndex = firstIndex + 1; secondIndex < wordsByItem.length; secondIndex++) {
      if (!isSameQuestion(wordsByItem[firstIndex]!, wordsByItem[secondIndex]!)) continue
      pairs.push({
        firstIndex,
        secondIndex,
        message: `asks the same question as ${JSON.stringify(items[firstIndex]!.stem)}`,
      })
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
