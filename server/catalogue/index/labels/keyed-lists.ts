import type { SlicedTask } from '../text/time-slicing.ts'

/** An item of a list contains a word number in its low bits and a position in the word in its high bits. */
export const WORD_NUMBER_BITS = 24
export const WORD_NUMBER_MASK = 0xffffff

/** Words by key (an inverted index in flat arrays): the items of key k are items[starts[k]] up to items[starts[k + 1]]. */
export class KeyedLists {
  readonly starts: Int32Array
  readonly items: Int32Array
  readonly mask: number

  constructor(starts: Int32Array, items: Int32Array) {
    this.starts = starts
    this.items = items
    this.mask = starts.length - 2
  }

  size(key: number): number {
    return this.starts[key + 1]! - this.starts[key]!
  }
}

/** Returns a power of two at which most keys have a list of their own. */
export function keyCountFor(itemCount: number): number {
  return 2 ** Math.max(8, Math.ceil(Math.log2(itemCount + 1)))
}

/** Builds lists of words by key: each word is listed under the keys that `keys` emits for it, with a position. */
export function* buildKeyedLists(
  words: readonly string[],
  keyCount: number,
  emitKeys: (word: string, emit: (key: number, position: number) => void, id: number) => void,
): SlicedTask<KeyedLists> {
  const starts = new Int32Array(keyCount + 1)
  const countKey = (key: number) => {
    starts[(key & (keyCount - 1)) + 1]!++
  }
  let currentWord = 0
  const emitWords = (to: number, emit: (key: number, position: number) => void) => {
    for (; currentWord < to; currentWord++) emitKeys(words[currentWord]!, emit, currentWord)
  }
  while (currentWord < words.length) {
    emitWords(Math.min(words.length, currentWord + 2048), countKey)
    yield
  }
  for (let key = 0; key < keyCount; key++) starts[key + 1]! += starts[key]!
  const nextPositions = starts.slice()
  const items = new Int32Array(starts[keyCount]!)
  const storeItem = (key: number, position: number) => {
    items[nextPositions[key & (keyCount - 1)]!++] = (position << WORD_NUMBER_BITS) | currentWord
  }
  currentWord = 0
  while (currentWord < words.length) {
    emitWords(Math.min(words.length, currentWord + 2048), storeItem)
    yield
  }
  return new KeyedLists(starts, items)
}
