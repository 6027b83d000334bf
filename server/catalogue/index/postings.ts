import { ALIAS, BARE_NAME, type Labels } from './labels.ts'
import type { Stepwise } from './slices.ts'

/**
 * Which skills hold a word, word after word in sorted order: the skills of all words with one beginning are one stretch.
 * With each skill comes what ranks it when the word is all that was asked for: how long its best label with
 * the word is, whether that label begins with it, and whether it is an alias.
 */
export interface Postings {
  /** The skills of word w are entries[starts[w]] up to entries[starts[w + 1]]. */
  starts: Int32Array
  entries: Int32Array
  labels: Uint16Array
}

export const LENGTH_BITS = 0x1fff
export const IS_BARE = 0x2000
export const BEGINS = 0x4000
export const IS_ALIAS = 0x8000

/** What a label is worth for a query, from 0 to 1, apart from how well the words themselves agree. */
export function labelWorth(coverage: number, begins: boolean, ordered: boolean, alias: boolean): number {
  return (0.62 + 0.18 * coverage + (begins ? 0.14 : 0) + (ordered ? 0.06 : 0)) * (alias ? 0.95 : 1)
}

export function* buildPostings(labels: Labels): Stepwise<Postings> {
  const { vocabulary, labelStarts, wordStarts, words, kinds, lengths } = labels
  const count = vocabulary.words.length
  const starts = new Int32Array(count + 1)
  const latest = new Int32Array(count).fill(-1)
  for (let entry = 0; entry + 1 < labelStarts.length; entry++) {
    const end = wordStarts[labelStarts[entry + 1]!]!
    for (let at = wordStarts[labelStarts[entry]!]!; at < end; at++) {
      const word = words[at]!
      if (latest[word] === entry) continue
      latest[word] = entry
      starts[word + 1]!++
    }
    if (entry % 1024 === 1023) yield
  }
  for (let word = 0; word < count; word++) starts[word + 1]! += starts[word]!

  const next = starts.slice()
  const entries = new Int32Array(starts[count]!)
  const best = new Uint16Array(starts[count]!)
  latest.fill(-1)
  for (let entry = 0; entry + 1 < labelStarts.length; entry++) {
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      const kind = kinds[label] === ALIAS ? IS_ALIAS : kinds[label] === BARE_NAME ? IS_BARE : 0
      const length = Math.min(LENGTH_BITS, lengths[label]!)
      for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
        const word = words[at]!
        const begins = at === wordStarts[label]
        const packed = length | kind | (begins ? BEGINS : 0)
        if (latest[word] !== entry) {
          latest[word] = entry
          entries[next[word]!] = entry
          best[next[word]!++] = packed
        } else {
          const place = next[word]! - 1
          const letters = vocabulary.words[word]!.length
          if (worthOf(packed, letters) > worthOf(best[place]!, letters)) best[place] = packed
        }
      }
    }
    if (entry % 512 === 511) yield
  }
  return { starts, entries, labels: best }
}

function worthOf(packed: number, letters: number): number {
  return labelWorth(letters / (packed & LENGTH_BITS), (packed & BEGINS) !== 0, true, (packed & IS_ALIAS) !== 0)
}
