import type { SlicedTask } from '../text/time-slicing.ts'

/** An item holds a word number and, in the bits above it, a position in the word. */
export const ID_BITS = 24
export const ID_MASK = 0xffffff

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
export function keyCountFor(items: number): number {
  return 2 ** Math.max(8, Math.ceil(Math.log2(items + 1)))
}

/** Lists each word under the keys that `keys` emits for it, with a position. */
export function* buildKeyedLists(
  words: readonly string[],
  keyCount: number,
  keys: (word: string, emit: (key: number, position: number) => void, id: number) => void,
): SlicedTask<KeyedLists> {
  const starts = new Int32Array(keyCount + 1)
  const count = (key: number) => {
    starts[(key & (keyCount - 1)) + 1]!++
  }
  let current = 0
  const run = (to: number, emit: (key: number, position: number) => void) => {
    for (; current < to; current++) keys(words[current]!, emit, current)
  }
  while (current < words.length) {
    run(Math.min(words.length, current + 2048), count)
    yield
  }
  for (let key = 0; key < keyCount; key++) starts[key + 1]! += starts[key]!
  const next = starts.slice()
  const items = new Int32Array(starts[keyCount]!)
  const store = (key: number, position: number) => {
    items[next[key & (keyCount - 1)]!++] = (position << ID_BITS) | current
  }
  current = 0
  while (current < words.length) {
    run(Math.min(words.length, current + 2048), store)
    yield
  }
  return new KeyedLists(starts, items)
}
