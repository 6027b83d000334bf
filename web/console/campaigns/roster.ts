import { LANGUAGES, languageName } from '../shared/labels.ts'
import type { CandidateInput } from '../shared/records.ts'
import { parseCsv } from './csv.ts'

export type Meaning = 'name' | 'phone' | 'email' | 'external_candidate_id' | 'language' | 'metadata' | 'nothing'

export const MEANINGS: Record<Meaning, string> = {
  name: 'Name',
  phone: 'Phone',
  email: 'Mail address',
  external_candidate_id: 'Your id',
  language: 'Language',
  metadata: 'Keep with the result',
  nothing: 'Leave out',
}

/** People to be enrolled, as a table. */
export interface Roster {
  /** What the columns are called in the file. */
  names: string[]
  meanings: Meaning[]
  rows: Row[]
}

export interface Row {
  /** The line in the file, or the next number for one that was typed. */
  number: number
  cells: string[]
  /** Typed by hand, and so still open. */
  typed?: boolean
}

const KNOWN: [Exclude<Meaning, 'metadata' | 'nothing'>, RegExp][] = [
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
const MAIL = /^[^\s@]+@[^\s@]+$/

export const EMPTY: Roster = { names: ['name', 'phone'], meanings: ['name', 'phone'], rows: [] }

/** What was pasted or dropped, with each column taken for what its name says. */
export function readRoster(text: string): Roster {
  const lines = parseCsv(text)
  const [first] = lines
  if (!first) return EMPTY
  const headed = !first.some((cell) => PHONE.test(cell) || MAIL.test(cell)) && first.some((cell) => guess(cell))
  const names = headed ? first : first.map((_, index) => `Column ${index + 1}`)
  const people = headed ? lines.slice(1) : lines
  const taken = new Set<Meaning>()
  const meanings = names.map((name, index): Meaning => {
    const meaning = headed
      ? guess(name)
      : guessFrom(
          people.map((cells) => cells[index] ?? ''),
          taken,
        )
    if (!meaning || taken.has(meaning)) return headed ? 'metadata' : 'nothing'
    taken.add(meaning)
    return meaning
  })
  return {
    names,
    meanings,
    rows: people.map((cells, index) => ({
      number: index + (headed ? 2 : 1),
      cells: names.map((_, at) => cells[at] ?? ''),
    })),
  }
}

function guess(name: string): Meaning | undefined {
  return KNOWN.find(([, pattern]) => pattern.test(name.trim()))?.[0]
}

function guessFrom(cells: string[], taken: Set<Meaning>): Meaning | undefined {
  const given = cells.filter(Boolean).slice(0, 50)
  if (given.length === 0) return undefined
  const most = (pattern: RegExp) => given.filter((cell) => pattern.test(cell)).length > given.length / 2
  if (most(MAIL)) return 'email'
  if (most(PHONE)) return 'phone'
  return taken.has('name') || !most(/\p{L}/u) ? undefined : 'name'
}

/** The row as it is sent. */
export function candidateOf({ names, meanings }: Roster, { cells }: Row): CandidateInput {
  const get = (meaning: Meaning) => cells[meanings.indexOf(meaning)]?.trim() ?? ''
  const phone = readPhone(get('phone'))
  const email = get('email')
  const language = readLanguage(get('language'))
  const metadata: Record<string, string> = {}
  for (const [index, meaning] of meanings.entries()) {
    const value = cells[index]?.trim()
    if (meaning === 'metadata' && value) metadata[names[index]!.slice(0, 40)] = value
  }
  return {
    external_candidate_id: get('external_candidate_id') || ownId(phone || email),
    name: get('name'),
    ...(phone ? { phone } : {}),
    ...(email ? { email } : {}),
    ...(language ? { language } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  }
}

/** Row by row which of the rows before it is the same person: by number or id, as the API knows people. Such a row is not sent. */
export function repeatsIn(
  { meanings, rows }: Roster,
  candidates: CandidateInput[],
  faulty: { has(row: number): boolean },
): Map<number, string> {
  const repeats = new Map<number, string>()
  const byPhone = new Map<string, number>()
  const byId = new Map<string, number>()
  const idName = meanings.includes('external_candidate_id') ? 'id' : 'address'
  for (const [index, { phone, external_candidate_id: id }] of candidates.entries()) {
    if (faulty.has(index) || !id) continue
    const samePhone = phone ? byPhone.get(phone) : undefined
    const same = samePhone ?? byId.get(id)
    if (same !== undefined) {
      const what = samePhone === undefined ? idName : 'number'
      repeats.set(index, `Same ${what} as row ${rows[same]!.number}: sent once`)
    }
    if (phone && !byPhone.has(phone)) byPhone.set(phone, index)
    if (!byId.has(id)) byId.set(id, index)
  }
  return repeats
}

/** Spaces, dashes and the zero of dialling go; a bare Indian mobile number gets its country. Whatever else is wrong is for the API to say. */
export function readPhone(text: string): string {
  const bare = text.replace(/[\s().'-]/g, '').replace(/^00/, '+')
  if (/^0?[6-9]\d{9}$/.test(bare)) return `+91${bare.slice(-10)}`
  return /^\+?910?[6-9]\d{9}$/.test(bare) ? `+91${bare.slice(-10)}` : bare
}

function readLanguage(text: string): string {
  const wanted = text.toLowerCase()
  return Object.keys(LANGUAGES).find((code) => languageName(code).toLowerCase() === wanted) ?? wanted
}

/** Where the file has no ids of its own, people are known by their phone or mail address. */
function ownId(address: string): string {
  return address.replace(/^\+/, '').replace(/[^A-Za-z0-9._:-]/g, '-')
}
