import type { Stepwise } from './slices.ts'
import { Tokens } from './tokens.ts'
import { buildVocabulary, type Vocabulary } from './vocabulary.ts'
import { WordTable } from './word-table.ts'

/** A skill as the index takes it. */
export interface SkillEntry {
  /** N of `sk_N`. */
  number: number
  name: string
  aliases: readonly string[]
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
  /** Letters of a label without spaces. */
  lengths: Uint16Array
  /** The words of label l are words[wordStarts[l]] up to words[wordStarts[l + 1]]. */
  wordStarts: Int32Array
  words: Int32Array
}

const NOTE = /\s*[([][^)\]]*[)\]]\s*$/

/** With the labels comes what parts each of their words from the one before it, as `Tokens` tells it. */
export function* buildLabels(given: readonly SkillEntry[]): Stepwise<{ labels: Labels; gaps: Uint8Array }> {
  const entries = [...given].sort((a, b) => a.number - b.number)
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
  const labelStarts = new Int32Array(entries.length + 1)
  wordStarts.push(0)

  const add = (entry: number, text: string, kind: number) => {
    tokens.read(text)
    if (tokens.count === 0) return
    const from = words.size
    for (let i = 0; i < tokens.count; i++) {
      gaps.push(tokens.gaps[i]!)
      words.push(table.add(tokens.hashes[i]!, tokens.chars, tokens.charStarts[i]!, tokens.charStarts[i + 1]!))
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
    lengths.push(Math.min(65_535, tokens.charStarts[tokens.count]!))
  }

  for (let entry = 0; entry < entries.length; entry++) {
    const { name, aliases } = entries[entry]!
    add(entry, name, NAME)
    if (NOTE.test(name)) add(entry, name.replace(NOTE, ''), BARE_NAME)
    for (const alias of aliases) add(entry, alias, ALIAS)
    labelStarts[entry + 1] = entryOf.size
    if (entry % 256 === 255) yield
  }
  const { vocabulary, ranks } = yield* buildVocabulary(table)
  for (let i = 0; i < words.size; i++) {
    words.items[i] = ranks[words.items[i]!]!
    if (i % 65_536 === 65_535) yield
  }
  const numbers = Int32Array.from(entries, (entry) => entry.number)
  yield
  const names = entries.map((entry) => entry.name)
  yield
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
  return { labels, gaps: new Uint8Array(gaps.trimmed()) }
}

/** How a text is written. */
export function writingOf(text: string): number {
  if (text === text.toLowerCase()) return SMALL
  return text === text.toUpperCase() ? CAPITALS : CAPITAL
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
