import { closestName } from '../platform/http/did-you-mean.ts'
import type { SearchEntry } from './search.ts'

const MIN_WORD_LENGTH = 4
/** A word that occurs less often can be a misspelling itself, or a part of an example. */
const MIN_OCCURRENCES = 3

/** Words of the documentation that a misspelt word of a query may mean, the most frequent first. */
export function readVocabulary(entries: SearchEntry[]): string[] {
  const counts = new Map<string, number>()
  for (const { headingLower, textLower } of entries)
    for (const [word] of `${headingLower} ${textLower}`.matchAll(/\p{L}[\p{L}\p{M}]+/gu))
      if (word.length >= MIN_WORD_LENGTH) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count >= MIN_OCCURRENCES)
    .sort((a, b) => b[1] - a[1])
    .map(([word]) => word)
}

/** Returns the words with those that the documentation does not contain replaced by similar ones; undefined if there are none. */
export function correctWords(vocabulary: string[], entries: SearchEntry[], words: string[]): string[] | undefined {
  const corrected = words.map((word) => {
    const isKnown = entries.some(
      ({ headingLower, textLower }) => headingLower.includes(word) || textLower.includes(word),
    )
    return isKnown ? word : (closestName(word, vocabulary) ?? word)
  })
  return corrected.some((word, index) => word !== words[index]) ? corrected : undefined
}
