import { readFile } from 'node:fs/promises'
import { fold } from '../../server/places/folding.ts'

/** The tables that we write ourselves, under data/places. */
export interface State {
  code: string
  name: string
  others: string[]
}

export interface City {
  state: string
  city: string
  /** 1 metro, 2 large, 3 well known. */
  rank: 1 | 2 | 3
  /** Single codes and closed ranges, the main code first. */
  codes: [from: number, to: number][]
  others: string[]
}

/** Names of a state's districts by their postal name. */
export class Districts {
  readonly #byPostalName = new Map<string, { name: string; others: string[] }>()

  constructor(rows: string[][]) {
    for (const [state, postal, name, others] of rows) {
      this.#byPostalName.set(`${state} ${fold(postal!)}`, { name: name!, others: list(others) })
    }
  }

  name(state: string, postal: string): string {
    return this.#byPostalName.get(`${state} ${fold(postal)}`)?.name ?? titleCase(postal)
  }

  others(state: string, name: string): string[] {
    for (const [key, district] of this.#byPostalName) {
      if (district.name === name && key.startsWith(`${state} `))
        return district.others.filter((other) => other !== name)
    }
    return []
  }
}

export async function readStates(folder: URL): Promise<State[]> {
  return (await rows(folder, 'states.tsv')).map(([code, name, others]) => ({
    code: code!,
    name: name!,
    others: list(others),
  }))
}

export async function readDistricts(folder: URL): Promise<Districts> {
  return new Districts(await rows(folder, 'districts.tsv'))
}

export async function readCities(folder: URL): Promise<City[]> {
  return (await rows(folder, 'aliases.tsv')).map(([state, city, rank, codes, others]) => ({
    state: state!,
    city: city!,
    rank: Number(rank) as City['rank'],
    codes: codes!.split(',').map((range) => {
      const [from, to] = range.split('-').map(Number)
      return [from!, to ?? from!]
    }),
    others: list(others),
  }))
}

/** `KUMURAM BHEEM` and `kumuram bheem` become `Kumuram Bheem`; short words that join names stay small. */
export function titleCase(text: string): string {
  const isMixed = /[a-z]/.test(text) && /^[A-Z]/.test(text) && !/\b[A-Z]{4,}\b/.test(text)
  if (isMixed) return text.replace(/ (?!and |of |the |da )([a-z])/g, (start) => start.toUpperCase())
  return text
    .toLowerCase()
    .replace(/(^|[\s(.-])([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase())
    .replace(/ (And|Of|The) /g, (joint) => joint.toLowerCase())
    .replace(/\bNtr\b/, 'NTR')
}

async function rows(folder: URL, name: string): Promise<string[][]> {
  const text = await readFile(new URL(name, folder), 'utf8')
  return text
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.split('\t'))
}

function list(text: string | undefined): string[] {
  return text ? text.split('|') : []
}
