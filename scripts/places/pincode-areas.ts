import type { City } from './own-tables.ts'
import { phoneticKey } from './phonetic-key.ts'
import type { Office } from './sources.ts'

/** The region and the post offices of one pincode. */
export interface PincodeArea {
  code: number
  state: string
  district: string
  offices: Office[]
  main: Office
  /** Parts of a town: the names of the post offices of this pincode that are not branch offices. */
  localities: string[]
}

const MAX_LOCALITIES = 4

/**
 * Groups post offices by pincode. A pincode whose offices have no state gets the state of its city, of a nearby office with the
 * same name, or of the neighbouring pincodes.
 */
export function buildPincodeAreas(offices: Office[], cities: City[], notes: string[]): Map<number, PincodeArea> {
  const officesByCode = Map.groupBy(
    offices.sort((a, b) => a.code - b.code),
    ({ code }) => code,
  )
  const areas = new Map<number, PincodeArea>()
  const codesWithoutState: number[] = []
  for (const [code, codeOffices] of officesByCode) {
    const officesWithState = codeOffices.filter(({ state }) => state !== '')
    if (officesWithState.length === 0) codesWithoutState.push(code)
    else
      areas.set(
        code,
        createArea(code, codeOffices, enclaveRegion(officesWithState) ?? majorityRegion(officesWithState)),
      )
  }
  const areasWithState = [...areas.values()]
  for (const code of codesWithoutState) {
    const codeOffices = officesByCode.get(code)!
    const region =
      regionOfCity(code, cities, areas) ??
      regionOfNamesake(codeOffices, areasWithState) ??
      regionOfNeighbours(code, areasWithState)
    areas.set(code, createArea(code, codeOffices, region))
  }
  notes.push(`${codesWithoutState.length} codes without a state got it from their city, a namesake or their neighbours`)
  return new Map([...areas].sort(([a], [b]) => a - b))
}

type Region = Pick<Office, 'state' | 'district'>

/**
 * Returns the union territory of a pincode's head or sub office. An enclave such as Yanam or Mahe shares its pincode with the
 * surrounding villages, which belong to a state.
 */
function enclaveRegion(offices: Office[]): Region | undefined {
  return offices.find(({ kind, state }) => kind !== 'branch' && ['PY', 'DH', 'LD'].includes(state))
}

function createArea(code: number, offices: Office[], { state, district }: Region): PincodeArea {
  const mainOffice = offices.toSorted((a, b) => officeRank(b) - officeRank(a))[0]!
  const localities = offices
    .filter(({ kind, name }) => kind !== 'branch' && !isNotATown(name))
    .sort((a, b) => officeRank(b) - officeRank(a))
    .map(({ name }) => name)
    .slice(0, MAX_LOCALITIES)
  return { code, state, district, offices, main: mainOffice, localities }
}

/** Ranks the post offices of a pincode: head offices first, then offices that deliver mail; offices with generic names last. */
function officeRank({ kind, delivers, name }: Office): number {
  const importance = kind === 'head' ? 8 : kind === 'sub' ? 4 : 0
  return importance + (delivers ? 2 : 0) + (GENERIC_NAME.test(name) || isNotATown(name) ? -3 : 0)
}

const GENERIC_NAME = /\b(bazar|bazaar|chowk|road|gate|city|station)\b/i

/** Whether a name denotes a building or an institution instead of a town. */
export function isNotATown(name: string): boolean {
  return name.length < 4 || /\d/.test(name) || INSTITUTION_NAME.test(name)
}

const INSTITUTION_NAME =
  /\b(collect[o]?rate|kutchery|kutcheri|courts?|mills?|factory|hospital|college|university|vidyalaya|school|railway|r\.?s\.?|industrial|ind|estate|i\.?e|colony|secretariat|sector|camp|civil lines|air ?force( station)?|airport|aerodrome|refinery|thermal|headquarters|pac|crpf|bsf|itbp|bn|midc|gidc|iti|market|ward|cantt|cantonment|main road|station road|extension|parisar|pac ?dso|campus|institute|medical|research|project|power house|depot|lines|stage|phase|kty|police|bank|ltd|poly ?tech|economic zone|engg|complex|cent(er|re)|ashram|[in]it|i t i|collage|colleger)\b/i

/** Returns the region of most offices. Offices that are not branches count three times: the pincode is named after one of them. */
function majorityRegion(offices: Office[]): Region {
  const votesByRegion = new Map<string, { region: Region; count: number }>()
  for (const { state, district, kind } of offices) {
    const vote = votesByRegion.get(`${state} ${district}`) ?? { region: { state, district }, count: 0 }
    vote.count += kind === 'branch' ? 1 : 3
    votesByRegion.set(`${state} ${district}`, vote)
  }
  return [...votesByRegion.values()].sort((a, b) => b.count - a.count)[0]!.region
}

/** Returns the region of the main pincode of the city to which our table assigns this pincode. */
function regionOfCity(code: number, cities: City[], areas: Map<number, PincodeArea>): Region | undefined {
  const city = cities.find(({ codes }) => codes.some(([from, to]) => from <= code && code <= to))
  return city && areas.get(city.codes[0]![0])
}

function regionOfNamesake(offices: Office[], knownAreas: PincodeArea[]): Region | undefined {
  const prefix = Math.floor(offices[0]!.code / 1000)
  const nameKeys = new Set(offices.map(({ name }) => phoneticKey(name)).filter((name) => name.length > 3))
  return knownAreas.find(
    (area) =>
      Math.floor(area.code / 1000) === prefix && area.offices.some(({ name }) => nameKeys.has(phoneticKey(name))),
  )
}

/** Returns the region of most of the five numerically closest pincodes. */
function regionOfNeighbours(code: number, knownAreas: PincodeArea[]): Region {
  const nearestAreas = knownAreas.toSorted((a, b) => Math.abs(a.code - code) - Math.abs(b.code - code)).slice(0, 5)
  return majorityRegion(nearestAreas.map((area) => ({ ...area.main, state: area.state, district: area.district })))
}
