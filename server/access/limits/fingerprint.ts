import { randomInt } from 'node:crypto'
import { LONGEST_NAME, shortName } from './names.ts'

/** Room for the longest name in UTF-8. */
const bytes = Buffer.allocUnsafeSlow(512)
const words = new Int32Array(bytes.buffer)

/**
 * Names as 64 bits, in two halves. Tables keep these instead of the names, which callers choose and may make long; that any
 * two of a million names fall together has odds of one in 37 million. Seeded anew in each process, so that nobody can
 * pick names that crowd one place of a table.
 *
 * Names are read through a buffer because `charCodeAt` becomes ten times slower in a process that loads a subclass of
 * String, as ioredis does.
 */
export class Fingerprint {
  a = 0
  b = 0
  readonly #seedA = randomInt(2 ** 32) | 0
  readonly #seedB = randomInt(2 ** 32) | 0

  /** Of a name by itself. */
  of(name: string): this {
    return this.within(this.#seedA, this.#seedB, name)
  }

  /** Of a name that belongs to another, given by its fingerprint. */
  within(a: number, b: number, name: string): this {
    // Tells the compiler that these are 32-bit integers all the way.
    a |= 0
    b |= 0
    const length = bytes.write(name.length > LONGEST_NAME ? shortName(name) : name)
    bytes[length] = bytes[length + 1] = bytes[length + 2] = 0
    for (let i = 0; i << 2 < length; i++) {
      const word = words[i]!
      a = Math.imul(a ^ word, 0x9e3779b1)
      b = Math.imul(b ^ word, 0x85ebca77)
      a ^= a >>> 15
      b = (b << 13) | (b >>> 19)
    }
    return this.#settle(a ^ length, b)
  }

  /** Of the nth part of what a fingerprint stands for. */
  part(a: number, b: number, n: number): this {
    return this.#settle(Math.imul(a ^ n, 0x9e3779b1), Math.imul(b + n, 0xc2b2ae3d))
  }

  #settle(a: number, b: number): this {
    this.a = scatter(a + Math.imul(b, 0x27d4eb2f))
    this.b = scatter(b ^ this.a)
    return this
  }
}

/** Lets every bit depend on every other. */
function scatter(n: number): number {
  n ^= n >>> 16
  n = Math.imul(n, 0x7feb352d)
  n ^= n >>> 15
  n = Math.imul(n, 0x846ca68b)
  return n ^ (n >>> 16)
}
