import { MAX_SPOKEN_PHRASE_WORDS, spokenPhrases } from '../lexicon/lexicon.ts'

/** Replaces spoken phrases by the words of the catalogue; undefined if there are none. */
export function replaceSpokenPhrases(words: readonly string[]): string[] | undefined {
  const replaced: string[] = []
  let changed = false
  for (let at = 0; at < words.length; ) {
    let taken = 0
    for (let length = Math.min(MAX_SPOKEN_PHRASE_WORDS, words.length - at); length > 1 && taken === 0; length--) {
      const replacement = spokenPhrases.get(words.slice(at, at + length).join(' '))
      if (!replacement) continue
      replaced.push(...replacement.split(' '))
      taken = length
    }
    if (taken > 0) changed = true
    else replaced.push(words[at]!)
    at += taken || 1
  }
  return changed ? replaced : undefined
}
