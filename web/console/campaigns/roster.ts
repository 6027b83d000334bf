import type { CandidateInput, Language } from '../../api-types/partner.ts'
import { LANGUAGES, languageName } from '../shared/labels.ts'
import { parseCsv } from './csv.ts'

export type ColumnMeaning = 'name' | 'phone' | 'email' | 'external_candidate_id' | 'language' | 'metadata' | 'nothing'

export const MEANINGS: Record<ColumnMeaning, string> = {
  name: 'Name',
  phone: 'Phone',
  email: 'Email address',
  external_candidate_id: 'Your ID',
  language: 'Language',
  metadata: 'Store with the result',
  nothing: 'Skip',
}

/** Candidates to enrol, as a table. */
export interface Roster {
  /** Column names in the file. */
  names: string[]
  meanings: ColumnMeaning[]
  rows: RosterRow[]
}

export interface RosterRow {
  /** Line number in the file, or the next number for a typed row. */
  number: number
  cells: string[]
  /** Typed by the user, and therefore editable. */
  typed?: boolean
}

const COLUMN_PATTERNS: [Exclude<ColumnMeaning, 'metadata' | 'nothing'>, RegExp][] = [
  [
    'external_candidate_id',
    /^(external[ _-]?)?(candidate|applicant|employee|person|crm)?[ _-]?(id|ref|reference|code|no)\.?$/i,
  ],
  ['phone', /phone|mobile|whats ?app|contact|cell|msisdn|number/i],
  ['email', /mail/i],
  ['language', /lang/i],
  ['name', /name|candidate|applicant/i],
]

const PHONE = /^[+\d][\d\s().-]{6,18}$/
const EMAIL = /^[^\s@]+@[^\s@]+$/

export const EMPTY_ROSTER: Roster = { names: ['name', 'phone'], meanings: ['name', 'phone'], rows: [] }

/** Parses pasted or dropped text. The meaning of each column is guessed from its name, or from its cells. */
export function readRoster(text: string): Roster {
  const lines = parseCsv(text)
  const [first] = lines
  if (!first) return EMPTY_ROSTER
  const hasHeader =
    !first.some((cell) => PHONE.test(cell) || EMAIL.test(cell)) && first.some((cell) => meaningFromName(cell))
  const names = hasHeader ? first : first.map((_, index) => `Column ${index + 1}`)
  const people = hasHeader ? lines.slice(1) : lines
  const taken = new Set<ColumnMeaning>()
  const meanings = names.map((name, index): ColumnMeaning => {
    const meaning = hasHeader
      ? meaningFromName(name)
      : meaningFromCells(
          people.map((cells) => cells[index] ?? ''),
          taken,
        )
    if (!meaning || taken.has(meaning)) return hasHeader ? 'metadata' : 'nothing'
    taken.add(meaning)
    return meaning
  })
  return {
    names,
    meanings,
    rows: people.map((cells, index) => ({
      number: index + (hasHeader ? 2 : 1),
      cells: names.map((_, at) => cells[at] ?? ''),
    })),
  }
}

function meaningFromName(name: string): ColumnMeaning | undefined {
  return COLUMN_PATTERNS.find(([, pattern]) => pattern.test(name.trim()))?.[0]
}

function meaningFromCells(cells: string[], taken: Set<ColumnMeaning>): ColumnMeaning | undefined {
  const filled = cells.filter(Boolean).slice(0, 50)
  if (filled.length === 0) return undefined
  const mostMatch = (pattern: RegExp) => filled.filter((cell) => pattern.test(cell)).length > filled.length / 2
  if (mostMatch(EMAIL)) return 'email'
  if (mostMatch(PHONE)) return 'phone'
  return taken.has('name') || !mostMatch(/\p{L}/u) ? undefined : 'name'
}

/** Returns the candidate of a row, as it is sent. */
export function candidateFrom({ names, meanings }: Roster, { cells }: RosterRow): CandidateInput {
  const get = (meaning: ColumnMeaning) => cells[meanings.indexOf(meaning)]?.trim() ?? ''
  const phone = readPhone(get('phone'))
  const email = get('email')
  const language = readLanguage(get('language'))
  const metadata: Record<string, string> = {}
  for (const [index, meaning] of meanings.entries()) {
    const value = cells[index]?.trim()
    if (meaning === 'metadata' && value) metadata[names[index]!.slice(0, 40)] = value
  }
  return {
    external_candidate_id: get('external_candidate_id') || derivedId(phone || email),
    name: get('name'),
    ...(phone ? { phone } : {}),
    ...(email ? { email } : {}),
    // An unknown language is sent as well: the API reports it.
    ...(language ? { language: language as Language } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  }
}

/** Returns a message for each row that has the same number or ID as an earlier row. Such rows are not enrolled. */
export function findRepeats(
  { meanings, rows }: Roster,
  candidates: CandidateInput[],
  invalidRows: { has(row: number): boolean },
): Map<number, string> {
  const repeats = new Map<number, string>()
  const byPhone = new Map<string, number>()
  const byId = new Map<string, number>()
  const idName = meanings.includes('external_candidate_id') ? 'ID' : 'address'
  for (const [index, { phone, external_candidate_id: id }] of candidates.entries()) {
    if (invalidRows.has(index) || !id) continue
    const samePhone = phone ? byPhone.get(phone) : undefined
    const same = samePhone ?? byId.get(id)
    if (same !== undefined) {
      const what = samePhone === undefined ? idName : 'number'
      repeats.set(index, `Same ${what} as row ${rows[same]!.number}; enrolled only once`)
    }
    if (phone && !byPhone.has(phone)) byPhone.set(phone, index)
    if (!byId.has(id)) byId.set(id, index)
  }
  return repeats
}

/** Removes spaces, dashes and leading zeros, and adds +91 to Indian mobile numbers. Other errors are reported by the API. */
export function readPhone(text: string): string {
  const bare = text.replace(/[\s().'-]/g, '').replace(/^00/, '+')
  if (/^0?[6-9]\d{9}$/.test(bare)) return `+91${bare.slice(-10)}`
  return /^\+?910?[6-9]\d{9}$/.test(bare) ? `+91${bare.slice(-10)}` : bare
}

function readLanguage(text: string): string {
  const lower = text.toLowerCase()
  return Object.keys(LANGUAGES).find((code) => languageName(code).toLowerCase() === lower) ?? lower
}

/** Derives an ID from the phone number or email address, for files without IDs. */
function derivedId(address: string): string {
  return address.replace(/^\+/, '').replace(/[^A-Za-z0-9._:-]/g, '-')
}
