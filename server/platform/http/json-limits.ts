/**
 * Limits on a JSON text, checked on its bytes before it is parsed. Parsing 256 KB takes 1 ms for ordinary bodies, but up to 30 ms for
 * one that consists of small objects with different property names, because V8 creates a hidden class for each sequence of names.
 */

export const MAX_NESTING_DEPTH = 64
/** An enrolment of 1,000 candidates, the largest body of the APIs, has 7,000 to 13,000 values. */
const MAX_VALUES = 20_000
/**
 * A sequence is the names of an object up to one of them. Candidates have the same names in the same order, so that ordinary bodies have
 * fewer than a hundred.
 */
const MAX_NAME_SEQUENCES = 2_000

const TOO_MANY_VALUES = `has more than ${MAX_VALUES} values`
const TOO_MANY_SEQUENCES = `has more than ${MAX_NAME_SEQUENCES} different sequences of property names`

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const SPACE = 0x20

/** Sequences are counted by a hash of 16 bits. Each slot holds the number of the last scan that had a sequence with this hash. */
const sequenceSlots = new Uint32Array(1 << 16)
/** The hash of the names so far, of the object at each depth. */
const sequenceHashes = new Int32Array(MAX_NESTING_DEPTH + 1)
let scanNumber = 0
/** Random, so that nobody can prepare names with equal hashes. */
const hashSeed = Math.floor(Math.random() * 2 ** 31)
const HASH_FACTOR = 0x01000193

/** Returns which limit a JSON text exceeds, as the end of a sentence; undefined if none. Invalid JSON may pass. */
export function findExcess(json: Uint8Array): string | undefined {
  if (++scanNumber === 2 ** 32) {
    sequenceSlots.fill(0)
    scanNumber = 1
  }
  let depth = 0
  let values = 1
  let sequences = 0
  for (let index = 0; index < json.length; index++) {
    switch (json[index]) {
      case QUOTE: {
        let hash = hashSeed
        for (let byte = json[++index]; byte !== QUOTE && byte !== undefined; byte = json[++index]) {
          if (byte === BACKSLASH) index++
          hash = Math.imul(hash ^ byte, HASH_FACTOR)
        }
        while (json[index + 1]! <= SPACE) index++
        if (json[index + 1] !== COLON) break
        const sequenceHash = Math.imul(sequenceHashes[depth]! ^ hash, HASH_FACTOR) ^ (hash >>> 15)
        sequenceHashes[depth] = sequenceHash
        const slot = (sequenceHash ^ (sequenceHash >>> 16)) & 0xffff
        if (sequenceSlots[slot] === scanNumber) break
        sequenceSlots[slot] = scanNumber
        if (++sequences > MAX_NAME_SEQUENCES) return TOO_MANY_SEQUENCES
        break
      }
      case OPENING_BRACKET:
      case OPENING_BRACE:
        if (++depth > MAX_NESTING_DEPTH) return `is nested more than ${MAX_NESTING_DEPTH} levels deep`
        if (++values > MAX_VALUES) return TOO_MANY_VALUES
        sequenceHashes[depth] = hashSeed
        break
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        if (depth > 0) depth--
        break
      case COMMA:
        if (++values > MAX_VALUES) return TOO_MANY_VALUES
        break
    }
  }
  return undefined
}
