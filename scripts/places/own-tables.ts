import { readFile } from 'node:fs/promises'
import { foldName } from '../../server/places/folding.ts'

// Reads the tables in data/places that are maintained by hand.

export interface StateRow {
  code: string
  name: string
  otherNames: string[]
}

export interface City {
  state: string
  city: string
  /** 1: metro, 2: large city, 3: well-known city. */
  rank: 1 | 2 | 3
  /** Ranges of pincodes, both ends included; the first pincode is the main one. */
  codes: [from: number, to: number][]
  otherNames: string[]
}

/** The districts of all states. They are found by the name that India Post uses. */
export class Districts {
  readonly #byPostalName = new Map<string, { name: string; otherNames: string[] }>()

  constructor(rows: string[][]) {
    for (const [state, postalName, name, otherNames] of rows) {
      this.#byPostalName.set(`${state} ${foldName(postalName!)}`, { name: name!, otherNames: splitList(otherNames) })
    }
  }

  name(state: string, postalName: string): string {
    return this.#byPostalName.get(`${state} ${foldName(postalName)}`)?.name ?? titleCase(postalName)
  }

  otherNames(state: string, name: string): string[] {
    for (const [key, district] of this.#byPostalName) {
      if (district.name === name && key.startsWith(`${state} `))
        return district.otherNames.filter((other) => other !== name)
    }
    return []
  }
}

export async function readStates(folder: URL): Promise<StateRow[]> {
  return (await readRows(folder, 'states.tsv')).map(([code, name, otherNames]) => ({
    code: code!,
    name: name!,
    otherNames: splitList(otherNames),
  }))
}

export async function readDistricts(folder: URL): Promise<Districts> {
  return new Districts(await readRows(folder, 'districts.tsv'))
}

export async function readCities(folder: URL): Promise<City[]> {
  return (await readRows(folder, 'aliases.tsv')).map(([state, city, rank, codes, otherNames]) => ({
    state: state!,
    city: city!,
    rank: Number(rank) as City['rank'],
    codes: codes!.split(',').map((range) => {
      const [from, to] = range.split('-').map(Number)
      return [from!, to ?? from!]
    }),
    otherNames: splitList(otherNames),
  }))
}

/** Converts `KUMURAM BHEEM` and `kumuram bheem` to `Kumuram Bheem`. Words such as "and" and "of" stay in lower case. */
export function titleCase(text: string): string {
  const isMixed = /[a-z]/.test(text) && /^[A-Z]/.test(text) && !/\b[A-Z]{4,}\b/.test(text)
  if (isMixed) return text.replace(/ (?!and |of |the |da )([a-z])/g, (start) => start.toUpperCase())
  return text
    .toLowerCase()
    .replace(/(^|[\s(.-])([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase())
    .replace(/ (And|Of|The) /g, (joint) => joint.toLowerCase())
    .replace(/\bNtr\b/, 'NTR')
}

async function readRows(folder: URL, name: string): Promise<string[][]> {
  const text = await readFile(new URL(name, folder), 'utf8')
  return text
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.split('\t'))
}

function splitList(text: string | undefined): string[] {
  return text ? text.split('|') : []
}
