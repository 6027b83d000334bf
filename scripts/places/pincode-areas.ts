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
  /** Parts of a town: the names of the code's offices that are not branch offices. */
  localities: string[]
}

const MAX_LOCALITIES = 4

/**
 * Groups offices by pincode. A code whose offices have no state gets the state of its city, of an office with the same name
 * nearby, or of the neighbouring codes.
 */
export function buildPincodeAreas(offices: Office[], cities: City[], notes: string[]): Map<number, PincodeArea> {
  const byCode = Map.groupBy(
    offices.sort((a, b) => a.code - b.code),
    ({ code }) => code,
  )
  const areas = new Map<number, PincodeArea>()
  const codesWithoutState: number[] = []
  for (const [code, codeOffices] of byCode) {
    const withState = codeOffices.filter(({ state }) => state !== '')
    if (withState.length === 0) codesWithoutState.push(code)
    else areas.set(code, createArea(code, codeOffices, enclaveRegion(withState) ?? majorityRegion(withState)))
  }
  const known = [...areas.values()]
  for (const code of codesWithoutState) {
    const codeOffices = byCode.get(code)!
    const region =
      regionOfCity(code, cities, areas) ?? regionOfNamesake(codeOffices, known) ?? regionOfNeighbours(code, known)
    areas.set(code, createArea(code, codeOffices, region))
  }
  notes.push(`${codesWithoutState.length} codes without a state got it from their city, a namesake or their neighbours`)
  return new Map([...areas].sort(([a], [b]) => a - b))
}

type Region = Pick<Office, 'state' | 'district'>

/** Returns the union territory of the code's own office: villages around Yanam or Mahe share its code but are in a state. */
function enclaveRegion(offices: Office[]): Region | undefined {
  return offices.find(({ kind, state }) => kind !== 'branch' && ['PY', 'DH', 'LD'].includes(state))
}

function createArea(code: number, offices: Office[], { state, district }: Region): PincodeArea {
  const main = offices.toSorted((a, b) => officeRank(b) - officeRank(a))[0]!
  const localities = offices
    .filter(({ kind, name }) => kind !== 'branch' && !isNotATown(name))
    .sort((a, b) => officeRank(b) - officeRank(a))
    .map(({ name }) => name)
    .slice(0, MAX_LOCALITIES)
  return { code, state, district, offices, main, localities }
}

/** Ranks the offices of a code: head offices first, then delivering ones; generic names last. */
function officeRank({ kind, delivers, name }: Office): number {
  const importance = kind === 'head' ? 8 : kind === 'sub' ? 4 : 0
  return importance + (delivers ? 2 : 0) + (GENERIC_NAME.test(name) || isNotATown(name) ? -3 : 0)
}

const GENERIC_NAME = /\b(bazar|bazaar|chowk|road|gate|city|station)\b/i

/** Whether a name denotes a building or an institution instead of a town. */
export function isNotATown(name: string): boolean {
  return name.length < 4 || /\d/.test(name) || NOT_A_TOWN.test(name)
}

const NOT_A_TOWN =
  /\b(collect[o]?rate|kutchery|kutcheri|courts?|mills?|factory|hospital|college|university|vidyalaya|school|railway|r\.?s\.?|industrial|ind|estate|i\.?e|colony|secretariat|sector|camp|civil lines|air ?force( station)?|airport|aerodrome|refinery|thermal|headquarters|pac|crpf|bsf|itbp|bn|midc|gidc|iti|market|ward|cantt|cantonment|main road|station road|extension|parisar|pac ?dso|campus|institute|medical|research|project|power house|depot|lines|stage|phase|kty|police|bank|ltd|poly ?tech|economic zone|engg|complex|cent(er|re)|ashram|[in]it|i t i|collage|colleger)\b/i

/** Returns the region of most offices. Offices that are not branches count three times: the code is named after one of them. */
function majorityRegion(offices: Office[]): Region {
  const votes = new Map<string, { region: Region; count: number }>()
  for (const { state, district, kind } of offices) {
    const vote = votes.get(`${state} ${district}`) ?? { region: { state, district }, count: 0 }
    vote.count += kind === 'branch' ? 1 : 3
    votes.set(`${state} ${district}`, vote)
  }
  return [...votes.values()].sort((a, b) => b.count - a.count)[0]!.region
}

/** For a code that our table assigns to a city: returns the region of the city's main code. */
function regionOfCity(code: number, cities: City[], areas: Map<number, PincodeArea>): Region | undefined {
  const city = cities.find(({ codes }) => codes.some(([from, to]) => from <= code && code <= to))
  return city && areas.get(city.codes[0]![0])
}

function regionOfNamesake(offices: Office[], known: PincodeArea[]): Region | undefined {
  const prefix = Math.floor(offices[0]!.code / 1000)
  const names = new Set(offices.map(({ name }) => phoneticKey(name)).filter((name) => name.length > 3))
  return known.find(
    (area) => Math.floor(area.code / 1000) === prefix && area.offices.some(({ name }) => names.has(phoneticKey(name))),
  )
}

/** Returns the region of most of the five closest codes. */
function regionOfNeighbours(code: number, known: PincodeArea[]): Region {
  const nearest = known.toSorted((a, b) => Math.abs(a.code - code) - Math.abs(b.code - code)).slice(0, 5)
  return majorityRegion(nearest.map((area) => ({ ...area.main, state: area.state, district: area.district })))
}
