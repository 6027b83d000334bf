import { MAX_SPOKEN_PHRASE_WORDS, spokenPhrases } from '../lexicon/lexicon.ts'

/**
 * Replaces everyday phrases by the terms of the catalogue (spoken-phrases.txt). Returns undefined if the words contain no such
 * phrase.
 */
export function replaceSpokenPhrases(words: readonly string[]): string[] | undefined {
  const replacedWords: string[] = []
  let hasReplacement = false
  for (let at = 0; at < words.length; ) {
    let matchedWordCount = 0
    for (
      let length = Math.min(MAX_SPOKEN_PHRASE_WORDS, words.length - at);
      length > 1 && matchedWordCount === 0;
      length--
    ) {
      const replacement = spokenPhrases.get(words.slice(at, at + length).join(' '))
      if (!replacement) continue
      replacedWords.push(...replacement.split(' '))
      matchedWordCount = length
    }
    if (matchedWordCount > 0) hasReplacement = true
    else replacedWords.push(words[at]!)
    at += matchedWordCount || 1
  }
  return hasReplacement ? replacedWords : undefined
}
