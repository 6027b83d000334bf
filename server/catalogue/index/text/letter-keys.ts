/**
 * Hashes and bit sets of the letters of a word. They find similar words, and exclude different ones, without comparing letters.
 */

/** Returns the hash of the trigram from position i to i + 2. A position before or after the word counts as a boundary mark. */
export function trigramHash(word: string, i: number): number {
  const first = i < 0 ? 1 : word.charCodeAt(i)
  const second = word.charCodeAt(i + 1)
  const third = i + 2 >= word.length ? 1 : word.charCodeAt(i + 2)
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35)
  return hash ^ (hash >>> 15)
}

/** Returns the hash of a word without the letter at `droppedPosition`, or of the whole word if it is -1. */
export function deletionHash(word: string, droppedPosition: number): number {
  let hash = 0
  for (let i = 0; i < word.length; i++)
    if (i !== droppedPosition) hash = Math.imul(hash ^ word.charCodeAt(i), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

/** Packs the low bytes of the last two letters into one 16-bit number. Returns 0 for a word of one letter. */
export function lastTwoLetters(word: string): number {
  const { length } = word
  return length < 2 ? 0 : ((word.charCodeAt(length - 2) & 255) << 8) | (word.charCodeAt(length - 1) & 255)
}

/** Bits for repeated letters, each shared by several letters. The letters a to z use the bits 1 to 26, so these are free. */
const REPEAT_BITS = [0, 27, 28, 29, 30, 31]

/**
 * Returns a bit set of the letters that occur in a word, and of those that occur more than once. One edit changes at most two
 * bits. So if the bit sets of two words differ in more than 2k bits, their edit distance is more than k.
 */
export function letterSignature(word: string): number {
  let letters = 0
  let repeats = 0
  for (let i = 0; i < word.length; i++) {
    const unit = word.charCodeAt(i)
    const bit = 1 << (unit & 31)
    if (letters & bit) repeats |= 1 << REPEAT_BITS[(unit & 31) % 6]!
    letters |= bit
  }
  return letters | repeats
}

/** Returns the number of bits that are set in a 32-bit integer. */
export function popCount(value: number): number {
  let v = value - ((value >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
