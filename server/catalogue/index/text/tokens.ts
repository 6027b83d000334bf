/**
 * How a text falls into words. Labels, queries and whole advertisements go through this one scanner, so that what is
 * indexed and what is looked up can never disagree.
 *
 * Every UTF-16 unit is folded by a table: letters lose case, width and Latin accents, Devanagari loses what people spell
 * either way (nukta, chandrabindu, joiners). A word is a run of letters, marks and digits; `+` and `#` may end it (C++,
 * C#), a dot may begin it (.NET), single letters with dots are one word (A.C. is AC), and `&` is the word "and". Offsets are
 * those of the text as it came.
 */

/** What stands between a word and the one before it. */
export const NEXT = 0
export const JOINED = 1
export const SPACED = 2
export const APART = 3

const SKIP = 1
const LIGATURE = 2
const FIRST_LETTER = 16

const SPACE = 1
const JOINER = 2
const WALL = 3

const PLUS = 0x2b
const HASH = 0x23
const AND = 0x26
const DOT = 0x2e
const BLANK = 0x20

const LIGATURES = new Map([
  [0xfb00, 'ff'],
  [0xfb01, 'fi'],
  [0xfb02, 'fl'],
  [0xfb03, 'ffi'],
  [0xfb04, 'ffl'],
  [0xfb05, 'st'],
  [0xfb06, 'st'],
])
// Letters that Unicode does not take apart.
const PLAIN = new Map(Array.from('øoØołlŁlđdĐdßsæaÆaœoŒoıiþtÞtðdÐd'.matchAll(/(.)(.)/g), (m) => [m[1]!, m[2]!]))

const FOLD = foldTable()
const GAP = gapTable()

function foldTable(): Uint16Array {
  const table = new Uint16Array(65_536)
  for (let unit = 0; unit < 65_536; unit++) {
    if (unit >= 0x3040 && unit < 0xd800) table[unit] = unit
    else if (unit < 0xd800 || unit >= 0xf900) table[unit] = folded(unit)
  }
  for (const skipped of [0x27, 0x2019, 0x2bc, 0x93c, 0x200c, 0x200d, 0xad, 0xfe0e, 0xfe0f]) table[skipped] = SKIP
  for (const unit of LIGATURES.keys()) table[unit] = LIGATURE
  table[0x901] = 0x902
  return table
}

function folded(unit: number): number {
  const letter = String.fromCharCode(unit)
  if (unit >= 0x300 && unit < 0x370) return SKIP
  if (!/[\p{L}\p{M}\p{N}]/u.test(letter)) return 0
  if (unit >= 0x966 && unit <= 0x96f) return unit - 0x966 + 0x30
  return (PLAIN.get(letter) ?? letter).normalize('NFKD').toLowerCase().charCodeAt(0)
}

function gapTable(): Uint8Array {
  const table = new Uint8Array(65_536).fill(WALL)
  for (const unit of [0x20, 0x09, 0xa0, 0x202f, 0x3000, 0x200b]) table[unit] = SPACE
  for (let unit = 0x2000; unit <= 0x200a; unit++) table[unit] = SPACE
  for (const unit of [0x2d, 0x2f, 0x5f, 0x2010, 0x2011, 0x2012, 0x2013]) table[unit] = JOINER
  return table
}

/** The words of one text, in flat arrays that are used again for the next text. */
export class Tokens {
  count = 0
  /** Where each word begins and ends in the text. */
  starts = new Int32Array(0)
  ends = new Int32Array(0)
  hashes = new Int32Array(0)
  /** A second hash of each word, where a table does without the letters. */
  checks = new Int32Array(0)
  /** NEXT, JOINED, SPACED or APART from the word before. */
  gaps = new Uint8Array(0)
  /** The folded units of word i are chars[charStarts[i]] up to chars[charStarts[i + 1]]. */
  charStarts = new Int32Array(0)
  chars = new Uint16Array(0)
  private raw = Buffer.alloc(0)
  private units = new Uint16Array(0)

  read(text: string): this {
    this.take(text)
    this.charStarts[0] = 0
    this.count = this.scan(text.length)
    return this
  }

  private scan(length: number): number {
    const { units, starts, ends, hashes, checks, gaps, charStarts, chars } = this
    let count = 0
    let used = 0
    let at = 0
    let gap = APART
    while (at < length) {
      let letter = FOLD[units[at]!]!
      let hash = HASH_SEED
      let check = 0
      if (letter < FIRST_LETTER) {
        const unit = units[at]!
        if (unit === AND) {
          starts[count] = at
          ends[count] = ++at
          gaps[count] = gap
          chars[used++] = 0x61
          chars[used++] = 0x6e
          chars[used++] = 0x64
          checks[count] = AND_CHECK
          hashes[count++] = AND_HASH
          charStarts[count] = used
          gap = NEXT
          continue
        }
        const leadingDot = unit === DOT && gap !== NEXT && FOLD[units[at + 1]!]! >= 0x61
        if (!leadingDot && letter !== LIGATURE) {
          if (letter !== SKIP) gap = widen(gap, unit, FOLD[units[at + 1]!]!)
          at++
          continue
        }
        starts[count] = at
        if (leadingDot) {
          hash = Math.imul(hash ^ DOT, HASH_PRIME)
          check = Math.imul(check + DOT, CHECK_PRIME)
          chars[used++] = DOT
          letter = FOLD[units[++at]!]!
        }
      } else {
        starts[count] = at
      }
      let skipped = false
      // The unit behind the text is a zero, which ends every word.
      for (;;) {
        while (letter >= FIRST_LETTER) {
          hash = Math.imul(hash ^ letter, HASH_PRIME)
          check = Math.imul((check + letter) | 0, CHECK_PRIME)
          chars[used++] = letter
          letter = FOLD[units[++at]!]!
        }
        if (letter === 0) break
        skipped = true
        if (letter === LIGATURE) {
          for (const part of LIGATURES.get(units[at]!)!) {
            hash = Math.imul(hash ^ part.charCodeAt(0), HASH_PRIME)
            check = Math.imul((check + part.charCodeAt(0)) | 0, CHECK_PRIME)
            chars[used++] = part.charCodeAt(0)
          }
        }
        letter = FOLD[units[++at]!]!
      }
      const sign = units[at]!
      // Most words end so, and need no more than this.
      if (sign === BLANK && !skipped) {
        ends[count] = at++
        gaps[count] = gap
        checks[count] = check
        hashes[count++] = hash
        charStarts[count] = used
        gap = SPACED
        continue
      }
      if (sign === DOT && at - starts[count]! === 1 && isLetter(units[at - 1]!)) {
        const stop = endOfDotted(units, at)
        for (; at < stop; at++) {
          if (units[at] === DOT) continue
          const next = FOLD[units[at]!]!
          hash = Math.imul(hash ^ next, HASH_PRIME)
          check = Math.imul((check + next) | 0, CHECK_PRIME)
          chars[used++] = next
        }
      }
      let end = at
      if ((sign === PLUS || sign === HASH) && FOLD[units[at - 1]!] !== SKIP) {
        const stop = units[at + 1] === sign ? at + 2 : at + 1
        if (FOLD[units[stop]!]! < FIRST_LETTER) {
          for (; at < stop; at++) {
            hash = Math.imul(hash ^ sign, HASH_PRIME)
            check = Math.imul((check + sign) | 0, CHECK_PRIME)
            chars[used++] = sign
          }
          end = at
        }
      }
      // A closing quotation mark is no part of the word, an apostrophe inside is.
      while (isQuote(units[end - 1]!)) end--
      ends[count] = end
      gaps[count] = gap
      checks[count] = check
      hashes[count++] = hash
      charStarts[count] = used
      gap = NEXT
    }
    return count
  }

  /** The word as a string. */
  word(index: number): string {
    return String.fromCharCode.apply(
      null,
      this.chars.subarray(this.charStarts[index]!, this.charStarts[index + 1]!) as never,
    )
  }

  /** Lays the text out as numbers, which are read faster than a string's units, and makes room for its words. */
  private take(text: string): void {
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
      // A unit folds to at most three.
      this.chars = new Uint16Array(size * 3)
    }
    // A call costs more than a few letters do.
    if (length > SHORT_TEXT) this.raw.write(text, 'utf16le')
    else for (let at = 0; at < length; at++) this.units[at] = text.charCodeAt(at)
    this.units[length] = 0
    this.units[length + 1] = 0
    this.units[length + 2] = 0
  }
}

const SHORT_TEXT = 40

const HASH_SEED = 0x811c9dc5 | 0
const HASH_PRIME = 0x01000193
const CHECK_PRIME = 0x9e3779b1
const AND_HASH = hashOf('and')
const AND_CHECK = checkOf('and')

/** The hash that `Tokens` gives a folded word. */
export function hashOf(word: string): number {
  let hash = HASH_SEED
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), HASH_PRIME)
  return hash
}

export function checkOf(word: string): number {
  let check = 0
  for (let i = 0; i < word.length; i++) check = Math.imul((check + word.charCodeAt(i)) | 0, CHECK_PRIME)
  return check
}

/** Continues the hashes of a word over more folded units. */
export function hashOn(hash: number, chars: Uint16Array, from: number, to: number): number {
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ chars[i]!, HASH_PRIME)
  return hash
}

export function checkOn(check: number, chars: Uint16Array, from: number, to: number): number {
  for (let i = from; i < to; i++) check = Math.imul((check + chars[i]!) | 0, CHECK_PRIME)
  return check
}

/** Where "A.C." or "C.N.C" ends, whose first dot stands at `dot`; there when it is no such word. */
function endOfDotted(units: Uint16Array, dot: number): number {
  let at = dot
  while (units[at] === DOT && isLetter(units[at + 1]!) && FOLD[units[at + 2]!]! < FIRST_LETTER) at += 2
  return at > dot && units[at] === DOT ? at + 1 : at
}

/** Whether it is a Latin letter, of either case. */
function isLetter(unit: number): boolean {
  const small = unit | 0x20
  return small >= 0x61 && small <= 0x7a
}

function isQuote(unit: number): boolean {
  return unit === 0x27 || unit === 0x2019 || unit === 0x2bc
}

/** A dash between spaces, or a full stop before one, parts what it stands between; inside a compound it joins. */
function widen(gap: number, unit: number, next: number): number {
  let kind = GAP[unit]!
  if (unit === DOT && next >= FIRST_LETTER && gap === NEXT) kind = JOINER
  if (gap === NEXT) return kind === SPACE ? SPACED : kind === JOINER ? JOINED : APART
  if (gap === SPACED && kind === SPACE) return SPACED
  return APART
}

const scratch = new Tokens()

/** The folded words of a short text. */
export function wordsOf(text: string): string[] {
  scratch.read(text)
  return Array.from({ length: scratch.count }, (_, i) => scratch.word(i))
}
