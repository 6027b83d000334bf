import { edits } from '../../server/places/edits.ts'
import { fold } from '../../server/places/folding.ts'
import { type CodeArea, isNoTown, settleAreas } from './areas.ts'
import type { City, Districts } from './reviewed.ts'
import { sound } from './sound.ts'
import type { Office, Town } from './sources.ts'

export interface Place {
  state: string
  district: string
  city: string
  weight: number
  codes: number[]
  others: string[]
  localities: [code: number, name: string][]
}

interface Draft extends Place {
  rank: 1 | 2 | 3 | undefined
  /** The part of a city that holds its main code, where the city spans districts. */
  main: boolean
  town: boolean
  head: boolean
  offices: number
}

export interface Sources {
  cities: City[]
  offices: Office[]
  towns: Town[]
  districts: Districts
}

/**
 * Which city each pincode belongs to. In order: the codes that our own table gives a city; the town of GeoNames, or our city, whose
 * name the code's main office carries; that office's own name. A town of GeoNames that only a branch office is named
 * after becomes a place with that office's code.
 */
export function settle({ cities, offices, towns, districts }: Sources): { places: Place[]; notes: string[] } {
  const notes: string[] = []
  const areas = settleAreas(offices, cities, notes)
  const drafts = new Map<string, Draft>()
  const ours = new Map(
    cities.flatMap((city) => [city.city, ...city.others].map((name) => [`${city.state} ${sound(name)}`, city])),
  )
  const townNames = new TownNames(towns, areas, districts)

  const draft = (area: CodeArea, city: string): Draft => {
    const key = `${area.state}|${area.district}|${sound(city)}`
    const made: Draft = drafts.get(key) ?? {
      state: area.state,
      district: area.district,
      city,
      weight: 0,
      codes: [],
      others: [],
      localities: [],
      rank: undefined,
      main: false,
      town: false,
      head: false,
      offices: 0,
    }
    drafts.set(key, made)
    if (!made.codes.includes(area.code)) {
      made.codes.push(area.code)
      made.offices += area.offices.length
    }
    return made
  }

  const taken = new Set<number>()
  for (const city of cities) {
    const main = areas.get(city.codes[0]![0])
    if (!main || main.state !== city.state) {
      notes.push(`${city.city}: its main code ${city.codes[0]![0]} is not in ${city.state}`)
      continue
    }
    const names = [city.city, ...city.others].map(sound)
    if (!main.offices.some(({ name }) => names.some((each) => sound(name).includes(each)))) {
      notes.push(
        `${city.city}: no office of ${main.code} carries the name: ${main.offices.map((each) => each.name).slice(0, 5)}`,
      )
    }
    for (const [from, to] of city.codes) {
      for (let code = from; code <= to; code++) {
        const area = areas.get(code)
        if (area?.state !== city.state) continue
        taken.add(code)
        const place = draft(area, city.city)
        place.city = city.city
        place.rank = city.rank
        place.town = true
        place.head ||= area.main.kind === 'head'
        place.main ||= area === main
        if (place.main) place.others = city.others
        for (const name of area.localities) {
          const part = partOf(name, city.city)
          if (part && !names.includes(sound(part))) place.localities.push([code, part])
        }
      }
    }
  }

  const barracks: CodeArea[] = []
  for (const area of areas.values()) {
    if (taken.has(area.code)) continue
    const name = area.main.name
    if (isNoTown(name) && !townNames.nameOf(area, name)) {
      barracks.push(area)
      continue
    }
    // "Bareilly City" and "Bareilly Cantt" belong to Bareilly, if Bareilly is in the same district.
    const own = [name, name.split(' ').slice(0, 2).join(' '), name.split(' ')[0]!].find((part) => {
      const city = ours.get(`${area.state} ${sound(part)}`)
      return city && areas.get(city.codes[0]![0])?.district === area.district
    })
    const city = own ? ours.get(`${area.state} ${sound(own)}`)!.city : (townNames.nameOf(area, name) ?? name)
    const place = draft(area, city)
    place.town ||= townNames.nameOf(area, name) !== undefined
    place.head ||= area.main.kind === 'head'
    const part = own && sound(name) !== sound(own) ? partOf(name, own) : undefined
    if (part) place.localities.push([area.code, part])
  }
  for (const area of barracks) {
    const town = area.offices.find(({ name }) => townNames.nameOf(area, name))
    draft(area, town ? townNames.nameOf(area, town.name)! : (nearestPlace(area, drafts)?.city ?? area.district))
  }

  for (const area of minorities(areas)) draft(area, area.main.name)

  let lost = 0
  const byDistrict = Map.groupBy(drafts.values(), ({ state, district }) => `${state} ${district}`)
  for (const { town, district, area } of townNames.unused(drafts, ours)) {
    const variant = byDistrict.get(`${town.state} ${district}`)?.find(({ city }) => isVariant(town.name, city))
    if (variant) {
      variant.town = true
      if (!variant.others.includes(town.name)) variant.others = [...variant.others, town.name]
    } else if (area) draft(area, town.name).town = true
    else lost++
  }
  notes.push(`${lost} of ${towns.length} towns have no post office of their name and are left out`)

  const places = [...drafts.values()].map(({ rank, main, town, head, offices: count, ...place }) => ({
    ...place,
    codes: mainFirst(place.codes, cities, place),
    localities: distinct(place.localities),
    weight: weigh({ ...place, rank, main, town, head, offices: count }, districts),
  }))
  notes.push(`${places.length} places, ${areas.size} codes`)
  return { places, notes }
}

/** Young districts whose few offices all share a code with another district: each keeps the office it has most to do with. */
function minorities(areas: Map<number, CodeArea>): CodeArea[] {
  const heard = new Set([...areas.values()].map(({ state, district }) => `${state} ${district}`))
  const found = new Map<string, CodeArea>()
  for (const area of areas.values()) {
    const others = area.offices.filter(({ state, district }) => state !== '' && !heard.has(`${state} ${district}`))
    for (const [key, offices] of Map.groupBy(others, ({ state, district }) => `${state} ${district}`)) {
      const main = offices.find(({ name }) => !isNoTown(name)) ?? offices[0]!
      const { state, district } = main
      if (offices.length > (found.get(key)?.offices.length ?? 0))
        found.set(key, { ...area, state, district, offices, main })
    }
  }
  return [...found.values()]
}

/** `Bidar Osman Gunj` is the part `Osman Gunj` of Bidar; `Bidar Collectorate` is none that people name. */
function partOf(name: string, city: string): string | undefined {
  const part = fold(name).startsWith(`${fold(city)} `) ? name.slice(city.length).trim() : name
  return isNoTown(part) ? undefined : part
}

/** The place of the district whose codes come nearest. */
function nearestPlace({ state, district, code }: CodeArea, drafts: Map<string, Draft>): Draft | undefined {
  const distance = ({ codes }: Draft) => Math.min(...codes.map((each) => Math.abs(each - code)))
  return [...drafts.values()]
    .filter((place) => place.state === state && place.district === district)
    .sort((a, b) => distance(a) - distance(b) || (a.rank ?? 9) - (b.rank ?? 9))[0]
}

/** Two spellings of one name. */
function isVariant(a: string, b: string): boolean {
  const [one, two] = [sound(a), sound(b)]
  const most = one.length >= 11 ? 2 : one.length >= 7 ? 1 : 0
  return one.slice(0, 2) === two.slice(0, 2) && edits(one, two, most) <= most && sides(a) === sides(b)
}

/** Fatehganj East and Fatehganj West are two towns. */
function sides(name: string): string {
  return (name.match(/\b(east|west|north|south|kalan|khurd|i{1,3})\b/gi) ?? []).join(' ').toLowerCase()
}

function weigh(place: Draft, districts: Districts): number {
  const size = Math.min(60, place.codes.length) + Math.min(39, Math.floor(place.offices / 8))
  if (place.rank) return 1000 - place.rank * 200 + size - (place.main ? 0 : 120)
  const namesakes = [place.district, ...districts.others(place.state, place.district)].map(fold)
  const seat = namesakes.includes(fold(place.city)) ? 150 : 0
  return seat + (place.head ? 120 : 0) + (place.town ? 60 : 0) + size
}

function mainFirst(codes: number[], cities: City[], { state, city }: Place): number[] {
  const listed = cities.find((each) => each.state === state && each.city === city)?.codes[0]?.[0]
  const main =
    codes.find((code) => code === listed) ??
    codes.find((code) => code % 100 === 1) ??
    codes.toSorted((a, b) => a - b)[0]!
  return [main, ...codes.filter((code) => code !== main)]
}

function distinct(localities: [number, string][]): [number, string][] {
  const seen = new Set<string>()
  return localities
    .sort(([a], [b]) => a - b)
    .filter(([, name]) => {
      const key = sound(name)
      if (seen.has(key)) return false
      seen.add(key)
      return true
    })
}

interface Unused {
  town: Town
  district: string | undefined
  area: CodeArea | undefined
}

/** Towns of GeoNames, found by how their name sounds, within a district where its name is understood. */
class TownNames {
  readonly #towns: Town[]
  readonly #areas: Map<number, CodeArea>
  readonly #byDistrict = new Map<string, Town>()
  readonly #districtOf = new Map<string, string>()

  constructor(towns: Town[], areas: Map<number, CodeArea>, districts: Districts) {
    this.#towns = towns
    this.#areas = areas
    for (const { state, district } of areas.values()) {
      for (const name of [district, ...districts.others(state, district)]) {
        this.#districtOf.set(`${state} ${sound(name)}`, district)
      }
    }
    for (const town of towns) {
      const district = this.#district(town)
      if (district) this.#byDistrict.set(`${town.state} ${district} ${sound(town.name)}`, town)
    }
  }

  #district({ state, district }: Town): string | undefined {
    return this.#districtOf.get(`${state} ${sound(district)}`)
  }

  nameOf(area: CodeArea, name: string): string | undefined {
    return this.#byDistrict.get(`${area.state} ${area.district} ${sound(name)}`)?.name
  }

  /** Towns that are no place yet, with the code of a branch office of their name. */
  *unused(drafts: Map<string, Draft>, ours: Map<string, City>): Generator<Unused> {
    const branches = new Map<string, CodeArea>()
    const byState = new Map<string, CodeArea | null>()
    for (const area of this.#areas.values()) {
      for (const { name } of area.offices) {
        branches.set(`${area.state} ${area.district} ${sound(name)}`, area)
        const key = `${area.state} ${sound(name)}`
        const other = byState.get(key)
        byState.set(key, other === undefined || other?.district === area.district ? area : null)
      }
    }
    for (const town of this.#towns) {
      const named = sound(town.name)
      const district = this.#district(town)
      if (ours.has(`${town.state} ${named}`) || drafts.has(`${town.state}|${district}|${named}`)) continue
      const area =
        branches.get(`${town.state} ${district} ${named}`) ?? byState.get(`${town.state} ${named}`) ?? undefined
      if (area && drafts.has(`${area.state}|${area.district}|${named}`)) continue
      yield { town, district: area?.district ?? district, area }
    }
  }
}
