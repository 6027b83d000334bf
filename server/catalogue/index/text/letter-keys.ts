/** Numbers derived from the letters of a word, for finding and excluding similar words quickly. */

/** Returns the hash of the three letters around position i + 1; positions outside the word count as a boundary mark. */
export function trigramHash(word: string, i: number): number {
  const first = i < 0 ? 1 : word.charCodeAt(i)
  const second = word.charCodeAt(i + 1)
  const third = i + 2 >= word.length ? 1 : word.charCodeAt(i + 2)
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35)
  return hash ^ (hash >>> 15)
}

/** Returns the hash of a word without the letter at `dropped`, or of the whole word if `dropped` is -1. */
export function deletionHash(word: string, droppedPosition: number): number {
  let hash = 0
  for (let i = 0; i < word.length; i++)
    if (i !== droppedPosition) hash = Math.imul(hash ^ word.charCodeAt(i), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

/** Packs the low bytes of the last two letters into one number; 0 for a single letter. */
export function lastTwoLetters(word: string): number {
  const { length } = word
  return length < 2 ? 0 : ((word.charCodeAt(length - 2) & 255) << 8) | (word.charCodeAt(length - 1) & 255)
}

/** Bits that no letter from a to z uses, for repeated letters. */
const REPEAT_BITS = [0, 27, 28, 29, 30, 31]

/** Returns a bit set of the letters of a word and of its repeated letters: k edits change at most 2k bits. */
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

/** Counts the bits that are set. */
export function popCount(value: number): number {
  let v = value - ((value >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
