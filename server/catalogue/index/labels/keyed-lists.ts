import type { SlicedTask } from '../text/time-slicing.ts'

/** An item packs two numbers: the word number in the low 24 bits, and the position of the key in that word in the high 8 bits. */
export const WORD_NUMBER_BITS = 24
export const WORD_NUMBER_MASK = 0xffffff

/**
 * Lists of words by key, such as all words with the trigram "eld". A key is a hash; keys with the same low bits share a list, so
 * callers must check each word. The items of key k are items[starts[k]] up to, but not including, items[starts[k + 1]].
 */
export class KeyedLists {
  readonly starts: Int32Array
  readonly items: Int32Array
  readonly keyMask: number

  constructor(starts: Int32Array, items: Int32Array) {
    this.starts = starts
    this.items = items
    this.keyMask = starts.length - 2
  }

  /** Returns the arguments of the constructor. */
  storedParts(): ConstructorParameters<typeof KeyedLists> {
    return [this.starts, this.items]
  }

  listLength(key: number): number {
    return this.starts[key + 1]! - this.starts[key]!
  }
}

/** Returns the number of lists for this many items: a power of two that is high enough for most keys to share no list. */
export function keyCountFor(itemCount: number): number {
  return 2 ** Math.max(8, Math.ceil(Math.log2(itemCount + 1)))
}

/**
 * Builds the lists in two passes: the first counts the items of each list, the second stores them. `emitKeys` is called for each
 * word in both passes. It calls `emit` for each key of the word, with the position of the key in the word. `keyCount` is a power
 * of two.
 */
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
  const nextItemIndexes = starts.slice()
  const items = new Int32Array(starts[keyCount]!)
  const storeItem = (key: number, position: number) => {
    items[nextItemIndexes[key & (keyCount - 1)]!++] = (position << WORD_NUMBER_BITS) | currentWord
  }
  currentWord = 0
  while (currentWord < words.length) {
    emitWords(Math.min(words.length, currentWord + 2048), storeItem)
    yield
  }
  return new KeyedLists(starts, items)
}
