import { isFiller } from '../lexicon/filler-words.ts'
import { regionalNames, tradeTerms } from '../lexicon/lexicon.ts'
import { Int32List } from '../text/int32-list.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { Tokens, tokenize } from '../text/tokens.ts'
import { WordTable } from '../text/word-table.ts'
import { buildVocabulary, type Vocabulary } from './vocabulary.ts'

/** A skill to be indexed. */
export interface SkillEntry {
  /** N of `sk_N`. */
  number: number
  name: string
  aliases: readonly string[]
  /** Whether people can be tested on the skill, which raises its prior. */
  isPreferred?: boolean
  /** The sub-skill to which the skill belongs. */
  sub?: SubSkillEntry
}

/** A group of skills in a master skill. */
export interface SubSkillEntry {
  number: number
  name: string
  master: { number: number }
}

/** Lowest number of an imported skill. Built-in skills have lower numbers. */
export const FIRST_IMPORTED_NUMBER = 1_000_000

/** Kinds of labels; a lower kind takes precedence. */
export const NAME = 0
/** The name without its note in brackets: "Java" for "Java (computer programming)". */
export const BARE_NAME = 1
export const ALIAS = 2

/** Letter cases of a label: no capitals, some capitals, all capitals. */
export const LOWER_CASE = 0
const MIXED_CASE = 1
export const UPPER_CASE = 2

/**
 * The labels (names and aliases) of all skills, as lists of word numbers in flat arrays. Skills are sorted by number. The entry
 * index of a skill is its position in that order, from 0. Labels are numbered in the order of their skills.
 */
export interface Labels {
  vocabulary: Vocabulary
  /** By entry index: N of `sk_N`. */
  numbers: Int32Array
  /** By entry index. */
  names: readonly string[]
  /** The labels of entry index e are labelStarts[e] up to, but not including, labelStarts[e + 1]. The first is the name. */
  labelStarts: Int32Array
  /** By label: the entry index of its skill. */
  entryIndexOfLabel: Int32Array
  /** By label: NAME, BARE_NAME or ALIAS. */
  kinds: Uint8Array
  /** By label: LOWER_CASE, MIXED_CASE or UPPER_CASE for a single word, LOWER_CASE for several words. */
  letterCases: Uint8Array
  /** By label: the number of letters without filler words and spaces; all letters if the label has only filler words. */
  letterCounts: Uint16Array
  /** The words of label l are words[wordStarts[l]] up to, but not including, words[wordStarts[l + 1]]. */
  wordStarts: Int32Array
  words: Int32Array
}

const NOTE_IN_BRACKETS = /\s*[([][^)\]]*[)\]]\s*$/
/** The highest number that an item of `letterCounts` can hold. */
const MAX_STORED_LETTER_COUNT = 65_535

export interface BuiltLabels {
  /** Sorted by number. */
  entries: readonly SkillEntry[]
  labels: Labels
  /** By index in `labels.words`: the GAP_ kind before the word, as in `Tokens`. */
  gaps: Uint8Array
}

/** Tokenizes all names and aliases. Leaves out a label with the same words as an earlier label of the same skill. */
export function* buildLabels(unsortedEntries: readonly SkillEntry[]): SlicedTask<BuiltLabels> {
  const entries = isSorted(unsortedEntries) ? unsortedEntries : [...unsortedEntries].sort((a, b) => a.number - b.number)
  yield
  const wordTable = new WordTable()
  const tokens = new Tokens()
  const words = new Int32List()
  const wordStarts = new Int32List()
  const entryIndexOfLabel = new Int32List()
  const kinds = new Int32List()
  const letterCounts = new Int32List()
  const gaps = new Int32List()
  const letterCases = new Int32List()
  const isFillerWord = new Int32List()
  const labelStarts = new Int32Array(entries.length + 1)
  wordStarts.push(0)

  const addLabel = (entryIndex: number, text: string, kind: number) => {
    tokens.read(text)
    if (tokens.count === 0) return
    const firstWord = words.size
    let contentLetterCount = 0
    for (let i = 0; i < tokens.count; i++) {
      gaps.push(tokens.gaps[i]!)
      const word = wordTable.add(tokens.hashes[i]!, tokens.chars, tokens.charStarts[i]!, tokens.charStarts[i + 1]!)
      // The table numbers words from 0, so a new word has the next number.
      if (word === isFillerWord.size) isFillerWord.push(isFiller(tokens.hashes[i]!) ? 1 : 0)
      if (isFillerWord.items[word] === 0) contentLetterCount += tokens.charStarts[i + 1]! - tokens.charStarts[i]!
      words.push(word)
    }
    // If an earlier label of the skill has the same words, the words are removed again.
    for (let label = labelStarts[entryIndex]!; label < entryIndexOfLabel.size; label++) {
      const otherFirstWord = wordStarts.items[label]!
      if (
        wordStarts.items[label + 1]! - otherFirstWord !== tokens.count ||
        !hasSameWords(words, otherFirstWord, firstWord, tokens.count)
      )
        continue
      words.size = firstWord
      gaps.size = firstWord
      return
    }
    wordStarts.push(words.size)
    entryIndexOfLabel.push(entryIndex)
    kinds.push(kind)
    letterCases.push(tokens.count === 1 ? letterCaseOf(text) : LOWER_CASE)
    letterCounts.push(Math.min(MAX_STORED_LETTER_COUNT, contentLetterCount || tokens.charStarts[tokens.count]!))
  }

  // V8 does not optimise loops inside generators, so the inner loops are in separate functions.
  const addEntries = (from: number, to: number) => {
    for (let entryIndex = from; entryIndex < to; entryIndex++) {
      const { name } = entries[entryIndex]!
      addLabel(entryIndex, name, NAME)
      if (NOTE_IN_BRACKETS.test(name)) addLabel(entryIndex, name.replace(NOTE_IN_BRACKETS, ''), BARE_NAME)
      for (const alias of aliasesOf(entries[entryIndex]!)) addLabel(entryIndex, alias, ALIAS)
      labelStarts[entryIndex + 1] = entryIndexOfLabel.size
    }
  }
  for (let from = 0; from < entries.length; from += 256) {
    addEntries(from, Math.min(entries.length, from + 256))
    yield
  }
  const { vocabulary, ranks } = yield* buildVocabulary(wordTable)
  for (let from = 0; from < words.size; from += 65_536) {
    renumberWords(words.items, from, Math.min(words.size, from + 65_536), ranks)
    yield
  }
  const numbers = new Int32Array(entries.length)
  const names: string[] = []
  for (let entryIndex = 0; entryIndex < entries.length; entryIndex++) {
    numbers[entryIndex] = entries[entryIndex]!.number
    names.push(entries[entryIndex]!.name)
    if (entryIndex % 16_384 === 16_383) yield
  }
  const labels = {
    vocabulary,
    numbers,
    names,
    labelStarts,
    entryIndexOfLabel: entryIndexOfLabel.toArray(),
    kinds: new Uint8Array(kinds.toArray()),
    letterCases: new Uint8Array(letterCases.toArray()),
    letterCounts: new Uint16Array(letterCounts.toArray()),
    wordStarts: wordStarts.toArray(),
    words: words.toArray(),
  }
  return { entries, labels, gaps: new Uint8Array(gaps.toArray()) }
}

/** Returns the aliases of a skill. Built-in skills also have the words of regional-names.txt and trade-terms.txt. */
export function aliasesOf({ number, name, aliases }: SkillEntry): readonly string[] {
  if (number >= FIRST_IMPORTED_NUMBER) return aliases
  const key = tokenize(name).join(' ')
  const names = regionalNames().get(key)
  const terms = tradeTerms().get(key)
  return names || terms ? [...aliases, ...(names ?? []), ...(terms ?? [])] : aliases
}

/** Returns LOWER_CASE for a text without capitals, UPPER_CASE for one without small letters, otherwise MIXED_CASE. */
export function letterCaseOf(text: string): number {
  if (text === text.toLowerCase()) return LOWER_CASE
  return text === text.toUpperCase() ? UPPER_CASE : MIXED_CASE
}

/** Replaces the numbers of the word table by word numbers in sorted order. */
function renumberWords(words: Int32Array, from: number, to: number, ranks: Int32Array): void {
  for (let i = from; i < to; i++) words[i] = ranks[words[i]!]!
}

function isSorted(entries: readonly SkillEntry[]): boolean {
  for (let i = 1; i < entries.length; i++) if (entries[i]!.number < entries[i - 1]!.number) return false
  return true
}

/** Whether the `count` words from index `a` are equal to those from index `b`. */
function hasSameWords(words: Int32List, a: number, b: number, count: number): boolean {
  for (let i = 0; i < count; i++) if (words.items[a + i] !== words.items[b + i]) return false
  return true
}
