import type { Place } from './gazetteer.ts'

/**
 * Sorted index from the names of places, districts or localities to their numbers. An entry is one string: the name, a NUL, and the
 * number as a single character, because JavaScript engines sort and compare plain strings fastest.
 */
export class NameIndex {
  readonly #entries: string[] = []
  /** Bit set of the letters a to z in each name; computed for the first fuzzy search. */
  #letterSets: Int32Array | undefined

  add(name: string, number: number) {
    this.#entries.push(`${name}\0${String.fromCharCode(number)}`)
  }

  sort() {
    this.#entries.sort()
  }

  /** Returns the numbers of the names that equal the text, in ascending order. */
  findExact(text: string): number[] {
    return this.#numbersBetween(`${text}\0`, `${text}\x01`)
  }

  /** Returns the numbers of the names that start with the text, in ascending order. */
  findByPrefix(text: string): number[] {
    return this.#numbersBetween(text, `${text}\uffff`)
  }

  #numbersBetween(firstEntry: string, entryAfterLast: string): number[] {
    const start = this.#lowerBound(firstEntry)
    const end = this.#lowerBound(entryAfterLast)
    const numbers: number[] = []
    for (let index = start; index < end; index++) numbers.push(numberOf(this.#entries[index]!))
    return numbers.sort((a, b) => a - b)
  }

  has(name: string): boolean {
    return this.#entries[this.#lowerBound(`${name}\0`)]?.startsWith(`${name}\0`) ?? false
  }

  /** Calls `visit` for every name that lacks at most `maxMissing` of the text's letters. */
  forEachSimilar(text: string, maxMissing: number, visit: (name: string, number: number) => void) {
    const textLetters = letterSetOf(text)
    this.#letterSets ??= Int32Array.from(this.#entries, letterSetOf)
    for (let index = 0; index < this.#letterSets.length; index++) {
      let missingLetters = textLetters & ~this.#letterSets[index]!
      // `x & (x - 1)` removes one letter from the set x.
      for (let removed = 0; missingLetters !== 0 && removed < maxMissing; removed++)
        missingLetters &= missingLetters - 1
      if (missingLetters === 0) visit(this.#entries[index]!.slice(0, -2), numberOf(this.#entries[index]!))
    }
  }

  /** Returns the index of the first entry that is not less than the text. */
  #lowerBound(text: string): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#entries[middle]! < text) low = middle + 1
      else high = middle
    }
    return low
  }
}

function numberOf(entry: string): number {
  return entry.charCodeAt(entry.length - 1)
}

const CODE_OF_A = 'a'.charCodeAt(0)

/** Returns the letters a to z of the text as a bit set: bit 0 is a, bit 25 is z. */
function letterSetOf(text: string): number {
  let letterSet = 0
  for (let index = 0; index < text.length; index++) {
    const bit = text.charCodeAt(index) - CODE_OF_A
    if (bit >= 0 && bit < 26) letterSet |= 1 << bit
  }
  return letterSet
}

// Place numbers are stored as one UTF-16 code unit.
const MAX_PLACES = 65_536

/** Sorted index from pincodes to places, best known first. */
export class PincodeIndex {
  readonly #codes: Int32Array
  readonly #numbers: Int32Array
  readonly #places: Place[]

  constructor(places: Place[]) {
    this.#places = places
    const pairs: number[] = []
    places.forEach(({ pincodes: codes }, number) => {
      for (const code of codes) pairs.push(code * MAX_PLACES + number)
    })
    const sortedPairs = Float64Array.from(pairs).sort()
    this.#codes = Int32Array.from(sortedPairs, (pair) => Math.floor(pair / MAX_PLACES))
    this.#numbers = Int32Array.from(sortedPairs, (pair) => pair % MAX_PLACES)
  }

  *startingWith(digits: string): Generator<{ place: Place; code: number }> {
    if (digits.length > 6) return
    const rangeSize = 10 ** (6 - digits.length)
    const firstPincode = Number(digits) * rangeSize
    // Pincodes never start with 0.
    if (!digits.startsWith('0')) yield* this.between(firstPincode, firstPincode + rangeSize - 1)
  }

  *between(from: number, to: number): Generator<{ place: Place; code: number }> {
    let low = 0
    let high = this.#codes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#codes[middle]! < from) low = middle + 1
      else high = middle
    }
    for (let index = low; index < this.#codes.length && this.#codes[index]! <= to; index++) {
      yield { place: this.#places[this.#numbers[index]!]!, code: this.#codes[index]! }
    }
  }
}
