import { randomInt } from 'node:crypto'
import { MAX_NAME_LENGTH, shortenName } from './names.ts'

// Per process and not per object, so that a fingerprint can be stored with the object that it identifies.
const seedA = randomInt(2 ** 32) | 0
const seedB = randomInt(2 ** 32) | 0

/** Buffer for one name; large enough for the longest name in UTF-8. */
const nameBytes = Buffer.allocUnsafeSlow(512)
const nameWords = new Int32Array(nameBytes.buffer)

/**
 * 64-bit hash of a name, in two 32-bit halves: `hashA` and `hashB`. Tables store it instead of the name, which callers choose and can make long. The
 * probability of a collision among a million names is one in 37 million. Each process uses a random seed, so that callers cannot
 * choose names that collide in a hash table.
 *
 * Names are read through a buffer because `charCodeAt` becomes ten times slower in a process that loads a subclass of
 * String, as ioredis does.
 */
export class Fingerprint {
  hashA = 0
  hashB = 0

  /** Hashes a name. */
  of(name: string): this {
    return this.within(seedA, seedB, name)
  }

  /** Hashes a name within the namespace of another fingerprint. */
  within(hashA: number, hashB: number, name: string): this {
    // Lets the JIT compiler treat these as 32-bit integers.
    hashA |= 0
    hashB |= 0
    const length = nameBytes.write(name.length > MAX_NAME_LENGTH ? shortenName(name) : name)
    nameBytes[length] = nameBytes[length + 1] = nameBytes[length + 2] = 0
    for (let i = 0; i << 2 < length; i++) {
      const word = nameWords[i]!
      hashA = Math.imul(hashA ^ word, 0x9e3779b1)
      hashB = Math.imul(hashB ^ word, 0x85ebca77)
      hashA ^= hashA >>> 15
      hashB = (hashB << 13) | (hashB >>> 19)
    }
    return this.#finalize(hashA ^ length, hashB)
  }

  /** Derives the fingerprint of part number `n` of a fingerprinted object, such as a rate limit class of a key. */
  part(hashA: number, hashB: number, n: number): this {
    return this.#finalize(Math.imul(hashA ^ n, 0x9e3779b1), Math.imul(hashB + n, 0xc2b2ae3d))
  }

  #finalize(hashA: number, hashB: number): this {
    this.hashA = mixBits(hashA + Math.imul(hashB, 0x27d4eb2f))
    this.hashB = mixBits(hashB ^ this.hashA)
    return this
  }
}

/** Mixes the bits, so that every output bit depends on every input bit. */
function mixBits(n: number): number {
  n ^= n >>> 16
  n = Math.imul(n, 0x7feb352d)
  n ^= n >>> 15
  n = Math.imul(n, 0x846ca68b)
  return n ^ (n >>> 16)
}
