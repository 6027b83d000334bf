import { stemOf } from '../lexicon/stems.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { WordTable } from '../text/word-table.ts'

/**
 * The distinct words of all labels, and their stems. Words are numbered in sorted order, so the words with a common prefix are
 * one range of numbers. Inflections of a word share a stem: "weld" and "welding".
 */
export class Vocabulary {
  readonly words: string[]
  /** By word number: the number of its stem. */
  readonly stems: Int32Array
  /** The words of stem s are stemWords[stemStarts[s]] up to, but not including, stemWords[stemStarts[s + 1]]. */
  readonly stemStarts: Int32Array
  readonly stemWords: Int32Array
  private readonly table: WordTable
  /** By number in `table`, where words are in the order of addition: the word number in sorted order. */
  private readonly ranks: Int32Array
  private readonly stemTable: WordTable

  constructor(
    words: string[],
    table: WordTable,
    ranks: Int32Array,
    stemTable: WordTable,
    stems: Int32Array,
    wordsByStem: { starts: Int32Array; items: Int32Array },
  ) {
    this.words = words
    this.table = table
    this.ranks = ranks
    this.stemTable = stemTable
    this.stems = stems
    this.stemStarts = wordsByStem.starts
    this.stemWords = wordsByStem.items
  }

  /** Returns the arguments of the constructor. */
  storedParts(): ConstructorParameters<typeof Vocabulary> {
    const { words, table, ranks, stemTable, stems, stemStarts, stemWords } = this
    return [words, table, ranks, stemTable, stems, { starts: stemStarts, items: stemWords }]
  }

  /** Returns the number of the word, or -1 if no label contains it. */
  find(word: string): number {
    const id = this.table.findWord(word)
    return id < 0 ? -1 : this.ranks[id]!
  }

  /** Returns the number of the stem, or -1 if no word has it. */
  findStem(stem: string): number {
    return this.stemTable.findWord(stem)
  }

  /** Returns the letters of the stem with this number. */
  stemText(stem: number): string {
    return this.stemTable.word(stem)
  }

  get stemCount(): number {
    return this.stemTable.size
  }

  /** Returns the number of the first word that is equal to the given one or sorts after it. */
  lowerBound(word: string): number {
    let low = 0
    let high = this.words.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.words[middle]! < word) low = middle + 1
      else high = middle
    }
    return low
  }

  /**
   * Returns the number after the last word that begins with the prefix. `from` is the lower bound of the prefix. Doubles the step
   * and then halves it (exponential search), because most prefixes have few words.
   */
  prefixEnd(prefix: string, from: number): number {
    let low = from
    let step = 1
    while (low + step <= this.words.length && this.words[low + step - 1]!.startsWith(prefix)) {
      low += step
      step *= 2
    }
    for (; step >= 1; step >>= 1) {
      if (low + step <= this.words.length && this.words[low + step - 1]!.startsWith(prefix)) low += step
    }
    return low
  }
}

/** Builds the vocabulary from the words of the table. `ranks` maps the numbers of the table to word numbers in sorted order. */
export function* buildVocabulary(table: WordTable): SlicedTask<{ vocabulary: Vocabulary; ranks: Int32Array }> {
  table.trim()
  const buckets = new Map<number, number[]>()
  const unsortedWords: string[] = []
  for (let id = 0; id < table.size; id++) {
    const word = table.word(id)
    unsortedWords.push(word)
    // Words with the same first two letters form a bucket. A bucket is small enough to be sorted without yielding.
    const key = word.charCodeAt(0) * 65_536 + (word.length > 1 ? word.charCodeAt(1) : 0)
    const bucket = buckets.get(key)
    if (bucket) bucket.push(id)
    else buckets.set(key, [id])
    if (id % 4096 === 4095) yield
  }
  const words: string[] = []
  const ranks = new Int32Array(table.size)
  for (const key of [...buckets.keys()].sort((a, b) => a - b)) {
    const bucket = buckets.get(key)!.sort((a, b) => (unsortedWords[a]! < unsortedWords[b]! ? -1 : 1))
    for (const id of bucket) {
      ranks[id] = words.length
      words.push(unsortedWords[id]!)
    }
    yield
  }
  const stemTable = new WordTable()
  const stems = new Int32Array(words.length)
  for (let id = 0; id < words.length; id++) {
    stems[id] = stemTable.addWord(stemOf(words[id]!))
    if (id % 2048 === 2047) yield
  }
  stemTable.trim()
  const wordsByStem = groupPositionsByKey(stems, stemTable.size)
  return { vocabulary: new Vocabulary(words, table, ranks, stemTable, stems, wordsByStem), ranks }
}

/**
 * Groups the positions in `keys` by key. The positions of key k are items[starts[k]] up to, but not including, items[starts[k +
 * 1]].
 */
function groupPositionsByKey(keys: ArrayLike<number>, keyCount: number): { starts: Int32Array; items: Int32Array } {
  const starts = new Int32Array(keyCount + 1)
  for (let i = 0; i < keys.length; i++) starts[keys[i]! + 1]!++
  for (let key = 0; key < keyCount; key++) starts[key + 1]! += starts[key]!
  const nextPositions = starts.slice()
  const items = new Int32Array(keys.length)
  for (let i = 0; i < keys.length; i++) items[nextPositions[keys[i]!]!++] = i
  return { starts, items }
}
