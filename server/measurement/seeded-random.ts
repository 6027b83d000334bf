import { createHash } from 'node:crypto'

/** Seeded random generator (sfc32): the same seed gives the same numbers. */
export class SeededRandom {
  private a: number
  private b: number
  private c: number
  private d: number

  constructor(seed: string) {
    const digest = createHash('sha256').update(seed).digest()
    this.a = digest.readInt32LE(0)
    this.b = digest.readInt32LE(4)
    this.c = digest.readInt32LE(8)
    this.d = digest.readInt32LE(12) | 1
  }

  /** Returns an integer from 0 to `count` - 1. */
  below(count: number): number {
    const sum = (this.a + this.b + this.d) | 0
    this.d = (this.d + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum
    return Math.floor(((sum >>> 0) / 4294967296) * count)
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)]
  }

  shuffled<T>(list: readonly T[]): T[] {
    const shuffled = [...list]
    for (let lastIndex = shuffled.length - 1; lastIndex > 0; lastIndex--) {
      const otherIndex = this.below(lastIndex + 1)
      ;[shuffled[lastIndex], shuffled[otherIndex]] = [shuffled[otherIndex]!, shuffled[lastIndex]!]
    }
    return shuffled
  }

  /** Returns up to `max` random elements of a list in random order, without copying a long list. */
  sample<T>(list: readonly T[], max: number): T[] {
    if (list.length <= max * 2) return this.shuffled(list).slice(0, max)
    const indexes = new Set<number>()
    while (indexes.size < max) indexes.add(this.below(list.length))
    return [...indexes].map((index) => list[index]!)
  }
}
