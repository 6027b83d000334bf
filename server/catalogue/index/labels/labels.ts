import { isFiller } from '../lexicon/filler-words.ts'
import type { Stepwise } from '../text/time-slicing.ts'
import { Tokens } from '../text/tokens.ts'
import { WordTable } from '../text/word-table.ts'
import { buildVocabulary, type Vocabulary } from './vocabulary.ts'

/** A skill as the index takes it. */
export interface SkillEntry {
  /** N of `sk_N`. */
  number: number
  name: string
  aliases: readonly string[]
  /** People can be tested on it: of skills that fit a query alike, the likelier one. */
  verifiable?: boolean
  /** The sub-skill it stands under. */
  sub?: SkillGroup
}

export interface SkillGroup {
  number: number
  name: string
  master: { number: number }
}

/** A skill's own name; its name without a note in brackets ("Java" of "Java (computer programming)"); another name. */
export const NAME = 0
export const BARE_NAME = 1
export const ALIAS = 2

/** How a label is written: all in small letters, with a capital, all in capitals. */
export const SMALL = 0
export const CAPITAL = 1
export const CAPITALS = 2

/** Every name and alias as a list of word numbers, skill by skill in the order of their numbers, all in flat arrays. */
export interface Labels {
  vocabulary: Vocabulary
  /** Of each skill its number and name. */
  numbers: Int32Array
  names: readonly string[]
  /** The labels of skill e are labelStarts[e] up to labelStarts[e + 1]; the first is its name. */
  labelStarts: Int32Array
  entryOf: Int32Array
  kinds: Uint8Array
  /** Of labels of a single word. */
  writing: Uint8Array
  /** Letters of a label's telling words, without spaces. */
  lengths: Uint16Array
  /** The words of label l are words[wordStarts[l]] up to words[wordStarts[l + 1]]. */
  wordStarts: Int32Array
  words: Int32Array
}

const NOTE = /\s*[([][^)\]]*[)\]]\s*$/

export interface LabelsOf {
  /** In the order of their numbers. */
  entries: readonly SkillEntry[]
  labels: Labels
  /** What parts each of the labels' words from the one before it, as `Tokens` tells it. */
  gaps: Uint8Array
}

export function* buildLabels(given: readonly SkillEntry[]): Stepwise<LabelsOf> {
  const entries = inOrder(given) ? given : [...given].sort((a, b) => a.number - b.number)
  yield
  const table = new WordTable()
  const tokens = new Tokens()
  const words = new Growing()
  const wordStarts = new Growing()
  const entryOf = new Growing()
  const kinds = new Growing()
  const lengths = new Growing()
  const gaps = new Growing()
  const writing = new Growing()
  const fills = new Growing()
  const labelStarts = new Int32Array(entries.length + 1)
  wordStarts.push(0)

  const add = (entry: number, text: string, kind: number) => {
    tokens.read(text)
    if (tokens.count === 0) return
    const from = words.size
    let telling = 0
    for (let i = 0; i < tokens.count; i++) {
      gaps.push(tokens.gaps[i]!)
      const word = table.add(tokens.hashes[i]!, tokens.chars, tokens.charStarts[i]!, tokens.charStarts[i + 1]!)
      if (word === fills.size) fills.push(isFiller(tokens.hashes[i]!) ? 1 : 0)
      if (fills.items[word] === 0) telling += tokens.charStarts[i + 1]! - tokens.charStarts[i]!
      words.push(word)
    }
    for (let label = labelStarts[entry]!; label < entryOf.size; label++) {
      const start = wordStarts.items[label]!
      if (wordStarts.items[label + 1]! - start !== tokens.count || !sameWords(words, start, from, tokens.count))
        continue
      words.size = from
      gaps.size = from
      return
    }
    wordStarts.push(words.size)
    entryOf.push(entry)
    kinds.push(kind)
    writing.push(tokens.count === 1 ? writingOf(text) : SMALL)
    lengths.push(Math.min(65_535, telling || tokens.charStarts[tokens.count]!))
  }

  // Work is done in functions of its own: within a generator a loop stays slow.
  const addEntries = (from: number, to: number) => {
    for (let entry = from; entry < to; entry++) {
      const { name, aliases } = entries[entry]!
      add(entry, name, NAME)
      if (NOTE.test(name)) add(entry, name.replace(NOTE, ''), BARE_NAME)
      for (const alias of aliases) add(entry, alias, ALIAS)
      labelStarts[entry + 1] = entryOf.size
    }
  }
  for (let from = 0; from < entries.length; from += 256) {
    addEntries(from, Math.min(entries.length, from + 256))
    yield
  }
  const { vocabulary, ranks } = yield* buildVocabulary(table)
  for (let from = 0; from < words.size; from += 65_536) {
    replaceEach(words.items, from, Math.min(words.size, from + 65_536), ranks)
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
    entryOf: entryOf.trimmed(),
    kinds: new Uint8Array(kinds.trimmed()),
    writing: new Uint8Array(writing.trimmed()),
    lengths: new Uint16Array(lengths.trimmed()),
    wordStarts: wordStarts.trimmed(),
    words: words.trimmed(),
  }
  return { entries, labels, gaps: new Uint8Array(gaps.trimmed()) }
}

/** How a text is written. */
export function writingOf(text: string): number {
  if (text === text.toLowerCase()) return SMALL
  return text === text.toUpperCase() ? CAPITALS : CAPITAL
}

function replaceEach(items: Int32Array, from: number, to: number, by: Int32Array): void {
  for (let i = from; i < to; i++) items[i] = by[items[i]!]!
}

function inOrder(entries: readonly SkillEntry[]): boolean {
  for (let i = 1; i < entries.length; i++) if (entries[i]!.number < entries[i - 1]!.number) return false
  return true
}

function sameWords(words: Growing, a: number, b: number, count: number): boolean {
  for (let i = 0; i < count; i++) if (words.items[a + i] !== words.items[b + i]) return false
  return true
}

/** A list of numbers that grows in place. */
export class Growing {
  items = new Int32Array(1024)
  size = 0

  push(value: number): void {
    if (this.size === this.items.length) {
      const items = new Int32Array(this.size * 2)
      items.set(this.items)
      this.items = items
    }
    this.items[this.size++] = value
  }

  trimmed(): Int32Array {
    return this.items.slice(0, this.size)
  }
}
