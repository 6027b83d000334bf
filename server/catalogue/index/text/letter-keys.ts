/** Numbers made of a word's letters, by which words that are alike are found and told apart quickly. */

/** The three letters around position i + 1, hashed; positions before and behind the word count as a mark. */
export function tripleAt(word: string, i: number): number {
  const first = i < 0 ? 1 : word.charCodeAt(i)
  const second = word.charCodeAt(i + 1)
  const third = i + 2 >= word.length ? 1 : word.charCodeAt(i + 2)
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35)
  return hash ^ (hash >>> 15)
}

/** The hash of a word without the letter at `drop`; of the whole word at -1. */
export function remainder(word: string, drop: number): number {
  let hash = 0
  for (let i = 0; i < word.length; i++) if (i !== drop) hash = Math.imul(hash ^ word.charCodeAt(i), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

/** The last two letters of a word in one number; two words with the same number are all but certain to end alike. */
export function tailOf(word: string): number {
  const { length } = word
  return length < 2 ? 0 : ((word.charCodeAt(length - 2) & 255) << 8) | (word.charCodeAt(length - 1) & 255)
}

/** Bits that no letter from a to z has, for letters that come twice. */
const TWICE = [0, 27, 28, 29, 30, 31]

/** The letters of a word, a bit each, and bits for letters that come twice: k typos change at most 2k bits. */
export function lettersOf(word: string): number {
  let letters = 0
  let again = 0
  for (let i = 0; i < word.length; i++) {
    const unit = word.charCodeAt(i)
    const bit = 1 << (unit & 31)
    if (letters & bit) again |= 1 << TWICE[(unit & 31) % 6]!
    letters |= bit
  }
  return letters | again
}

/** How many bits are set. */
export function bits(value: number): number {
  let v = value - ((value >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
