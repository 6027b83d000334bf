import { edits, LONGEST } from './edits.ts'
import { fold } from './folding.ts'
import { type District, type Gazetteer, type Place, readGazetteer, type State } from './gazetteer.ts'
import { CodeIndex, NameIndex } from './place-index.ts'

export interface Location {
  city: string
  district: string
  state: string
  pincode: string
}

export interface LocationQuery {
  q?: string | undefined
  /** As resolved by `findState`. */
  state?: State | undefined
  pincode?: string | undefined
}

/** A place, and the one of its pincodes that answers the question. */
interface Hit {
  place: Place
  code: number
}

/**
 * Every place of India, in the process. A place is numbered by how well known it is, so that among equal matches the
 * smaller number is the better answer; names are kept sorted, so that a prefix is a range found by halving. Only
 * when nothing bears the very name are misspellings looked for, by comparing with every name that has nearly all of the letters.
 */
export class Locations {
  readonly states: State[]
  readonly #places: Place[]
  readonly #codes: CodeIndex
  readonly #cities = new NameIndex()
  readonly #laterWords = new NameIndex()
  readonly #districts = new NameIndex()
  /** The numbers of each district's places; the district's own number is its place in this list. */
  readonly #placesOfDistrict: number[][] = []
  readonly #localities = new NameIndex()
  readonly #localityAt: { code: number; number: number }[] = []
  readonly #stateByName = new Map<string, State>()

  constructor({ states, places }: Gazetteer) {
    this.states = states
    this.#places = places
    this.#codes = new CodeIndex(places)
    for (const state of states) {
      for (const name of [state.code, state.name, ...state.others]) this.#stateByName.set(fold(name), state)
    }
    const districtNumbers = new Map<District, number>()
    places.forEach((place, number) => {
      this.#addCity(fold(place.city), number)
      for (const name of place.others) this.#addCity(fold(name), number)
      let district = districtNumbers.get(place.district)
      if (district === undefined) {
        district = this.#placesOfDistrict.push([]) - 1
        districtNumbers.set(place.district, district)
        for (const name of [place.district.name, ...place.district.others]) this.#districts.add(fold(name), district)
      }
      this.#placesOfDistrict[district]!.push(number)
      for (const { code, name } of place.localities) {
        this.#localities.add(fold(name), this.#localityAt.push({ code, number }) - 1)
      }
    })
    for (const index of [this.#cities, this.#laterWords, this.#districts, this.#localities]) index.seal()
  }

  #addCity(name: string, number: number) {
    this.#cities.add(name, number)
    for (let at = name.indexOf(' '); at >= 0; at = name.indexOf(' ', at + 1)) {
      this.#laterWords.add(name.slice(at + 1), number)
    }
  }

  /** By name, abbreviation or a former name, whatever the case. */
  findState(name: string): State | undefined {
    return this.#stateByName.get(fold(name))
  }

  /** The best answers first, from `offset` on; `more` tells whether any follow. */
  find(query: LocationQuery, offset: number, limit: number): { items: Location[]; more: boolean } {
    const hits: Hit[] = []
    let toSkip = offset
    for (const hit of this.#matches(query)) {
      if (toSkip-- > 0) continue
      hits.push(hit)
      if (hits.length > limit) break
    }
    return { items: hits.slice(0, limit).map(location), more: hits.length > limit }
  }

  *#matches({ q, state, pincode }: LocationQuery): Generator<Hit> {
    const code = pincode === undefined ? undefined : Number(pincode)
    for (const hit of q === undefined ? this.#all(code) : this.#search(fold(q))) {
      if (state && hit.place.state !== state) continue
      if (code === undefined) yield hit
      else if (hit.place.codes.includes(code)) yield { place: hit.place, code }
    }
  }

  *#all(code: number | undefined): Generator<Hit> {
    if (code !== undefined) yield* this.#codes.between(code, code)
    else for (const place of this.#places) yield { place, code: place.codes[0]! }
  }

  *#search(text: string): Generator<Hit> {
    if (text === '') return
    const digits = text.replaceAll(' ', '')
    if (/^\d+$/.test(digits)) {
      yield* this.#codes.startingWith(digits)
      return
    }
    const seen = new Set<number>()
    yield* this.#fresh(this.#cities.numbers(text, true), seen)
    yield* this.#fresh(this.#cities.numbers(text), seen)
    yield* this.#fresh(this.#laterWords.numbers(text), seen)
    yield* this.#fresh(this.#inDistricts(this.#districts.numbers(text)), seen)
    yield* this.#inLocalities(text, seen)
    yield* this.#inState(text, seen)
    if (seen.size === 0) yield* this.#inNamedState(text, seen)
    const known = [this.#cities, this.#districts, this.#localities].some((index) => index.has(text))
    if (!known) yield* this.#misspelt(text, seen)
  }

  *#fresh(numbers: Iterable<number>, seen: Set<number>): Generator<Hit> {
    for (const number of numbers) {
      if (seen.has(number)) continue
      seen.add(number)
      const place = this.#places[number]!
      yield { place, code: place.codes[0]! }
    }
  }

  #inDistricts(districts: number[]): number[] {
    return districts.flatMap((district) => this.#placesOfDistrict[district]!).sort((a, b) => a - b)
  }

  /** Whoever types the name of a state gets its places. */
  *#inState(text: string, seen: Set<number>): Generator<Hit> {
    const state = text.length > 2 ? this.#stateByName.get(text) : undefined
    if (!state) return
    const numbers = this.#places.flatMap((place, number) => (place.state === state ? [number] : []))
    yield* this.#fresh(numbers, seen)
  }

  /** Koramangala is answered by Bengaluru, with Koramangala's pincode. */
  *#inLocalities(text: string, seen: Set<number>): Generator<Hit> {
    for (const at of this.#localities.numbers(text)) {
      const { code, number } = this.#localityAt[at]!
      if (seen.has(number)) continue
      seen.add(number)
      yield { place: this.#places[number]!, code }
    }
  }

  /** `Aurangabad Bihar`, `Pune, MH`: the last words may be the state. */
  *#inNamedState(text: string, seen: Set<number>): Generator<Hit> {
    for (let at = text.indexOf(' '); at >= 0; at = text.indexOf(' ', at + 1)) {
      const state = this.#stateByName.get(text.slice(at + 1))
      if (!state) continue
      const numbers = this.#cities.numbers(text.slice(0, at))
      yield* this.#fresh(
        numbers.filter((number) => this.#places[number]!.state === state),
        seen,
      )
      return
    }
  }

  *#misspelt(text: string, seen: Set<number>): Generator<Hit> {
    const most = text.length < 4 ? 0 : text.length < 8 ? 1 : 2
    if (most === 0 || text.length > LONGEST) return
    // A whole name with a slip is a better guess than the beginning of a longer one.
    const collect = (index: NameIndex) => {
      const guesses: number[][] = Array.from({ length: 2 * most + 2 }, () => [])
      index.resembling(text, most, (name, number) => {
        const whole = edits(text, name, most)
        const slips = whole <= most ? whole : edits(text, name, most, true)
        if (slips <= most) guesses[2 * slips + (whole <= most ? 0 : 1)]!.push(number)
      })
      return guesses.map((numbers) => numbers.sort((a, b) => a - b))
    }
    for (const numbers of collect(this.#cities)) yield* this.#fresh(numbers, seen)
    for (const districts of collect(this.#districts)) yield* this.#fresh(this.#inDistricts(districts), seen)
  }
}

function location({ place, code }: Hit): Location {
  return { city: place.city, district: place.district.name, state: place.state.name, pincode: String(code) }
}

let shared: Locations | undefined

/** The one index of this process, made at its first use. */
export function locations(): Locations {
  shared ??= new Locations(readGazetteer())
  return shared
}
