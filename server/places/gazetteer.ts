import { readFileSync } from 'node:fs'

/** A city, town or village within one district. */
export interface Place {
  city: string
  /** Other names in use. */
  aliases: string[]
  district: District
  state: State
  /** How well known the place is; orders equally good matches. */
  weight: number
  /** Pincodes, the main one first. Never empty. */
  codes: number[]
  /** Named parts of the place, each with its pincode. */
  localities: { code: number; name: string }[]
}

export interface District {
  name: string
  aliases: string[]
}

export interface State {
  code: string
  name: string
  aliases: string[]
}

export interface Gazetteer {
  states: State[]
  /** Best known first. */
  places: Place[]
}

const FILE = new URL('../../data/places/india.tsv', import.meta.url)

/** Reads the data file. Its header explains the format. */
export function readGazetteer(): Gazetteer {
  const states: State[] = []
  const places: Place[] = []
  let state: State | undefined
  let district: District | undefined
  // Only a few dozen lines contain Devanagari. Decoding only those as UTF-8 keeps all other strings at one byte per character.
  for (const latin1 of readFileSync(FILE, 'latin1').split('\n')) {
    const line = NON_ASCII.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1
    const columns = line.split('\t')
    const first = columns[0]!
    const marker = first[0]
    if (marker === undefined || marker === '#') continue
    if (marker === '=') {
      state = { code: first.slice(1), name: columns[1]!, aliases: splitList(columns[2]) }
      states.push(state)
    } else if (marker === '+') {
      district = { name: first.slice(1), aliases: splitList(columns[1]) }
    } else {
      places.push({
        city: first,
        aliases: splitList(columns[3]),
        district: district!,
        state: state!,
        weight: Number(columns[1]),
        codes: readCodes(columns[2]!),
        localities: columns[4] ? columns[4].split('|').map(readLocality) : NONE,
      })
    }
  }
  // Sorting is stable: places of equal weight stay in the order of the file.
  return { states, places: places.sort((a, b) => b.weight - a.weight) }
}

const NON_ASCII = /[\x80-\xff]/
const NONE: never[] = []

function splitList(text: string | undefined): string[] {
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
