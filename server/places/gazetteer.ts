import { readFileSync } from 'node:fs'

/** A city, town or village within one district. */
export interface Place {
  city: string
  /** Other names of the place. */
  aliases: string[]
  district: District
  state: State
  /** How well known the place is; orders equally good matches. */
  weight: number
  /** Pincodes, the main one first. Never empty. */
  pincodes: number[]
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
  /** All places, the best known first. */
  places: Place[]
}

const DATA_FILE = new URL('../../data/places/india.tsv', import.meta.url)

/** Reads the gazetteer from its data file, whose header explains the format. */
export function readGazetteer(): Gazetteer {
  const states: State[] = []
  const places: Place[] = []
  let state: State | undefined
  let district: District | undefined
  // Only a few dozen lines contain Devanagari. Decoding only those as UTF-8 keeps all other strings at one byte per character.
  for (const latin1 of readFileSync(DATA_FILE, 'latin1').split('\n')) {
    const line = NON_ASCII_PATTERN.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1
    const columns = line.split('\t')
    const firstColumn = columns[0]!
    const marker = firstColumn[0]
    if (marker === undefined || marker === '#') continue
    if (marker === '=') {
      state = { code: firstColumn.slice(1), name: columns[1]!, aliases: splitList(columns[2]) }
      states.push(state)
    } else if (marker === '+') {
      district = { name: firstColumn.slice(1), aliases: splitList(columns[1]) }
    } else {
      places.push({
        city: firstColumn,
        aliases: splitList(columns[3]),
        district: district!,
        state: state!,
        weight: Number(columns[1]),
        pincodes: readPincodes(columns[2]!),
        localities: columns[4] ? columns[4].split('|').map(readLocality) : EMPTY_LIST,
      })
    }
  }
  // Sorting is stable: places of equal weight stay in the order of the file.
  return { states, places: places.sort((a, b) => b.weight - a.weight) }
}

const NON_ASCII_PATTERN = /[\x80-\xff]/
const EMPTY_LIST: never[] = []

function splitList(text: string | undefined): string[] {
  return text ? text.split('|') : EMPTY_LIST
}

function readLocality(text: string): Place['localities'][number] {
  return { code: Number(text.slice(0, 6)), name: text.slice(7) }
}

function readPincodes(text: string): number[] {
  if (text.length === 6) return [Number(text)]
  const pincodes: number[] = []
  for (const part of text.split(' ')) {
    const firstPincode = Number(part.slice(0, 6))
    const lastPincode = part.length > 6 ? Number(part.slice(7)) : firstPincode
    for (let code = firstPincode; code <= lastPincode; code++) pincodes.push(code)
  }
  return pincodes
}
