import type { City } from './reviewed.ts'
import { sound } from './sound.ts'
import type { Office } from './sources.ts'

/** What is known about one pincode. */
export interface CodeArea {
  code: number
  state: string
  district: string
  offices: Office[]
  main: Office
  /** Parts of a town that people name: the code's offices that are no branches. */
  localities: string[]
}

const MOST_LOCALITIES = 4

/** One area a code; a code whose offices know no state takes it from its city, an office of the same name nearby, or its neighbours. */
export function settleAreas(offices: Office[], cities: City[], notes: string[]): Map<number, CodeArea> {
  const byCode = Map.groupBy(
    offices.sort((a, b) => a.code - b.code),
    ({ code }) => code,
  )
  const areas = new Map<number, CodeArea>()
  const orphans: number[] = []
  for (const [code, here] of byCode) {
    const placed = here.filter(({ state }) => state !== '')
    if (placed.length === 0) orphans.push(code)
    else areas.set(code, makeArea(code, here, enclave(placed) ?? majority(placed)))
  }
  const known = [...areas.values()]
  for (const code of orphans) {
    const here = byCode.get(code)!
    const near = cityMates(code, cities, areas) ?? namesake(here, known) ?? neighbour(code, known)
    areas.set(code, makeArea(code, here, near))
  }
  notes.push(`${orphans.length} codes without a state took it from their city, a namesake or their neighbours`)
  return new Map([...areas].sort(([a], [b]) => a - b))
}

type Region = Pick<Office, 'state' | 'district'>

/** The villages around Yanam or Mahe share its code but not its territory; the code's own office decides. */
function enclave(offices: Office[]): Region | undefined {
  return offices.find(({ kind, state }) => kind !== 'branch' && ['PY', 'DH', 'LD'].includes(state))
}

function makeArea(code: number, offices: Office[], { state, district }: Region): CodeArea {
  const main = offices.toSorted((a, b) => standing(b) - standing(a))[0]!
  const localities = offices
    .filter(({ kind, name }) => kind !== 'branch' && !isNoTown(name))
    .sort((a, b) => standing(b) - standing(a))
    .map(({ name }) => name)
    .slice(0, MOST_LOCALITIES)
  return { code, state, district, offices, main, localities }
}

/** The office a code is known by: the head office, then one that delivers, under a name that says where it is. */
function standing({ kind, delivers, name }: Office): number {
  const importance = kind === 'head' ? 8 : kind === 'sub' ? 4 : 0
  return importance + (delivers ? 2 : 0) + (SAYS_LITTLE.test(name) || isNoTown(name) ? -3 : 0)
}

const SAYS_LITTLE = /\b(bazar|bazaar|chowk|road|gate|city|station)\b/i

/** A name that tells a building or a barracks, not a town. */
export function isNoTown(name: string): boolean {
  return name.length < 4 || /\d/.test(name) || NO_TOWN.test(name)
}

const NO_TOWN =
  /\b(collect[o]?rate|kutchery|kutcheri|courts?|mills?|factory|hospital|college|university|vidyalaya|school|railway|r\.?s\.?|industrial|ind|estate|i\.?e|colony|secretariat|sector|camp|civil lines|air ?force( station)?|airport|aerodrome|refinery|thermal|headquarters|pac|crpf|bsf|itbp|bn|midc|gidc|iti|market|ward|cantt|cantonment|main road|station road|extension|parisar|pac ?dso|campus|institute|medical|research|project|power house|depot|lines|stage|phase|kty|police|bank|ltd|poly ?tech|economic zone|engg|complex|cent(er|re)|ashram|[in]it|i t i|collage|colleger)\b/i

/** The region of most offices, the sub-office's own counting three times: it is the one that the code is named after. */
function majority(offices: Office[]): Region {
  const votes = new Map<string, { region: Region; count: number }>()
  for (const { state, district, kind } of offices) {
    const vote = votes.get(`${state} ${district}`) ?? { region: { state, district }, count: 0 }
    vote.count += kind === 'branch' ? 1 : 3
    votes.set(`${state} ${district}`, vote)
  }
  return [...votes.values()].sort((a, b) => b.count - a.count)[0]!.region
}

/** The region of the city's main code, for a code that our table gives to a city. */
function cityMates(code: number, cities: City[], areas: Map<number, CodeArea>): Region | undefined {
  const city = cities.find(({ codes }) => codes.some(([from, to]) => from <= code && code <= to))
  return city && areas.get(city.codes[0]![0])
}

function namesake(offices: Office[], known: CodeArea[]): Region | undefined {
  const prefix = Math.floor(offices[0]!.code / 1000)
  const names = new Set(offices.map(({ name }) => sound(name)).filter((name) => name.length > 3))
  return known.find(
    (area) => Math.floor(area.code / 1000) === prefix && area.offices.some(({ name }) => names.has(sound(name))),
  )
}

/** Most of the five nearest codes. */
function neighbour(code: number, known: CodeArea[]): Region {
  const nearest = known.toSorted((a, b) => Math.abs(a.code - code) - Math.abs(b.code - code)).slice(0, 5)
  return majority(nearest.map((area) => ({ ...area.main, state: area.state, district: area.district })))
}
