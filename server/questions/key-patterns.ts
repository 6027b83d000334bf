import { wordsOf } from './text.ts'

/**
 * Finds patterns that reveal the keys of a set of items. Each item may be fine by itself, but if the text of a person made the model end
 * every key with the same word, a person who knows the word can find the keys.
 */

export interface ItemWithKey {
  options: readonly string[]
  key: number
}

export interface KeyPattern {
  /** Description of the pattern, such as `word "zebra"`. */
  pattern: string
  /** Indices of the items whose key is the only option with the pattern. */
  items: number[]
}

/** A word, phrase or symbol is a pattern if it singles out this many keys, or this share of them, whichever is more. */
const MIN_TEXT_ITEMS = 3
const MIN_TEXT_SHARE = 0.4
/** A text pattern may single out a distractor in one of this many items, so that a few distractors do not hide it. */
const MIN_KEYS_PER_DISTRACTOR = 4
/** Forms such as a first letter or the longest option occur by chance more often, so they must single out nearly all keys. */
const MIN_FORM_ITEMS = 5
const MIN_FORM_SHARE = 0.8

/** Returns the patterns of the keys; empty for sets whose keys look like the other options. */
export function findKeyPatterns(items: readonly ItemWithKey[]): KeyPattern[] {
  const minTextItems = Math.max(MIN_TEXT_ITEMS, Math.ceil(items.length * MIN_TEXT_SHARE))
  const minFormItems = Math.max(MIN_FORM_ITEMS, Math.ceil(items.length * MIN_FORM_SHARE))
  const patterns: KeyPattern[] = []
  for (const [pattern, { keys, distractors }] of countSingledOut(items, textFeatures))
    if (keys.length >= minTextItems && keys.length >= distractors * MIN_KEYS_PER_DISTRACTOR)
      patterns.push({ pattern, items: keys })
  for (const [pattern, { keys, distractors }] of countSingledOut(items, formFeatures))
    if (keys.length >= minFormItems && distractors === 0) patterns.push({ pattern, items: keys })
  return patterns
}

interface SingledOut {
  /** Indices of the items in which only the key has the feature. */
  keys: number[]
  /** Number of items in which only a distractor has it. */
  distractors: number
}

type FeatureFunction = (option: string, options: readonly string[]) => Set<string>

/** Counts for each feature how often exactly one of the four options has it, and whether that is the key. */
function countSingledOut(items: readonly ItemWithKey[], featuresOf: FeatureFunction): Map<string, SingledOut> {
  const counts = new Map<string, SingledOut>()
  for (const [index, { options, key }] of items.entries()) {
    const optionFeatures = options.map((option) => featuresOf(option, options))
    for (const [optionIndex, features] of optionFeatures.entries())
      for (const feature of features) {
        if (optionFeatures.some((others, other) => other !== optionIndex && others.has(feature))) continue
        let count = counts.get(feature)
        if (!count) {
          count = { keys: [], distractors: 0 }
          counts.set(feature, count)
        }
        if (optionIndex === key) count.keys.push(index)
        else count.distractors++
      }
  }
  return counts
}

/** Returns the words, the pairs of neighbouring words, and the characters other than letters, digits and spaces. */
function textFeatures(option: string): Set<string> {
  const words = wordsOf(option).filter((word) => /\p{L}/u.test(word))
  const pairs = words.slice(1).map((word, index) => `phrase "${words[index]} ${word}"`)
  const symbols = option.match(/[^\p{L}\p{M}\p{N}\s]/gu) ?? []
  return new Set([
    ...words.map((word) => `word "${word}"`),
    ...pairs,
    ...symbols.map((symbol) => `character "${symbol}"`),
  ])
}

/** Returns the first and the last letter, the number of words, and the position by length. */
function formFeatures(option: string, options: readonly string[]): Set<string> {
  const letters = option.toLowerCase().match(/\p{L}/gu) ?? []
  const isLonger = options.filter((other) => other.length > option.length).length
  const wordCount = wordsOf(option).length
  return new Set([
    `first letter "${letters[0]}"`,
    `last letter "${letters.at(-1)}"`,
    `${wordCount} words`,
    wordCount % 2 === 0 ? 'an even number of words' : 'an odd number of words',
    `length at position ${isLonger + 1}`,
  ])
}
