import type { Place } from './gazetteer.ts'

/**
 * Names in order, each with the number of what it names. A name and its number are kept as one text, the number as a
 * single character behind a NUL, because sorting and searching plain texts is what the engine does fastest.
 */
export class NameIndex {
  readonly #entries: string[] = []
  /** Which letters of the alphabet a name has, a bit each; made when the first misspelling comes. */
  #letters: Int32Array | undefined

  add(name: string, number: number) {
    this.#entries.push(`${name}\0${String.fromCharCode(number)}`)
  }

  seal() {
    this.#entries.sort()
  }

  /** What the names that start with the text stand for, or only those that equal it, in the order of the numbers. */
  numbers(text: string, whole = false): number[] {
    const from = this.#firstFrom(whole ? `${text}\0` : text)
    const to = this.#firstFrom(whole ? `${text}\x01` : `${text}\uffff`)
    const numbers: number[] = []
    for (let at = from; at < to; at++) numbers.push(numberOf(this.#entries[at]!))
    return numbers.sort((a, b) => a - b)
  }

  has(name: string): boolean {
    return this.#entries[this.#firstFrom(`${name}\0`)]?.startsWith(`${name}\0`) ?? false
  }

  /** Visits every name that lacks at most so many of the text's letters. */
  resembling(text: string, most: number, visit: (name: string, number: number) => void) {
    const letters = lettersOf(text)
    this.#letters ??= Int32Array.from(this.#entries, lettersOf)
    for (let at = 0; at < this.#letters.length; at++) {
      let missing = letters & ~this.#letters[at]!
      for (let spare = most; missing !== 0 && spare > 0; spare--) missing &= missing - 1
      if (missing === 0) visit(this.#entries[at]!.slice(0, -2), numberOf(this.#entries[at]!))
    }
  }

  #firstFrom(text: string): number {
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
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at) - 97
    if (letter >= 0 && letter < 26) letters |= 1 << letter
  }
  return letters
}

// What a single character can number.
const MOST_PLACES = 65_536

/** Pincodes in order, each with the places that have it, the best known first. */
export class CodeIndex {
  readonly #codes: Int32Array
  readonly #numbers: Int32Array
  readonly #places: Place[]

  constructor(places: Place[]) {
    this.#places = places
    const pairs: number[] = []
    places.forEach(({ codes }, number) => {
      for (const code of codes) pairs.push(code * MOST_PLACES + number)
    })
    const sorted = Float64Array.from(pairs).sort()
    this.#codes = Int32Array.from(sorted, (pair) => Math.floor(pair / MOST_PLACES))
    this.#numbers = Int32Array.from(sorted, (pair) => pair % MOST_PLACES)
  }

  *startingWith(digits: string): Generator<{ place: Place; code: number }> {
    if (digits.length > 6) return
    const room = 10 ** (6 - digits.length)
    const from = Number(digits) * room
    // A code never begins with 0, and neither does what it starts with.
    if (!digits.startsWith('0')) yield* this.between(from, from + room - 1)
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
