import {
  editDistance,
  MAX_EDIT_DISTANCE_LENGTH,
  prefixEditDistance,
  typoTolerance,
} from '../platform/text/edit-distance.ts'
import { foldName } from './folding.ts'
import { type District, type Gazetteer, type Place, readGazetteer, type State } from './gazetteer.ts'
import { NameIndex, PincodeIndex } from './place-index.ts'

export interface Location {
  city: string
  district: string
  state: string
  pincode: string
}

export interface LocationQuery {
  q?: string | undefined
  /** State returned by `findState`. */
  state?: State | undefined
  pincode?: string | undefined
}

/** A place, and the pincode to return with it. */
interface LocationHit {
  place: Place
  code: number
}

/**
 * In-memory search index of all places in India. The best-known place has the number 0, so the place with the lower number wins
 * among equal matches. Names are sorted, so that binary search finds all names with a prefix. If no name equals the text, the search
 * allows typos: it compares the text with every name that contains nearly all of its letters.
 */
export class LocationIndex {
  readonly states: State[]
  readonly #places: Place[]
  readonly #pincodes: PincodeIndex
  readonly #cities = new NameIndex()
  /** City names without their first words, so that `Mumbai` finds Navi Mumbai. */
  readonly #laterWords = new NameIndex()
  readonly #districts = new NameIndex()
  /** Numbers of the places in each district, indexed by district number. */
  readonly #placesOfDistrict: number[][] = []
  readonly #localities = new NameIndex()
  /** Pincode and place number of each locality, indexed by locality number. */
  readonly #localityTargets: { code: number; number: number }[] = []
  readonly #stateByName = new Map<string, State>()

  constructor({ states, places }: Gazetteer) {
    this.states = states
    this.#places = places
    this.#pincodes = new PincodeIndex(places)
    for (const state of states) {
      for (const name of [state.code, state.name, ...state.aliases]) this.#stateByName.set(foldName(name), state)
    }
    const districtNumbers = new Map<District, number>()
    places.forEach((place, number) => {
      this.#addCity(foldName(place.city), number)
      for (const name of place.aliases) this.#addCity(foldName(name), number)
      let district = districtNumbers.get(place.district)
      if (district === undefined) {
        district = this.#placesOfDistrict.push([]) - 1
        districtNumbers.set(place.district, district)
        for (const name of [place.district.name, ...place.district.aliases])
          this.#districts.add(foldName(name), district)
      }
      this.#placesOfDistrict[district]!.push(number)
      for (const { code, name } of place.localities) {
        this.#localities.add(foldName(name), this.#localityTargets.push({ code, number }) - 1)
      }
    })
    for (const index of [this.#cities, this.#laterWords, this.#districts, this.#localities]) index.sort()
  }

  #addCity(name: string, number: number) {
    this.#cities.add(name, number)
    for (let space = name.indexOf(' '); space >= 0; space = name.indexOf(' ', space + 1)) {
      this.#laterWords.add(name.slice(space + 1), number)
    }
  }

  /** Finds a state by its name, abbreviation or former name, in any case. */
  findState(name: string): State | undefined {
    return this.#stateByName.get(foldName(name))
  }

  /** Returns one page of the matching places, best matches first. */
  search(query: LocationQuery, offset: number, limit: number): { items: Location[]; hasMore: boolean } {
    const hits: LocationHit[] = []
    let toSkip = offset
    for (const hit of this.#matches(query)) {
      if (toSkip-- > 0) continue
      hits.push(hit)
      if (hits.length > limit) break
    }
    return { items: hits.slice(0, limit).map(toLocation), hasMore: hits.length > limit }
  }

  *#matches({ q, state, pincode }: LocationQuery): Generator<LocationHit> {
    const code = pincode === undefined ? undefined : Number(pincode)
    for (const hit of q === undefined ? this.#allPlaces(code) : this.#searchByText(foldName(q))) {
      if (state && hit.place.state !== state) continue
      if (code === undefined) yield hit
      else if (hit.place.pincodes.includes(code)) yield { place: hit.place, code }
    }
  }

  *#allPlaces(code: number | undefined): Generator<LocationHit> {
    if (code !== undefined) yield* this.#pincodes.between(code, code)
    else for (const place of this.#places) yield { place, code: place.pincodes[0]! }
  }

  *#searchByText(text: string): Generator<LocationHit> {
    if (text === '') return
    const digits = text.replaceAll(' ', '')
    if (/^\d+$/.test(digits)) {
      yield* this.#pincodes.startingWith(digits)
      return
    }
    const seenNumbers = new Set<number>()
    yield* this.#unseenPlaces(this.#cities.findExact(text), seenNumbers)
    yield* this.#unseenPlaces(this.#cities.findByPrefix(text), seenNumbers)
    yield* this.#unseenPlaces(this.#laterWords.findByPrefix(text), seenNumbers)
    yield* this.#unseenPlaces(this.#placesInDistricts(this.#districts.findByPrefix(text)), seenNumbers)
    yield* this.#placesOfLocalities(text, seenNumbers)
    yield* this.#placesInState(text, seenNumbers)
    if (seenNumbers.size === 0) yield* this.#citiesInNamedState(text, seenNumbers)
    const isKnownName = [this.#cities, this.#districts, this.#localities].some((index) => index.has(text))
    if (!isKnownName) yield* this.#placesWithTypos(text, seenNumbers)
  }

  *#unseenPlaces(numbers: Iterable<number>, seen: Set<number>): Generator<LocationHit> {
    for (const number of numbers) {
      if (seen.has(number)) continue
      seen.add(number)
      const place = this.#places[number]!
      yield { place, code: place.pincodes[0]! }
    }
  }

  #placesInDistricts(districts: number[]): number[] {
    return districts.flatMap((district) => this.#placesOfDistrict[district]!).sort((a, b) => a - b)
  }

  /** Yields the places of a state if the text is its name. */
  *#placesInState(text: string, seen: Set<number>): Generator<LocationHit> {
    const state = text.length > 2 ? this.#stateByName.get(text) : undefined
    if (!state) return
    const numbers = this.#places.flatMap((place, number) => (place.state === state ? [number] : []))
    yield* this.#unseenPlaces(numbers, seen)
  }

  /** Yields the cities of matching localities: `Koramangala` finds Bengaluru with Koramangala's pincode. */
  *#placesOfLocalities(text: string, seen: Set<number>): Generator<LocationHit> {
    for (const localityNumber of this.#localities.findByPrefix(text)) {
      const { code, number } = this.#localityTargets[localityNumber]!
      if (seen.has(number)) continue
      seen.add(number)
      yield { place: this.#places[number]!, code }
    }
  }

  /** Yields the cities of a state if the text ends with the state's name: `Aurangabad Bihar`, `Pune, MH`. */
  *#citiesInNamedState(text: string, seen: Set<number>): Generator<LocationHit> {
    for (let space = text.indexOf(' '); space >= 0; space = text.indexOf(' ', space + 1)) {
      const state = this.#stateByName.get(text.slice(space + 1))
      if (!state) continue
      const numbers = this.#cities.findByPrefix(text.slice(0, space))
      yield* this.#unseenPlaces(
        numbers.filter((number) => this.#places[number]!.state === state),
        seen,
      )
      return
    }
  }

  *#placesWithTypos(text: string, seen: Set<number>): Generator<LocationHit> {
    const tolerance = typoTolerance(text.length)
    if (tolerance === 0 || text.length > MAX_EDIT_DISTANCE_LENGTH) return
    // Fewer typos rank first. With the same number of typos, a whole name ranks before a prefix of a longer name.
    const matchesByRank = (index: NameIndex) => {
      const matches: number[][] = Array.from({ length: 2 * tolerance + 2 }, () => [])
      index.forEachSimilar(text, tolerance, (name, number) => {
        const wholeNameDistance = editDistance(text, name, tolerance)
        const isWholeName = wholeNameDistance <= tolerance
        const typoCount = isWholeName ? wholeNameDistance : prefixEditDistance(text, name, tolerance)
        if (typoCount <= tolerance) matches[2 * typoCount + (isWholeName ? 0 : 1)]!.push(number)
      })
      return matches.map((numbers) => numbers.sort((a, b) => a - b))
    }
    for (const numbers of matchesByRank(this.#cities)) yield* this.#unseenPlaces(numbers, seen)
    for (const districts of matchesByRank(this.#districts))
      yield* this.#unseenPlaces(this.#placesInDistricts(districts), seen)
  }
}

function toLocation({ place, code }: LocationHit): Location {
  return { city: place.city, district: place.district.name, state: place.state.name, pincode: String(code) }
}

let cached: LocationIndex | undefined

/** Returns the search index of all places, which is created at first use. */
export function locationIndex(): LocationIndex {
  cached ??= new LocationIndex(readGazetteer())
  return cached
}
