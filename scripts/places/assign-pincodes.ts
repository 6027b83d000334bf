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
  /** For a city that spans several districts: whether this part of the city contains its main pincode. */
  hasMainPincode: boolean
  isTown: boolean
  hasHeadOffice: boolean
  officeCount: number
}

export interface PlaceSources {
  cities: City[]
  offices: Office[]
  towns: Town[]
  districts: Districts
}

/**
 * Assigns each pincode to the first of these: the city that lists the pincode in our own table; the GeoNames town, or our own
 * city, with the same name as the main post office of the pincode; a place named after that office. If only a
 * branch office has the name of a GeoNames town, the town becomes a place with the pincode of that office.
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

  const addToDraft = (area: PincodeArea, city: string): PlaceDraft => {
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
      hasMainPincode: false,
      isTown: false,
      hasHeadOffice: false,
      officeCount: 0,
    }
    drafts.set(key, place)
    if (!place.codes.includes(area.code)) {
      place.codes.push(area.code)
      place.officeCount += area.offices.length
    }
    return place
  }

  const assignedCodes = new Set<number>()
  for (const city of cities) {
    const mainArea = areas.get(city.codes[0]![0])
    if (!mainArea || mainArea.state !== city.state) {
      notes.push(`${city.city}: its main code ${city.codes[0]![0]} is not in ${city.state}`)
      continue
    }
    const nameKeys = [city.city, ...city.otherNames].map(phoneticKey)
    if (!mainArea.offices.some(({ name }) => nameKeys.some((each) => phoneticKey(name).includes(each)))) {
      notes.push(
        `${city.city}: no office of ${mainArea.code} has the name of the city: ${mainArea.offices.map((each) => each.name).slice(0, 5)}`,
      )
    }
    for (const [from, to] of city.codes) {
      for (let code = from; code <= to; code++) {
        const area = areas.get(code)
        if (area?.state !== city.state) continue
        assignedCodes.add(code)
        const place = addToDraft(area, city.city)
        place.city = city.city
        place.rank = city.rank
        place.isTown = true
        place.hasHeadOffice ||= area.main.kind === 'head'
        place.hasMainPincode ||= area === mainArea
        if (place.hasMainPincode) place.otherNames = city.otherNames
        for (const name of area.localities) {
          const locality = localityName(name, city.city)
          if (locality && !nameKeys.includes(phoneticKey(locality))) place.localities.push([code, locality])
        }
      }
    }
  }

  const areasWithoutTown: PincodeArea[] = []
  for (const area of areas.values()) {
    if (assignedCodes.has(area.code)) continue
    const officeName = area.main.name
    if (isNotATown(officeName) && !townNames.nameOf(area, officeName)) {
      areasWithoutTown.push(area)
      continue
    }
    // "Bareilly City" and "Bareilly Cantt" belong to Bareilly, if Bareilly is in the same district.
    const ownCityName = [officeName, officeName.split(' ').slice(0, 2).join(' '), officeName.split(' ')[0]!].find(
      (part) => {
        const city = ownCities.get(`${area.state} ${phoneticKey(part)}`)
        return city && areas.get(city.codes[0]![0])?.district === area.district
      },
    )
    const city = ownCityName
      ? ownCities.get(`${area.state} ${phoneticKey(ownCityName)}`)!.city
      : (townNames.nameOf(area, officeName) ?? officeName)
    const place = addToDraft(area, city)
    place.isTown ||= townNames.nameOf(area, officeName) !== undefined
    place.hasHeadOffice ||= area.main.kind === 'head'
    const locality =
      ownCityName && phoneticKey(officeName) !== phoneticKey(ownCityName)
        ? localityName(officeName, ownCityName)
        : undefined
    if (locality) place.localities.push([area.code, locality])
  }
  for (const area of areasWithoutTown) {
    const officeOfTown = area.offices.find(({ name }) => townNames.nameOf(area, name))
    addToDraft(
      area,
      officeOfTown ? townNames.nameOf(area, officeOfTown.name)! : (nearestPlace(area, drafts)?.city ?? area.district),
    )
  }

  for (const area of areasOfDistrictsWithoutPincode(areas)) addToDraft(area, area.main.name)

  let unmatchedTowns = 0
  const draftsByDistrict = Map.groupBy(drafts.values(), ({ state, district }) => `${state} ${district}`)
  for (const { town, district, area } of townNames.unassigned(drafts, ownCities)) {
    const variant = draftsByDistrict
      .get(`${town.state} ${district}`)
      ?.find(({ city }) => isSpellingVariant(town.name, city))
    if (variant) {
      variant.isTown = true
      if (!variant.otherNames.includes(town.name)) variant.otherNames = [...variant.otherNames, town.name]
    } else if (area) addToDraft(area, town.name).isTown = true
    else unmatchedTowns++
  }
  notes.push(`${unmatchedTowns} of ${towns.length} towns have no post office with their name and are omitted`)

  const places = [...drafts.values()].map(({ rank, hasMainPincode, isTown, hasHeadOffice, officeCount, ...place }) => ({
    ...place,
    codes: withMainCodeFirst(place.codes, cities, place),
    localities: withoutDuplicates(place.localities),
    weight: computeWeight({ ...place, rank, hasMainPincode, isTown, hasHeadOffice, officeCount }, districts),
  }))
  notes.push(`${places.length} places, ${areas.size} codes`)
  return { places, notes }
}

/**
 * Returns an area for each district without a pincode of its own, because its offices share their pincodes with another district:
 * the pincode area with most offices of the district.
 */
function areasOfDistrictsWithoutPincode(areas: Map<number, PincodeArea>): PincodeArea[] {
  const knownDistricts = new Set([...areas.values()].map(({ state, district }) => `${state} ${district}`))
  const areasByDistrict = new Map<string, PincodeArea>()
  for (const area of areas.values()) {
    const officesOfMissingDistricts = area.offices.filter(
      ({ state, district }) => state !== '' && !knownDistricts.has(`${state} ${district}`),
    )
    for (const [key, offices] of Map.groupBy(
      officesOfMissingDistricts,
      ({ state, district }) => `${state} ${district}`,
    )) {
      const mainOffice = offices.find(({ name }) => !isNotATown(name)) ?? offices[0]!
      const { state, district } = mainOffice
      if (offices.length > (areasByDistrict.get(key)?.offices.length ?? 0))
        areasByDistrict.set(key, { ...area, state, district, offices, main: mainOffice })
    }
  }
  return [...areasByDistrict.values()]
}

/** Returns the locality in an office name: `Osman Gunj` for `Bidar Osman Gunj`, undefined for `Bidar Collectorate`. */
function localityName(officeName: string, city: string): string | undefined {
  const locality = foldName(officeName).startsWith(`${foldName(city)} `)
    ? officeName.slice(city.length).trim()
    : officeName
  return isNotATown(locality) ? undefined : locality
}

/** Returns the place in the same district whose pincode is numerically closest. */
function nearestPlace({ state, district, code }: PincodeArea, drafts: Map<string, PlaceDraft>): PlaceDraft | undefined {
  const distance = ({ codes }: PlaceDraft) => Math.min(...codes.map((each) => Math.abs(each - code)))
  return [...drafts.values()]
    .filter((place) => place.state === state && place.district === district)
    .sort((a, b) => distance(a) - distance(b) || (a.rank ?? 9) - (b.rank ?? 9))[0]
}

/** Whether two place names are spellings of the same name. */
function isSpellingVariant(a: string, b: string): boolean {
  const [firstKey, secondKey] = [phoneticKey(a), phoneticKey(b)]
  const maxEdits = firstKey.length >= 11 ? 2 : firstKey.length >= 7 ? 1 : 0
  return (
    firstKey.slice(0, 2) === secondKey.slice(0, 2) &&
    editDistance(firstKey, secondKey, maxEdits) <= maxEdits &&
    directionWords(a) === directionWords(b)
  )
}

/** Returns the words that distinguish towns with the same name, such as Fatehganj East and Fatehganj West. */
function directionWords(name: string): string {
  return (name.match(/\b(east|west|north|south|kalan|khurd|i{1,3})\b/gi) ?? []).join(' ').toLowerCase()
}

function computeWeight(place: PlaceDraft, districts: Districts): number {
  const sizeScore = Math.min(60, place.codes.length) + Math.min(39, Math.floor(place.officeCount / 8))
  if (place.rank) return 1000 - place.rank * 200 + sizeScore - (place.hasMainPincode ? 0 : 120)
  const districtNames = [place.district, ...districts.otherNames(place.state, place.district)].map(foldName)
  const districtSeatBonus = districtNames.includes(foldName(place.city)) ? 150 : 0
  return districtSeatBonus + (place.hasHeadOffice ? 120 : 0) + (place.isTown ? 60 : 0) + sizeScore
}

function withMainCodeFirst(codes: number[], cities: City[], { state, city }: PlaceRow): number[] {
  const listedMainCode = cities.find((each) => each.state === state && each.city === city)?.codes[0]?.[0]
  const mainCode =
    codes.find((code) => code === listedMainCode) ??
    codes.find((code) => code % 100 === 1) ??
    codes.toSorted((a, b) => a - b)[0]!
  return [mainCode, ...codes.filter((code) => code !== mainCode)]
}

function withoutDuplicates(localities: [number, string][]): [number, string][] {
  const seenKeys = new Set<string>()
  return localities
    .sort(([a], [b]) => a - b)
    .filter(([, name]) => {
      const key = phoneticKey(name)
      if (seenKeys.has(key)) return false
      seenKeys.add(key)
      return true
    })
}

interface UnassignedTown {
  town: Town
  district: string | undefined
  area: PincodeArea | undefined
}

/** Finds GeoNames towns by district and by the phonetic key of their name. */
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

  /** Yields the towns that are not a place yet, each with the pincode area of a branch office of the same name. */
  *unassigned(drafts: Map<string, PlaceDraft>, ownCities: Map<string, City>): Generator<UnassignedTown> {
    const areasByDistrictAndName = new Map<string, PincodeArea>()
    const areasByStateAndName = new Map<string, PincodeArea | null>()
    for (const area of this.#areas.values()) {
      for (const { name } of area.offices) {
        areasByDistrictAndName.set(`${area.state} ${area.district} ${phoneticKey(name)}`, area)
        const key = `${area.state} ${phoneticKey(name)}`
        const previousArea = areasByStateAndName.get(key)
        areasByStateAndName.set(
          key,
          previousArea === undefined || previousArea?.district === area.district ? area : null,
        )
      }
    }
    for (const town of this.#towns) {
      const key = phoneticKey(town.name)
      const district = this.#district(town)
      if (ownCities.has(`${town.state} ${key}`) || drafts.has(`${town.state}|${district}|${key}`)) continue
      const area =
        areasByDistrictAndName.get(`${town.state} ${district} ${key}`) ??
        areasByStateAndName.get(`${town.state} ${key}`) ??
        undefined
      if (area && drafts.has(`${area.state}|${area.district}|${key}`)) continue
      yield { town, district: area?.district ?? district, area }
    }
  }
}
