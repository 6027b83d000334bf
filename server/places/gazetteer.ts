import { readFileSync } from 'node:fs'

/** A city, town or village within one district. */
export interface Place {
  city: string
  /** Names people also use for it. */
  others: string[]
  district: District
  state: State
  /** How well known it is; orders what matches equally well. */
  weight: number
  /** Never empty; the main one first. */
  codes: number[]
  /** Parts of it that people name, each with its pincode. */
  localities: { code: number; name: string }[]
}

export interface District {
  name: string
  others: string[]
}

export interface State {
  code: string
  name: string
  others: string[]
}

export interface Gazetteer {
  states: State[]
  /** The best known first. */
  places: Place[]
}

const FILE = new URL('../../data/places/india.tsv', import.meta.url)

/** Reads the prepared file; its head explains the lines. */
export function readGazetteer(): Gazetteer {
  const states: State[] = []
  const places: Place[] = []
  let state: State | undefined
  let district: District | undefined
  // A few dozen lines hold Devanagari; reading all as bytes and decoding those alone keeps the rest at a byte a letter.
  for (const bytes of readFileSync(FILE, 'latin1').split('\n')) {
    const line = BEYOND_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes
    const columns = line.split('\t')
    const first = columns[0]!
    const mark = first[0]
    if (mark === undefined || mark === '#') continue
    if (mark === '=') {
      state = { code: first.slice(1), name: columns[1]!, others: list(columns[2]) }
      states.push(state)
    } else if (mark === '+') {
      district = { name: first.slice(1), others: list(columns[1]) }
    } else {
      places.push({
        city: first,
        others: list(columns[3]),
        district: district!,
        state: state!,
        weight: Number(columns[1]),
        codes: readCodes(columns[2]!),
        localities: columns[4] ? columns[4].split('|').map(readLocality) : NONE,
      })
    }
  }
  // Sorting is stable, and the file's order settles what weighs the same.
  return { states, places: places.sort((a, b) => b.weight - a.weight) }
}

const BEYOND_ASCII = /[\x80-\xff]/
const NONE: never[] = []

function list(text: string | undefined): string[] {
  return text ? text.split('|') : NONE
}

function readLocality(text: string): Place['localities'][number] {
  return { code: Number(text.slice(0, 6)), name: text.slice(7) }
}

function readCodes(text: string): number[] {
  if (text.length === 6) return [Number(text)]
  const codes: number[] = []
  for (const part of text.split(' ')) {
    const from = Number(part.slice(0, 6))
    const to = part.length > 6 ? Number(part.slice(7)) : from
    for (let code = from; code <= to; code++) codes.push(code)
  }
  return codes
}
