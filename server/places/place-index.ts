import type { Place } from './gazetteer.ts'

/**
 * Sorted index from the names of places, districts or localities to their numbers. An entry is one string: the name, a NUL, and the number as a single character, because JavaScript
 * engines sort and compare plain strings fastest.
 */
export class NameIndex {
  readonly #entries: string[] = []
  /** Bit set of the letters a to z in each name; computed for the first fuzzy search. */
  #letters: Int32Array | undefined

  add(name: string, number: number) {
    this.#entries.push(`${name}\0${String.fromCharCode(number)}`)
  }

  sort() {
    this.#entries.sort()
  }

  /** Returns the numbers of the names that start with the text, or equal it if `exact`, in ascending order. */
  numbers(text: string, exact = false): number[] {
    const start = this.#lowerBound(exact ? `${text}\0` : text)
    const end = this.#lowerBound(exact ? `${text}\x01` : `${text}\uffff`)
    const numbers: number[] = []
    for (let index = start; index < end; index++) numbers.push(numberOf(this.#entries[index]!))
    return numbers.sort((a, b) => a - b)
  }

  has(name: string): boolean {
    return this.#entries[this.#lowerBound(`${name}\0`)]?.startsWith(`${name}\0`) ?? false
  }

  /** Calls `visit` for every name that lacks at most `maxMissing` of the text's letters. */
  forEachSimilar(text: string, maxMissing: number, visit: (name: string, number: number) => void) {
    const textLetters = lettersOf(text)
    this.#letters ??= Int32Array.from(this.#entries, lettersOf)
    for (let index = 0; index < this.#letters.length; index++) {
      let missing = textLetters & ~this.#letters[index]!
      for (let spare = maxMissing; missing !== 0 && spare > 0; spare--) missing &= missing - 1
      if (missing === 0) visit(this.#entries[index]!.slice(0, -2), numberOf(this.#entries[index]!))
    }
  }

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

function lettersOf(text: string): number {
  let letters = 0
  for (let index = 0; index < text.length; index++) {
    const letter = text.charCodeAt(index) - 97
    if (letter >= 0 && letter < 26) letters |= 1 << letter
  }
  return letters
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
    for (let at = low; at < this.#codes.length && this.#codes[at]! <= to; at++) {
      yield { place: this.#places[this.#numbers[at]!]!, code: this.#codes[at]! }
    }
  }
}
