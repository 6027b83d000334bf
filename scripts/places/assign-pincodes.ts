import { foldName } from '../../server/places/folding.ts'
import { editDistance } from '../../server/platform/text/edit-distance.ts'
import type { City, Districts } from './own-tables.ts'
import { phoneticKey } from './phonetic-key.ts'
import { buildPincodeAreas, isNotATown, type PincodeArea } from './pincode-areas.ts'
import type { Office, Town } from './sources.ts'

export interface PlaceRow {
  state: string
  district: string
  city: string
  weight: number
  codes: number[]
  otherNames: string[]
  localities: [code: number, name: string][]
}

interface PlaceDraft extends PlaceRow {
  rank: 1 | 2 | 3 | undefined
  /** For a city that spans districts: whether this is the part with its main code. */
  main: boolean
  town: boolean
  head: boolean
  offices: number
}

export interface PlaceSources {
  cities: City[]
  offices: Office[]
  towns: Town[]
  districts: Districts
}

/**
 * Assigns each pincode to a city, in this order: the city that lists the code in our own table; the GeoNames town, or our
 * city, whose name the code's main office has; the name of that office. A GeoNames town that only a branch office is named
 * after becomes a place with the code of that office.
 */
export function assignPincodes({ cities, offices, towns, districts }: PlaceSources): {
  places: PlaceRow[]
  notes: string[]
} {
  const notes: string[] = []
  const areas = buildPincodeAreas(offices, cities, notes)
  const drafts = new Map<string, PlaceDraft>()
  const ownCities = new Map(
    cities.flatMap((city) =>
      [city.city, ...city.otherNames].map((name) => [`${city.state} ${phoneticKey(name)}`, city]),
    ),
  )
  const townNames = new TownNames(towns, areas, districts)

  const draft = (area: PincodeArea, city: string): PlaceDraft => {
    const key = `${area.state}|${area.district}|${phoneticKey(city)}`
    const place: PlaceDraft = drafts.get(key) ?? {
      state: area.state,
      district: area.district,
      city,
      weight: 0,
      codes: [],
      otherNames: [],
      localities: [],
      rank: undefined,
      main: false,
      town: false,
      head: false,
      offices: 0,
    }
    drafts.set(key, place)
    if (!place.codes.includes(area.code)) {
      place.codes.push(area.code)
      place.offices += area.offices.length
    }
    return place
  }

  const assignedCodes = new Set<number>()
  for (const city of cities) {
    const main = areas.get(city.codes[0]![0])
    if (!main || main.state !== city.state) {
      notes.push(`${city.city}: its main code ${city.codes[0]![0]} is not in ${city.state}`)
      continue
    }
    const names = [city.city, ...city.otherNames].map(phoneticKey)
    if (!main.offices.some(({ name }) => names.some((each) => phoneticKey(name).includes(each)))) {
      notes.push(
        `${city.city}: no office of ${main.code} has the name of the city: ${main.offices.map((each) => each.name).slice(0, 5)}`,
      )
    }
    for (const [from, to] of city.codes) {
      for (let code = from; code <= to; code++) {
        const area = areas.get(code)
        if (area?.state !== city.state) continue
        assignedCodes.add(code)
        const place = draft(area, city.city)
        place.city = city.city
        place.rank = city.rank
        place.town = true
        place.head ||= area.main.kind === 'head'
        place.main ||= area === main
        if (place.main) place.otherNames = city.otherNames
        for (const name of area.localities) {
          const part = localityName(name, city.city)
          if (part && !names.includes(phoneticKey(part))) place.localities.push([code, part])
        }
      }
    }
  }

  const areasWithoutTown: PincodeArea[] = []
  for (const area of areas.values()) {
    if (assignedCodes.has(area.code)) continue
    const name = area.main.name
    if (isNotATown(name) && !townNames.nameOf(area, name)) {
      areasWithoutTown.push(area)
      continue
    }
    // "Bareilly City" and "Bareilly Cantt" belong to Bareilly, if Bareilly is in the same district.
    const own = [name, name.split(' ').slice(0, 2).join(' '), name.split(' ')[0]!].find((part) => {
      const city = ownCities.get(`${area.state} ${phoneticKey(part)}`)
      return city && areas.get(city.codes[0]![0])?.district === area.district
    })
    const city = own ? ownCities.get(`${area.state} ${phoneticKey(own)}`)!.city : (townNames.nameOf(area, name) ?? name)
    const place = draft(area, city)
    place.town ||= townNames.nameOf(area, name) !== undefined
    place.head ||= area.main.kind === 'head'
    const part = own && phoneticKey(name) !== phoneticKey(own) ? localityName(name, own) : undefined
    if (part) place.localities.push([area.code, part])
  }
  for (const area of areasWithoutTown) {
    const town = area.offices.find(({ name }) => townNames.nameOf(area, name))
    draft(area, town ? townNames.nameOf(area, town.name)! : (nearestPlace(area, drafts)?.city ?? area.district))
  }

  for (const area of districtsWithoutPincode(areas)) draft(area, area.main.name)

  let unmatchedTowns = 0
  const byDistrict = Map.groupBy(drafts.values(), ({ state, district }) => `${state} ${district}`)
  for (const { town, district, area } of townNames.unassigned(drafts, ownCities)) {
    const variant = byDistrict.get(`${town.state} ${district}`)?.find(({ city }) => isSpellingVariant(town.name, city))
    if (variant) {
      variant.town = true
      if (!variant.otherNames.includes(town.name)) variant.otherNames = [...variant.otherNames, town.name]
    } else if (area) draft(area, town.name).town = true
    else unmatchedTowns++
  }
  notes.push(`${unmatchedTowns} of ${towns.length} towns have no post office with their name and are omitted`)

  const places = [...drafts.values()].map(({ rank, main, town, head, offices: count, ...place }) => ({
    ...place,
    codes: mainFirst(place.codes, cities, place),
    localities: withoutDuplicates(place.localities),
    weight: computeWeight({ ...place, rank, main, town, head, offices: count }, districts),
  }))
  notes.push(`${places.length} places, ${areas.size} codes`)
  return { places, notes }
}

/** Returns an area for each new district whose offices all share their codes with another district: the code with most offices. */
function districtsWithoutPincode(areas: Map<number, PincodeArea>): PincodeArea[] {
  const knownDistricts = new Set([...areas.values()].map(({ state, district }) => `${state} ${district}`))
  const found = new Map<string, PincodeArea>()
  for (const area of areas.values()) {
    const unlisted = area.offices.filter(
      ({ state, district }) => state !== '' && !knownDistricts.has(`${state} ${district}`),
    )
    for (const [key, offices] of Map.groupBy(unlisted, ({ state, district }) => `${state} ${district}`)) {
      const main = offices.find(({ name }) => !isNotATown(name)) ?? offices[0]!
      const { state, district } = main
      if (offices.length > (found.get(key)?.offices.length ?? 0))
        found.set(key, { ...area, state, district, offices, main })
    }
  }
  return [...found.values()]
}

/** Returns the locality in an office name: `Osman Gunj` for `Bidar Osman Gunj`, none for `Bidar Collectorate`. */
function localityName(name: string, city: string): string | undefined {
  const part = foldName(name).startsWith(`${foldName(city)} `) ? name.slice(city.length).trim() : name
  return isNotATown(part) ? undefined : part
}

/** Returns the place of the district with the closest pincode. */
function nearestPlace({ state, district, code }: PincodeArea, drafts: Map<string, PlaceDraft>): PlaceDraft | undefined {
  const distance = ({ codes }: PlaceDraft) => Math.min(...codes.map((each) => Math.abs(each - code)))
  return [...drafts.values()]
    .filter((place) => place.state === state && place.district === district)
    .sort((a, b) => distance(a) - distance(b) || (a.rank ?? 9) - (b.rank ?? 9))[0]
}

/** Whether two names are spellings of the same name. */
function isSpellingVariant(a: string, b: string): boolean {
  const [one, two] = [phoneticKey(a), phoneticKey(b)]
  const maxEdits = one.length >= 11 ? 2 : one.length >= 7 ? 1 : 0
  return (
    one.slice(0, 2) === two.slice(0, 2) &&
    editDistance(one, two, maxEdits) <= maxEdits &&
    directionWords(a) === directionWords(b)
  )
}

/** Returns the words that distinguish towns with the same name, such as Fatehganj East and Fatehganj West. */
function directionWords(name: string): string {
  return (name.match(/\b(east|west|north|south|kalan|khurd|i{1,3})\b/gi) ?? []).join(' ').toLowerCase()
}

function computeWeight(place: PlaceDraft, districts: Districts): number {
  const size = Math.min(60, place.codes.length) + Math.min(39, Math.floor(place.offices / 8))
  if (place.rank) return 1000 - place.rank * 200 + size - (place.main ? 0 : 120)
  const namesakes = [place.district, ...districts.otherNames(place.state, place.district)].map(foldName)
  const seat = namesakes.includes(foldName(place.city)) ? 150 : 0
  return seat + (place.head ? 120 : 0) + (place.town ? 60 : 0) + size
}

function mainFirst(codes: number[], cities: City[], { state, city }: PlaceRow): number[] {
  const listed = cities.find((each) => each.state === state && each.city === city)?.codes[0]?.[0]
  const main =
    codes.find((code) => code === listed) ??
    codes.find((code) => code % 100 === 1) ??
    codes.toSorted((a, b) => a - b)[0]!
  return [main, ...codes.filter((code) => code !== main)]
}

function withoutDuplicates(localities: [number, string][]): [number, string][] {
  const seen = new Set<string>()
  return localities
    .sort(([a], [b]) => a - b)
    .filter(([, name]) => {
      const key = phoneticKey(name)
      if (seen.has(key)) return false
      seen.add(key)
      return true
    })
}

interface UnassignedTown {
  town: Town
  district: string | undefined
  area: PincodeArea | undefined
}

/** Finds GeoNames towns by the phonetic key of their name, within a district. */
class TownNames {
  readonly #towns: Town[]
  readonly #areas: Map<number, PincodeArea>
  readonly #byDistrict = new Map<string, Town>()
  readonly #districtOf = new Map<string, string>()

  constructor(towns: Town[], areas: Map<number, PincodeArea>, districts: Districts) {
    this.#towns = towns
    this.#areas = areas
    for (const { state, district } of areas.values()) {
      for (const name of [district, ...districts.otherNames(state, district)]) {
        this.#districtOf.set(`${state} ${phoneticKey(name)}`, district)
      }
    }
    for (const town of towns) {
      const district = this.#district(town)
      if (district) this.#byDistrict.set(`${town.state} ${district} ${phoneticKey(town.name)}`, town)
    }
  }

  #district({ state, district }: Town): string | undefined {
    return this.#districtOf.get(`${state} ${phoneticKey(district)}`)
  }

  nameOf(area: PincodeArea, name: string): string | undefined {
    return this.#byDistrict.get(`${area.state} ${area.district} ${phoneticKey(name)}`)?.name
  }

  /** Yields the towns that are not a place yet, with the area of a branch office that has their name. */
  *unassigned(drafts: Map<string, PlaceDraft>, ownCities: Map<string, City>): Generator<UnassignedTown> {
    const branches = new Map<string, PincodeArea>()
    const byState = new Map<string, PincodeArea | null>()
    for (const area of this.#areas.values()) {
      for (const { name } of area.offices) {
        branches.set(`${area.state} ${area.district} ${phoneticKey(name)}`, area)
        const key = `${area.state} ${phoneticKey(name)}`
        const other = byState.get(key)
        byState.set(key, other === undefined || other?.district === area.district ? area : null)
      }
    }
    for (const town of this.#towns) {
      const key = phoneticKey(town.name)
      const district = this.#district(town)
      if (ownCities.has(`${town.state} ${key}`) || drafts.has(`${town.state}|${district}|${key}`)) continue
      const area = branches.get(`${town.state} ${district} ${key}`) ?? byState.get(`${town.state} ${key}`) ?? undefined
      if (area && drafts.has(`${area.state}|${area.district}|${key}`)) continue
      yield { town, district: area?.district ?? district, area }
    }
  }
}
