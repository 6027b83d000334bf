/**
 * The tokenizer. Labels, queries and whole advertisements use the same one, so that indexed words and looked-up words always
 * agree.
 *
 * Every UTF-16 unit is folded by a table: letters lose case, width and Latin accents, Devanagari loses signs that people often
 * leave out (nukta, chandrabindu, joiners). A word is a run of letters, marks and digits; `+` and `#` may end it (C++, C#), a
 * dot may begin it (.NET), single letters with dots are one word (A.C. is AC), and `&` is the word "and". Offsets refer to the
 * original text.
 */

/** The characters between a word and the previous one: none, a hyphen or slash, spaces, or anything that ends a phrase. */
export const GAP_NONE = 0
export const GAP_JOINER = 1
export const GAP_SPACE = 2
export const GAP_BREAK = 3

/** Special values of the folding table, lower than FIRST_LETTER; 0 ends a word. */
const SKIPPED_UNIT = 1
const LIGATURE_UNIT = 2
const FIRST_LETTER = 16

/** Kinds of characters between words. */
const SPACE_KIND = 1
const JOINER_KIND = 2
const BREAK_KIND = 3

/** Character codes. */
const PLUS_CODE = 0x2b
const NUMBER_SIGN_CODE = 0x23
const AMPERSAND_CODE = 0x26
const DOT_CODE = 0x2e
const SPACE_CODE = 0x20

const LIGATURES = new Map([
  [0xfb00, 'ff'],
  [0xfb01, 'fi'],
  [0xfb02, 'fl'],
  [0xfb03, 'ffi'],
  [0xfb04, 'ffl'],
  [0xfb05, 'st'],
  [0xfb06, 'st'],
])
// Base letters of letters that Unicode does not decompose.
const BASE_LETTERS = new Map(Array.from('øoØołlŁlđdĐdßsæaÆaœoŒoıiþtÞtðdÐd'.matchAll(/(.)(.)/g), (m) => [m[1]!, m[2]!]))

const FOLDED_UNITS = buildFoldingTable()
const CHARACTER_KINDS = buildCharacterKinds()

function buildFoldingTable(): Uint16Array {
  const table = new Uint16Array(65_536)
  for (let unit = 0; unit < 65_536; unit++) {
    if (unit >= 0x3040 && unit < 0xd800) table[unit] = unit
    else if (unit < 0xd800 || unit >= 0xf900) table[unit] = foldUnit(unit)
  }
  for (const skipped of [0x27, 0x2019, 0x2bc, 0x93c, 0x200c, 0x200d, 0xad, 0xfe0e, 0xfe0f])
    table[skipped] = SKIPPED_UNIT
  for (const unit of LIGATURES.keys()) table[unit] = LIGATURE_UNIT
  table[0x901] = 0x902
  return table
}

function foldUnit(unit: number): number {
  const letter = String.fromCharCode(unit)
  if (unit >= 0x300 && unit < 0x370) return SKIPPED_UNIT
  if (!/[\p{L}\p{M}\p{N}]/u.test(letter)) return 0
  if (unit >= 0x966 && unit <= 0x96f) return unit - 0x966 + 0x30
  return (BASE_LETTERS.get(letter) ?? letter).normalize('NFKD').toLowerCase().charCodeAt(0)
}

function buildCharacterKinds(): Uint8Array {
  const table = new Uint8Array(65_536).fill(BREAK_KIND)
  for (const unit of [0x20, 0x09, 0xa0, 0x202f, 0x3000, 0x200b]) table[unit] = SPACE_KIND
  for (let unit = 0x2000; unit <= 0x200a; unit++) table[unit] = SPACE_KIND
  for (const unit of [0x2d, 0x2f, 0x5f, 0x2010, 0x2011, 0x2012, 0x2013]) table[unit] = JOINER_KIND
  return table
}

/** The words of one text, in flat arrays that are reused for the next text. */
export class Tokens {
  count = 0
  /** Offsets of each word in the text. */
  starts = new Int32Array(0)
  ends = new Int32Array(0)
  hashes = new Int32Array(0)
  /** A second hash of each word, for tables that store no letters. */
  checks = new Int32Array(0)
  /** The GAP_ kind before each word. */
  gaps = new Uint8Array(0)
  /** The folded units of word i are chars[charStarts[i]] up to chars[charStarts[i + 1]]. */
  charStarts = new Int32Array(0)
  chars = new Uint16Array(0)
  private raw = Buffer.alloc(0)
  private units = new Uint16Array(0)

  read(text: string): this {
    this.load(text)
    this.charStarts[0] = 0
    this.count = this.scan(text.length)
    return this
  }

  private scan(length: number): number {
    const { units, starts, ends, hashes, checks, gaps, charStarts, chars } = this
    let count = 0
    let charCount = 0
    let at = 0
    let gap = GAP_BREAK
    while (at < length) {
      let letter = FOLDED_UNITS[units[at]!]!
      let hash = HASH_SEED
      let check = 0
      if (letter < FIRST_LETTER) {
        const unit = units[at]!
        if (unit === AMPERSAND_CODE) {
          starts[count] = at
          ends[count] = ++at
          gaps[count] = gap
          chars[charCount++] = 0x61
          chars[charCount++] = 0x6e
          chars[charCount++] = 0x64
          checks[count] = AND_CHECK
          hashes[count++] = AND_HASH
          charStarts[count] = charCount
          gap = GAP_NONE
          continue
        }
        const isLeadingDot = unit === DOT_CODE && gap !== GAP_NONE && FOLDED_UNITS[units[at + 1]!]! >= 0x61
        if (!isLeadingDot && letter !== LIGATURE_UNIT) {
          if (letter !== SKIPPED_UNIT) gap = widenGap(gap, unit, FOLDED_UNITS[units[at + 1]!]!)
          at++
          continue
        }
        starts[count] = at
        if (isLeadingDot) {
          hash = Math.imul(hash ^ DOT_CODE, HASH_PRIME)
          check = Math.imul(check + DOT_CODE, CHECK_PRIME)
          chars[charCount++] = DOT_CODE
          letter = FOLDED_UNITS[units[++at]!]!
        }
      } else {
        starts[count] = at
      }
      let hasSkippedUnit = false
      // A zero follows the text and ends the last word.
      for (;;) {
        while (letter >= FIRST_LETTER) {
          hash = Math.imul(hash ^ letter, HASH_PRIME)
          check = Math.imul((check + letter) | 0, CHECK_PRIME)
          chars[charCount++] = letter
          letter = FOLDED_UNITS[units[++at]!]!
        }
        if (letter === 0) break
        hasSkippedUnit = true
        if (letter === LIGATURE_UNIT) {
          for (const part of LIGATURES.get(units[at]!)!) {
            hash = Math.imul(hash ^ part.charCodeAt(0), HASH_PRIME)
            check = Math.imul((check + part.charCodeAt(0)) | 0, CHECK_PRIME)
            chars[charCount++] = part.charCodeAt(0)
          }
        }
        letter = FOLDED_UNITS[units[++at]!]!
      }
      const nextUnit = units[at]!
      // Fast path: most words end with a space.
      if (nextUnit === SPACE_CODE && !hasSkippedUnit) {
        ends[count] = at++
        gaps[count] = gap
        checks[count] = check
        hashes[count++] = hash
        charStarts[count] = charCount
        gap = GAP_SPACE
        continue
      }
      if (nextUnit === DOT_CODE && at - starts[count]! === 1 && isLatinLetter(units[at - 1]!)) {
        const stop = endOfDottedAbbreviation(units, at)
        for (; at < stop; at++) {
          if (units[at] === DOT_CODE) continue
          const nextLetter = FOLDED_UNITS[units[at]!]!
          hash = Math.imul(hash ^ nextLetter, HASH_PRIME)
          check = Math.imul((check + nextLetter) | 0, CHECK_PRIME)
          chars[charCount++] = nextLetter
        }
      }
      let end = at
      if ((nextUnit === PLUS_CODE || nextUnit === NUMBER_SIGN_CODE) && FOLDED_UNITS[units[at - 1]!] !== SKIPPED_UNIT) {
        const stop = units[at + 1] === nextUnit ? at + 2 : at + 1
        if (FOLDED_UNITS[units[stop]!]! < FIRST_LETTER) {
          for (; at < stop; at++) {
            hash = Math.imul(hash ^ nextUnit, HASH_PRIME)
            check = Math.imul((check + nextUnit) | 0, CHECK_PRIME)
            chars[charCount++] = nextUnit
          }
          end = at
        }
      }
      // A closing quotation mark is not part of the word, an apostrophe inside is.
      while (isQuote(units[end - 1]!)) end--
      ends[count] = end
      gaps[count] = gap
      checks[count] = check
      hashes[count++] = hash
      charStarts[count] = charCount
      gap = GAP_NONE
    }
    return count
  }

  /** Returns a word as a string. */
  word(index: number): string {
    return String.fromCharCode.apply(
      null,
      this.chars.subarray(this.charStarts[index]!, this.charStarts[index + 1]!) as never,
    )
  }

  /** Copies the text into a typed array, which is faster to read than a string, and makes room for its words. */
  private load(text: string): void {
    const length = text.length
    if (this.units.length <= length + 2) {
      const size = Math.max(length + 3, this.units.length * 2)
      this.raw = Buffer.alloc(size * 2)
      this.units = new Uint16Array(this.raw.buffer, this.raw.byteOffset, size)
      this.starts = new Int32Array(size)
      this.ends = new Int32Array(size)
      this.hashes = new Int32Array(size)
      this.checks = new Int32Array(size)
      this.gaps = new Uint8Array(size)
      this.charStarts = new Int32Array(size + 1)
      // A unit folds to at most three units.
      this.chars = new Uint16Array(size * 3)
    }
    // For short texts a loop is faster than a native call.
    if (length > MAX_SHORT_TEXT_UNITS) this.raw.write(text, 'utf16le')
    else for (let at = 0; at < length; at++) this.units[at] = text.charCodeAt(at)
    this.units[length] = 0
    this.units[length + 1] = 0
    this.units[length + 2] = 0
  }
}

const MAX_SHORT_TEXT_UNITS = 40

const HASH_SEED = 0x811c9dc5 | 0
const HASH_PRIME = 0x01000193
const CHECK_PRIME = 0x9e3779b1
const AND_HASH = wordHash('and')
const AND_CHECK = checkHash('and')

/** Returns the hash that `Tokens` computes for a folded word. */
export function wordHash(word: string): number {
  let hash = HASH_SEED
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), HASH_PRIME)
  return hash
}

/** Returns the second hash that `Tokens` computes for a folded word. */
export function checkHash(word: string): number {
  let check = 0
  for (let i = 0; i < word.length; i++) check = Math.imul((check + word.charCodeAt(i)) | 0, CHECK_PRIME)
  return check
}

/** Continues the hash of a word over more folded units. */
export function extendWordHash(hash: number, chars: Uint16Array, from: number, to: number): number {
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ chars[i]!, HASH_PRIME)
  return hash
}

export function extendCheckHash(check: number, chars: Uint16Array, from: number, to: number): number {
  for (let i = from; i < to; i++) check = Math.imul((check + chars[i]!) | 0, CHECK_PRIME)
  return check
}

/** Returns the end of a dotted abbreviation ("A.C.", "C.N.C") whose first dot is at `dot`; `dot` if it is not one. */
function endOfDottedAbbreviation(units: Uint16Array, dot: number): number {
  let at = dot
  while (units[at] === DOT_CODE && isLatinLetter(units[at + 1]!) && FOLDED_UNITS[units[at + 2]!]! < FIRST_LETTER)
    at += 2
  return at > dot && units[at] === DOT_CODE ? at + 1 : at
}

function isLatinLetter(unit: number): boolean {
  const lowerCaseUnit = unit | 0x20
  return lowerCaseUnit >= 0x61 && lowerCaseUnit <= 0x7a
}

function isQuote(unit: number): boolean {
  return unit === 0x27 || unit === 0x2019 || unit === 0x2bc
}

/** Adds a character to a gap. A dash between spaces, or a full stop before one, is a break; inside a compound it is a joiner. */
function widenGap(gap: number, unit: number, next: number): number {
  let kind = CHARACTER_KINDS[unit]!
  if (unit === DOT_CODE && next >= FIRST_LETTER && gap === GAP_NONE) kind = JOINER_KIND
  if (gap === GAP_NONE) return kind === SPACE_KIND ? GAP_SPACE : kind === JOINER_KIND ? GAP_JOINER : GAP_BREAK
  if (gap === GAP_SPACE && kind === SPACE_KIND) return GAP_SPACE
  return GAP_BREAK
}

const scratchTokens = new Tokens()

/** Returns the folded words of a short text. */
export function tokenize(text: string): string[] {
  scratchTokens.read(text)
  return Array.from({ length: scratchTokens.count }, (_, i) => scratchTokens.word(i))
}
