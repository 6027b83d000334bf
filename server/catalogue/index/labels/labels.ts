import { isFiller } from '../lexicon/filler-words.ts'
import { Int32List } from '../text/int32-list.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { Tokens } from '../text/tokens.ts'
import { WordTable } from '../text/word-table.ts'
import { buildVocabulary, type Vocabulary } from './vocabulary.ts'

/** A skill to be indexed. */
export interface SkillEntry {
  /** N of `sk_N`. */
  number: number
  name: string
  aliases: readonly string[]
  /** Whether people can be tested on the skill, which raises its prior. */
  verifiable?: boolean
  /** The sub-skill that contains the skill. */
  sub?: SkillGroup
}

export interface SkillGroup {
  number: number
  name: string
  master: { number: number }
}

/** Kinds of labels: the name of a skill, the name without a note in brackets ("Java" of "Java (computer programming)"), an alias. */
export const NAME = 0
export const BARE_NAME = 1
export const ALIAS = 2

/** Letter cases of a label: no capitals, some capitals, all capitals. */
export const LOWER_CASE = 0
const MIXED_CASE = 1
export const UPPER_CASE = 2

/** Every name and alias as a list of word numbers, by skill number, in flat arrays. */
export interface Labels {
  vocabulary: Vocabulary
  /** The number and name of each skill. */
  numbers: Int32Array
  names: readonly string[]
  /** The labels of skill e are labelStarts[e] up to labelStarts[e + 1]; the first is its name. */
  labelStarts: Int32Array
  entryOfLabel: Int32Array
  kinds: Uint8Array
  /** Letter cases of labels of a single word. */
  letterCases: Uint8Array
  /** Number of letters of each label, without fillers and spaces. */
  lengths: Uint16Array
  /** The words of label l are words[wordStarts[l]] up to words[wordStarts[l + 1]]. */
  wordStarts: Int32Array
  words: Int32Array
}

const NOTE_IN_BRACKETS = /\s*[([][^)\]]*[)\]]\s*$/
const MAX_STORED_LABEL_LENGTH = 65_535

export interface BuiltLabels {
  /** Sorted by number. */
  entries: readonly SkillEntry[]
  labels: Labels
  /** The gap before each of the labels' words, as in `Tokens`. */
  gaps: Uint8Array
}

export function* buildLabels(unsortedEntries: readonly SkillEntry[]): SlicedTask<BuiltLabels> {
  const entries = isSorted(unsortedEntries) ? unsortedEntries : [...unsortedEntries].sort((a, b) => a.number - b.number)
  yield
  const wordTable = new WordTable()
  const tokens = new Tokens()
  const words = new Int32List()
  const wordStarts = new Int32List()
  const entryOfLabel = new Int32List()
  const kinds = new Int32List()
  const lengths = new Int32List()
  const gaps = new Int32List()
  const letterCases = new Int32List()
  const isFillerWord = new Int32List()
  const labelStarts = new Int32Array(entries.length + 1)
  wordStarts.push(0)

  const addLabel = (entry: number, text: string, kind: number) => {
    tokens.read(text)
    if (tokens.count === 0) return
    const firstWord = words.size
    let contentLength = 0
    for (let i = 0; i < tokens.count; i++) {
      gaps.push(tokens.gaps[i]!)
      const word = wordTable.add(tokens.hashes[i]!, tokens.chars, tokens.charStarts[i]!, tokens.charStarts[i + 1]!)
      if (word === isFillerWord.size) isFillerWord.push(isFiller(tokens.hashes[i]!) ? 1 : 0)
      if (isFillerWord.items[word] === 0) contentLength += tokens.charStarts[i + 1]! - tokens.charStarts[i]!
      words.push(word)
    }
    for (let label = labelStarts[entry]!; label < entryOfLabel.size; label++) {
      const otherFirstWord = wordStarts.items[label]!
      if (
        wordStarts.items[label + 1]! - otherFirstWord !== tokens.count ||
        !sameWords(words, otherFirstWord, firstWord, tokens.count)
      )
        continue
      words.size = firstWord
      gaps.size = firstWord
      return
    }
    wordStarts.push(words.size)
    entryOfLabel.push(entry)
    kinds.push(kind)
    letterCases.push(tokens.count === 1 ? letterCaseOf(text) : LOWER_CASE)
    lengths.push(Math.min(MAX_STORED_LABEL_LENGTH, contentLength || tokens.charStarts[tokens.count]!))
  }

  // V8 does not optimise loops inside generators, so the loops are in functions of their own.
  const addEntries = (from: number, to: number) => {
    for (let entry = from; entry < to; entry++) {
      const { name, aliases } = entries[entry]!
      addLabel(entry, name, NAME)
      if (NOTE_IN_BRACKETS.test(name)) addLabel(entry, name.replace(NOTE_IN_BRACKETS, ''), BARE_NAME)
      for (const alias of aliases) addLabel(entry, alias, ALIAS)
      labelStarts[entry + 1] = entryOfLabel.size
    }
  }
  for (let from = 0; from < entries.length; from += 256) {
    addEntries(from, Math.min(entries.length, from + 256))
    yield
  }
  const { vocabulary, ranks } = yield* buildVocabulary(wordTable)
  for (let from = 0; from < words.size; from += 65_536) {
    renumber(words.items, from, Math.min(words.size, from + 65_536), ranks)
    yield
  }
  const numbers = new Int32Array(entries.length)
  const names: string[] = []
  for (let entry = 0; entry < entries.length; entry++) {
    numbers[entry] = entries[entry]!.number
    names.push(entries[entry]!.name)
    if (entry % 16_384 === 16_383) yield
  }
  const labels = {
    vocabulary,
    numbers,
    names,
    labelStarts,
    entryOfLabel: entryOfLabel.toArray(),
    kinds: new Uint8Array(kinds.toArray()),
    letterCases: new Uint8Array(letterCases.toArray()),
    lengths: new Uint16Array(lengths.toArray()),
    wordStarts: wordStarts.toArray(),
    words: words.toArray(),
  }
  return { entries, labels, gaps: new Uint8Array(gaps.toArray()) }
}

export function letterCaseOf(text: string): number {
  if (text === text.toLowerCase()) return LOWER_CASE
  return text === text.toUpperCase() ? UPPER_CASE : MIXED_CASE
}

function renumber(items: Int32Array, from: number, to: number, numbers: Int32Array): void {
  for (let i = from; i < to; i++) items[i] = numbers[items[i]!]!
}

function isSorted(entries: readonly SkillEntry[]): boolean {
  for (let i = 1; i < entries.length; i++) if (entries[i]!.number < entries[i - 1]!.number) return false
  return true
}

function sameWords(words: Int32List, a: number, b: number, count: number): boolean {
  for (let i = 0; i < count; i++) if (words.items[a + i] !== words.items[b + i]) return false
  return true
}
