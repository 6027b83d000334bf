/**
 * The tokenizer: splits a text into folded words. Labels, queries and job advertisements use the same tokenizer, so that a word
 * of a text equals the indexed word.
 *
 * Folding is a table lookup for each UTF-16 unit. Letters lose case, width and Latin accents. Devanagari loses signs that people
 * often leave out (nukta, joiners), and chandrabindu becomes anusvara.
 *
 * A word is a run of letters, marks and digits, with these exceptions: `+` and `#` may end a word (C++, C#), a dot may begin it
 * (.NET), single letters with dots are one word (A.C. is "ac"), and `&` is the word "and". Offsets are in UTF-16 units of the
 * original text.
 */

/** Gap before a word, the characters between it and the previous word: none, as between the words of "R&D". */
export const GAP_NONE = 0
/** One hyphen, slash, underscore or dot inside a compound: "data-entry", "Node.js". */
export const GAP_JOINER = 1
export const GAP_SPACE = 2
/** Anything that ends a phrase: other punctuation, a new line, or the beginning of the text. */
export const GAP_BREAK = 3

/**
 * Values of the folding table that are not letters: 0 ends a word, SKIPPED_UNIT is left out of it, LIGATURE_UNIT folds to
 * several letters.
 */
const SKIPPED_UNIT = 1
const LIGATURE_UNIT = 2
/** Values from here on are folded letters or digits. */
const FIRST_LETTER = 16

/** Kinds of characters between words, which `widenGap` combines into a gap. */
const SPACE_KIND = 1
const JOINER_KIND = 2
const BREAK_KIND = 3

/** Character codes. */
const PLUS_CODE = 0x2b
const NUMBER_SIGN_CODE = 0x23
const AMPERSAND_CODE = 0x26
const DOT_CODE = 0x2e
const SPACE_CODE = 0x20
const LETTER_A_CODE = 0x61

const LIGATURES = new Map([
  [0xfb00, 'ff'],
  [0xfb01, 'fi'],
  [0xfb02, 'fl'],
  [0xfb03, 'ffi'],
  [0xfb04, 'ffl'],
  [0xfb05, 'st'],
  [0xfb06, 'st'],
])
// Pairs of a letter that Unicode does not decompose and its base letter: ø and o.
const BASE_LETTERS = new Map(Array.from('øoØołlŁlđdĐdßsæaÆaœoŒoıiþtÞtðdÐd'.matchAll(/(.)(.)/g), (m) => [m[1]!, m[2]!]))

const FOLDED_UNITS = buildFoldingTable()
const SEPARATOR_KINDS = buildSeparatorKinds()

/** Returns the folded letter of each UTF-16 unit. Ideographs and Hangul are kept; surrogates, and so emoji, end a word. */
function buildFoldingTable(): Uint16Array {
  const table = new Uint16Array(65_536)
  for (let unit = 0; unit < 65_536; unit++) {
    if (unit >= 0x3040 && unit < 0xd800) table[unit] = unit
    else if (unit < 0xd800 || unit >= 0xf900) table[unit] = foldUnit(unit)
  }
  // Apostrophes, nukta, zero-width joiners, the soft hyphen and variation selectors.
  for (const skipped of [0x27, 0x2019, 0x2bc, 0x93c, 0x200c, 0x200d, 0xad, 0xfe0e, 0xfe0f])
    table[skipped] = SKIPPED_UNIT
  for (const unit of LIGATURES.keys()) table[unit] = LIGATURE_UNIT
  // Chandrabindu becomes anusvara.
  table[0x901] = 0x902
  return table
}

function foldUnit(unit: number): number {
  const letter = String.fromCharCode(unit)
  // Combining accents.
  if (unit >= 0x300 && unit < 0x370) return SKIPPED_UNIT
  if (!/[\p{L}\p{M}\p{N}]/u.test(letter)) return 0
  // Devanagari digits.
  if (unit >= 0x966 && unit <= 0x96f) return unit - 0x966 + 0x30
  return (BASE_LETTERS.get(letter) ?? letter).normalize('NFKD').toLowerCase().charCodeAt(0)
}

function buildSeparatorKinds(): Uint8Array {
  const table = new Uint8Array(65_536).fill(BREAK_KIND)
  for (const unit of [0x20, 0x09, 0xa0, 0x202f, 0x3000, 0x200b]) table[unit] = SPACE_KIND
  for (let unit = 0x2000; unit <= 0x200a; unit++) table[unit] = SPACE_KIND
  for (const unit of [0x2d, 0x2f, 0x5f, 0x2010, 0x2011, 0x2012, 0x2013]) table[unit] = JOINER_KIND
  return table
}

/** The words of one text, in flat arrays that are reused for the next text. The arrays are longer than `count`. */
export class Tokens {
  count = 0
  /** By word: its start and end in the text, in UTF-16 units. */
  starts = new Int32Array(0)
  ends = new Int32Array(0)
  /** By word: the `wordHash` of its folded units. */
  hashes = new Int32Array(0)
  /** By word: the `checkHash`. Tables that store no letters compare it to detect colliding hashes. */
  checkHashes = new Int32Array(0)
  /** By word: the GAP_ kind before it. */
  gaps = new Uint8Array(0)
  /** The folded units of word i are chars[charStarts[i]] up to, but not including, chars[charStarts[i + 1]]. */
  charStarts = new Int32Array(0)
  chars = new Uint16Array(0)
  /** The UTF-16 units of the text, then some zeros. */
  units = new Uint16Array(0)
  /** The memory of `units`, as bytes. */
  private unitBytes = Buffer.alloc(0)

  /** Replaces the words by those of this text. */
  read(text: string): this {
    this.load(text)
    this.charStarts[0] = 0
    this.count = this.scan(text.length)
    return this
  }

  /**
   * Splits the first `length` units into words and returns their number. It is one loop because it runs over every text: the
   * hashes and folded units of a word are computed while its end is searched. Only rare characters are handled elsewhere.
   */
  private scan(length: number): number {
    const { units, starts, ends, hashes, checkHashes, gaps, charStarts, chars } = this
    let count = 0
    let charCount = 0
    let at = 0
    let gap = GAP_BREAK
    while (at < length) {
      const start = at
      let letter = FOLDED_UNITS[units[at]!]!
      let hash = HASH_SEED
      let check = 0
      if (letter < FIRST_LETTER) {
        const unit = units[at]!
        if (unit === AMPERSAND_CODE) {
          charCount = this.addAnd(count++, at++, gap, charCount)
          gap = GAP_NONE
          continue
        }
        const nextLetter = FOLDED_UNITS[units[at + 1]!]!
        const isLeadingDot = unit === DOT_CODE && gap !== GAP_NONE && nextLetter >= LETTER_A_CODE
        if (!isLeadingDot && letter !== LIGATURE_UNIT) {
          if (letter !== SKIPPED_UNIT) gap = widenGap(gap, unit, nextLetter)
          at++
          continue
        }
        if (isLeadingDot) {
          hash = Math.imul(hash ^ DOT_CODE, HASH_PRIME)
          check = Math.imul(check + DOT_CODE, CHECK_HASH_PRIME)
          chars[charCount++] = DOT_CODE
          letter = nextLetter
          at++
        }
      }
      starts[count] = start
      let hasSkippedUnit = false
      // Zeros follow the text, so the last word ends there.
      for (;;) {
        while (letter >= FIRST_LETTER) {
          hash = Math.imul(hash ^ letter, HASH_PRIME)
          check = Math.imul((check + letter) | 0, CHECK_HASH_PRIME)
          chars[charCount++] = letter
          letter = FOLDED_UNITS[units[++at]!]!
        }
        if (letter === 0) break
        hasSkippedUnit = true
        if (letter === LIGATURE_UNIT) {
          const ligatureStart = charCount
          charCount = copyLigature(units[at]!, chars, charCount)
          hash = extendWordHash(hash, chars, ligatureStart, charCount)
          check = extendCheckHash(check, chars, ligatureStart, charCount)
        }
        letter = FOLDED_UNITS[units[++at]!]!
      }
      const nextUnit = units[at]!
      // Fast path: most words end with a space.
      if (nextUnit === SPACE_CODE && !hasSkippedUnit) {
        ends[count] = at++
        gaps[count] = gap
        checkHashes[count] = check
        hashes[count++] = hash
        charStarts[count] = charCount
        gap = GAP_SPACE
        continue
      }
      const hashedCharCount = charCount
      if (nextUnit === DOT_CODE && at - start === 1 && isLatinLetter(units[start]!)) {
        const abbreviationEnd = dottedAbbreviationEnd(units, at)
        for (; at < abbreviationEnd; at++) if (units[at] !== DOT_CODE) chars[charCount++] = FOLDED_UNITS[units[at]!]!
      } else if (nextUnit === PLUS_CODE || nextUnit === NUMBER_SIGN_CODE) {
        for (const signsEnd = trailingSignsEnd(units, at); at < signsEnd; at++) chars[charCount++] = nextUnit
      }
      hash = extendWordHash(hash, chars, hashedCharCount, charCount)
      check = extendCheckHash(check, chars, hashedCharCount, charCount)
      let end = at
      // A closing quotation mark is not part of the word, unlike an apostrophe inside it.
      while (isQuote(units[end - 1]!)) end--
      ends[count] = end
      gaps[count] = gap
      checkHashes[count] = check
      hashes[count++] = hash
      charStarts[count] = charCount
      gap = GAP_NONE
    }
    return count
  }

  /** Adds the word "and" for the `&` at offset `at`. Returns the new number of folded units. */
  private addAnd(index: number, at: number, gap: number, charCount: number): number {
    this.starts[index] = at
    this.ends[index] = at + 1
    this.gaps[index] = gap
    this.hashes[index] = AND_HASH
    this.checkHashes[index] = AND_CHECK_HASH
    for (let i = 0; i < AND.length; i++) this.chars[charCount + i] = AND.charCodeAt(i)
    this.charStarts[index + 1] = charCount + AND.length
    return charCount + AND.length
  }

  /** Returns the folded word as a string. */
  word(index: number): string {
    return String.fromCharCode.apply(
      null,
      this.chars.subarray(this.charStarts[index]!, this.charStarts[index + 1]!) as never,
    )
  }

  /**
   * Copies the text into a typed array, which is faster to read than a string. Enlarges the arrays if the text is longer than
   * before.
   */
  private load(text: string): void {
    const length = text.length
    if (this.units.length < length + LOOKAHEAD_UNITS) {
      const size = Math.max(length + LOOKAHEAD_UNITS, this.units.length * 2)
      this.unitBytes = Buffer.alloc(size * 2)
      this.units = new Uint16Array(this.unitBytes.buffer, this.unitBytes.byteOffset, size)
      this.starts = new Int32Array(size)
      this.ends = new Int32Array(size)
      this.hashes = new Int32Array(size)
      this.checkHashes = new Int32Array(size)
      this.gaps = new Uint8Array(size)
      this.charStarts = new Int32Array(size + 1)
      // A ligature folds to at most three units, and so does `&`.
      this.chars = new Uint16Array(size * 3)
    }
    // For short texts a loop is faster than a native call.
    if (length > MAX_SHORT_TEXT_UNITS) this.unitBytes.write(text, 'utf16le')
    else for (let at = 0; at < length; at++) this.units[at] = text.charCodeAt(at)
    for (let at = length; at < length + LOOKAHEAD_UNITS; at++) this.units[at] = 0
  }
}

/** Zeros after the text, so that the scan can look ahead without checking for the end. */
const LOOKAHEAD_UNITS = 3
/** Texts up to this length, in UTF-16 units, are copied by a loop. */
const MAX_SHORT_TEXT_UNITS = 40

/** Constants of the 32-bit FNV-1a hash. */
const HASH_SEED = 0x811c9dc5 | 0
const HASH_PRIME = 0x01000193
/** Multiplier of the check hash. */
const CHECK_HASH_PRIME = 0x9e3779b1
/** The word for `&`. */
const AND = 'and'
const AND_HASH = wordHash(AND)
const AND_CHECK_HASH = checkHash(AND)

/** Returns the hash of a folded word, as in `Tokens.hashes`. */
export function wordHash(word: string): number {
  let hash = HASH_SEED
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), HASH_PRIME)
  return hash
}

/** Returns the check hash of a folded word, as in `Tokens.checkHashes`. It is independent of `wordHash`. */
export function checkHash(word: string): number {
  let check = 0
  for (let i = 0; i < word.length; i++) check = Math.imul((check + word.charCodeAt(i)) | 0, CHECK_HASH_PRIME)
  return check
}

/** Returns the hash of a word that is followed by the units chars[from] up to `to`, from the hash of the word. */
export function extendWordHash(hash: number, chars: Uint16Array, from: number, to: number): number {
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ chars[i]!, HASH_PRIME)
  return hash
}

/** Returns the check hash of a word that is followed by the units chars[from] up to `to`, from the check hash of the word. */
export function extendCheckHash(check: number, chars: Uint16Array, from: number, to: number): number {
  for (let i = from; i < to; i++) check = Math.imul((check + chars[i]!) | 0, CHECK_HASH_PRIME)
  return check
}

/**
 * Returns the offset after a dotted abbreviation ("A.C.", "C.N.C") whose first dot is at `dot`. Returns `dot` if there is none.
 */
function dottedAbbreviationEnd(units: Uint16Array, dot: number): number {
  let at = dot
  while (units[at] === DOT_CODE && isLatinLetter(units[at + 1]!) && FOLDED_UNITS[units[at + 2]!]! < FIRST_LETTER)
    at += 2
  return at > dot && units[at] === DOT_CODE ? at + 1 : at
}

/** Returns the offset after the single or doubled + or # at `at`: "C#", "C++". Returns `at` if a letter follows, as in "a+b". */
function trailingSignsEnd(units: Uint16Array, at: number): number {
  if (FOLDED_UNITS[units[at - 1]!] === SKIPPED_UNIT) return at
  const end = units[at + 1] === units[at] ? at + 2 : at + 1
  return FOLDED_UNITS[units[end]!]! < FIRST_LETTER ? end : at
}

/** Writes the letters of a ligature from chars[charCount] on. Returns the new number of folded units. */
function copyLigature(ligature: number, chars: Uint16Array, charCount: number): number {
  for (const letter of LIGATURES.get(ligature)!) chars[charCount++] = letter.charCodeAt(0)
  return charCount
}

function isLatinLetter(unit: number): boolean {
  const lowerCaseUnit = unit | 0x20
  return lowerCaseUnit >= 0x61 && lowerCaseUnit <= 0x7a
}

function isQuote(unit: number): boolean {
  return unit === 0x27 || unit === 0x2019 || unit === 0x2bc
}

/**
 * Returns the gap after one more character, `unit`. A single hyphen or dot between two letters is a joiner. A dash between
 * spaces, or a full stop before a space, is a break. `nextLetter` is the folded value of the unit after it.
 */
function widenGap(gap: number, unit: number, nextLetter: number): number {
  let kind = SEPARATOR_KINDS[unit]!
  if (unit === DOT_CODE && nextLetter >= FIRST_LETTER && gap === GAP_NONE) kind = JOINER_KIND
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
