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
    options: optionWords(options.join(' ')),
  }
}

/** Returns the content words, or the numbers if there are no content words. */
function optionWords(text: string): Set<string> {
  const words = contentWords(text)
  return words.size > 0 ? words : new Set(wordsOf(text))
}

export function isSameQuestion(a: ItemWords, b: ItemWords): boolean {
  // The same stem with other options can be a different question: "Which tool do you take?"
  if (a.wholeStem === b.wholeStem) return jaccardSimilarity(a.options, b.options) >= MIN_OPTION_SIMILARITY
  const stemSimilarity = jaccardSimilarity(a.stem, b.stem)
  if (stemSimilarity < MIN_STEM_SIMILARITY_WITH_SAME_OPTIONS) return false
  // Calculations have no options in common, whatever their numbers are, and are compared by their stems.
  const optionSimilarity =
    a.options.size + b.options.size === 0 ? MIN_OPTION_SIMILARITY : jaccardSimilarity(a.options, b.options)
  return (
    (stemSimilarity >= MIN_STEM_SIMILARITY && optionSimilarity >= MIN_OPTION_SIMILARITY) ||
    optionSimilarity >= MIN_SAME_OPTION_SIMILARITY
  )
}

export function findDuplicates(items: readonly Pick<CheckedItem, 'stem' | 'options'>[]): DuplicatePair[] {
  const wordsByItem = items.map(itemWords)
  const pairs: DuplicatePair[] = []
  for (const [firstIndex, secondIndex] of similarStems(wordsByItem)) {
    if (!isSameQuestion(wordsByItem[firstIndex]!, wordsByItem[secondIndex]!)) continue
    pairs.push({
      firstIndex,
      secondIndex,
      message: `asks the same question as ${JSON.stringify(items[firstIndex]!.stem)}`,
    })
  }
  return pairs
}

/**
 * Returns the pairs of items whose stems can be similar enough, without comparing all pairs. If half of the words of two stems are the
 * same, then one of the rarer words of each, a little more than half of them, is the same too (prefix filtering: Chaudhuri, Ganti and
 * Kaushik 2006).
 */
function* similarStems(items: readonly ItemWords[]): Generator<[number, number]> {
  const frequencies = new Map<string, number>()
  for (const { stem } of items) for (const word of stem) frequencies.set(word, (frequencies.get(word) ?? 0) + 1)
  const indexesByWord = new Map<string, number[]>()
  for (const [index, { stem, wholeStem }] of items.entries()) {
    // Stems without content words are compared as a whole.
    const words = stem.size > 0 ? [...stem] : [wholeStem]
    const byRarity = words.sort(
      (a, b) => (frequencies.get(a) ?? 0) - (frequencies.get(b) ?? 0) || (a < b ? -1 : a > b ? 1 : 0),
    )
    const rareCount = words.length - Math.ceil(words.length * MIN_STEM_SIMILARITY_WITH_SAME_OPTIONS) + 1
    const others = new Set<number>()
    for (const word of byRarity.slice(0, rareCount)) {
      const indexes = indexesByWord.get(word)
      for (const other of indexes ?? []) others.add(other)
      if (indexes) indexes.push(index)
      else indexesByWord.set(word, [index])
    }
    for (const other of others) yield [other, index]
  }
}

/** Jaccard similarity: shared words divided by all words of both. */
function jaccardSimilarity(a: Set<string>, b: Set<string>): number {
  if (a.size === 0 || b.size === 0) return a.size === b.size ? 1 : 0
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return shared / (a.size + b.size - shared)
}
