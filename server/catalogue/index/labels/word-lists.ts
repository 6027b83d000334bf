import type { Stepwise } from '../text/time-slicing.ts'

/** A word in a list may carry a place above its number. */
export const ID_BITS = 24
export const ID_MASK = 0xffffff

/** Words by a key: those of key k are items[starts[k]] up to items[starts[k + 1]]. */
export class Lists {
  readonly starts: Int32Array
  readonly items: Int32Array
  readonly mask: number

  constructor(starts: Int32Array, items: Int32Array) {
    this.starts = starts
    this.items = items
    this.mask = starts.length - 2
  }

  size(list: number): number {
    return this.starts[list + 1]! - this.starts[list]!
  }
}

/** A power of two that leaves most keys a list of their own. */
export function sizeFor(items: number): number {
  return 2 ** Math.max(8, Math.ceil(Math.log2(items + 1)))
}

/** Lists the words under the keys that each of them puts, with a place. */
export function* listWords(
  words: readonly string[],
  size: number,
  keys: (word: string, put: (key: number, place: number) => void, id: number) => void,
): Stepwise<Lists> {
  const starts = new Int32Array(size + 1)
  const count = (key: number) => {
    starts[(key & (size - 1)) + 1]!++
  }
  let current = 0
  const run = (to: number, put: (key: number, place: number) => void) => {
    for (; current < to; current++) keys(words[current]!, put, current)
  }
  while (current < words.length) {
    run(Math.min(words.length, current + 2048), count)
    yield
  }
  for (let list = 0; list < size; list++) starts[list + 1]! += starts[list]!
  const next = starts.slice()
  const items = new Int32Array(starts[size]!)
  const place = (key: number, at: number) => {
    items[next[key & (size - 1)]!++] = (at << ID_BITS) | current
  }
  current = 0
  while (current < words.length) {
    run(Math.min(words.length, current + 2048), place)
    yield
  }
  return new Lists(starts, items)
}
