import type { CandidateInput, Language } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { LANGUAGE_NAMES, languageName } from '../shared/labels.ts'
import { parseCsv } from './csv.ts'

type ConsentMeaning = 'consent.basis' | 'consent.obtained_at' | 'consent.source' | 'consent.text_version'

export type ColumnMeaning =
  | 'name'
  | 'phone'
  | 'email'
  | 'external_candidate_id'
  | 'language'
  | ConsentMeaning
  | 'metadata'
  | 'nothing'

export const MEANING_LABELS: Record<ColumnMeaning, string> = {
  name: t('Name'),
  phone: t('Phone'),
  email: t('Email address'),
  external_candidate_id: t('Your ID'),
  language: t('Language'),
  'consent.basis': t('Basis of the contact'),
  'consent.obtained_at': t('Date of the consent'),
  'consent.source': t('Source of the consent'),
  'consent.text_version': t('Version of the consent text'),
  metadata: t('Store with the result'),
  nothing: t('Skip'),
}

/** A table of the candidates to enrol. */
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
  /** True if the user typed the row, which makes it editable. */
  typed?: boolean
}

const COLUMN_PATTERNS: [Exclude<ColumnMeaning, 'metadata' | 'nothing'>, RegExp][] = [
  ['consent.basis', /^(consent|contact)[ _.-]?basis$|^basis$/i],
  ['consent.obtained_at', /^consent[ _.-]?(date|at|obtained[ _-]?at|given[ _-]?(on|at))$|^obtained[ _-]?at$/i],
  ['consent.source', /^consent[ _.-]?source$/i],
  ['consent.text_version', /^consent[ _.-]?(text[ _-]?)?version$/i],
  [
    'external_candidate_id',
    /^(external[ _-]?)?(candidate|applicant|employee|person|crm)?[ _-]?(id|ref|reference|code|no)\.?$/i,
  ],
  ['phone', /phone|mobile|whats ?app|contact|cell|msisdn|number/i],
  ['email', /mail/i],
  ['language', /lang/i],
  ['name', /name|candidate|applicant/i],
]

const PHONE_PATTERN = /^[+\d][\d\s().-]{6,18}$/
const EMAIL_PATTERN = /^[^\s@]+@[^\s@]+$/

export const EMPTY_ROSTER: Roster = { names: ['name', 'phone'], meanings: ['name', 'phone'], rows: [] }

/** Parses pasted or dropped text. The meaning of each column is guessed from its name, or from its cells. */
export function readRoster(text: string): Roster {
  const lines = parseCsv(text)
  const [first] = lines
  if (!first) return EMPTY_ROSTER
  const hasHeader =
    !first.some((cell) => PHONE_PATTERN.test(cell) || EMAIL_PATTERN.test(cell)) &&
    first.some((cell) => meaningFromName(cell))
  const columnNames = hasHeader ? first : first.map((_, index) => t('Column {number}', { number: index + 1 }))
  const candidateLines = hasHeader ? lines.slice(1) : lines
  const takenMeanings = new Set<ColumnMeaning>()
  const meanings = columnNames.map((name, index): ColumnMeaning => {
    const meaning = hasHeader
      ? meaningFromName(name)
      : meaningFromCells(
          candidateLines.map((cells) => cells[index] ?? ''),
          takenMeanings,
        )
    if (!meaning || takenMeanings.has(meaning)) return hasHeader ? 'metadata' : 'nothing'
    takenMeanings.add(meaning)
    return meaning
  })
  return {
    names: columnNames,
    meanings,
    rows: candidateLines.map((cells, index) => ({
      number: index + (hasHeader ? 2 : 1),
      cells: columnNames.map((_, at) => cells[at] ?? ''),
    })),
  }
}

function meaningFromName(name: string): ColumnMeaning | undefined {
  return COLUMN_PATTERNS.find(([, pattern]) => pattern.test(name.trim()))?.[0]
}

function meaningFromCells(cells: string[], taken: Set<ColumnMeaning>): ColumnMeaning | undefined {
  const filledCells = cells.filter(Boolean).slice(0, 50)
  if (filledCells.length === 0) return undefined
  const mostMatch = (pattern: RegExp) =>
    filledCells.filter((cell) => pattern.test(cell)).length > filledCells.length / 2
  if (mostMatch(EMAIL_PATTERN)) return 'email'
  if (mostMatch(PHONE_PATTERN)) return 'phone'
  return taken.has('name') || !mostMatch(/\p{L}/u) ? undefined : 'name'
}

/** Returns the candidate of a row as it is sent to the API. */
export function candidateFrom({ names, meanings }: Roster, { cells }: RosterRow): CandidateInput {
  const cellFor = (meaning: ColumnMeaning) => cells[meanings.indexOf(meaning)]?.trim() ?? ''
  const phone = readPhone(cellFor('phone'))
  const email = cellFor('email')
  const language = readLanguage(cellFor('language'))
  const consent = readConsent(cellFor)
  const metadata: Record<string, string> = {}
  for (const [index, meaning] of meanings.entries()) {
    const value = cells[index]?.trim()
    if (meaning === 'metadata' && value) metadata[names[index]!.slice(0, 40)] = value
  }
  return {
    external_candidate_id: cellFor('external_candidate_id') || derivedId(phone || email),
    name: cellFor('name'),
    ...(phone ? { phone } : {}),
    ...(email ? { email } : {}),
    // An unknown language is sent, too: the API reports it.
    ...(language ? { language: language as Language } : {}),
    ...(consent ? { consent } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  }
}

/** Returns the basis in the columns of a row; undefined if they are empty. Invalid values are sent unchanged, and the API rejects them. */
function readConsent(cellFor: (meaning: ColumnMeaning) => string): CandidateInput['consent'] | undefined {
  const basis = cellFor('consent.basis').toLowerCase().replace(/[ -]+/g, '_')
  const date = cellFor('consent.obtained_at')
  const source = cellFor('consent.source')
  const version = cellFor('consent.text_version')
  if (!basis && !date && !source && !version) return undefined
  return {
    basis: basis as NonNullable<CandidateInput['consent']>['basis'],
    // A date without a time begins at midnight in India.
    obtained_at: /^\d{4}-\d{2}-\d{2}$/.test(date) ? `${date}T00:00:00+05:30` : date,
    source,
    ...(version ? { text_version: version } : {}),
  }
}

/** Returns a message, by row index, for each row with the same phone number or ID as an earlier row. Such rows are not enrolled. */
export function findRepeats(
  { meanings, rows }: Roster,
  candidates: CandidateInput[],
  invalidRows: { has(row: number): boolean },
): Map<number, string> {
  const repeats = new Map<number, string>()
  const byPhone = new Map<string, number>()
  const byId = new Map<string, number>()
  const hasIds = meanings.includes('external_candidate_id')
  for (const [index, { phone, external_candidate_id: id }] of candidates.entries()) {
    if (invalidRows.has(index) || !id) continue
    const samePhone = phone ? byPhone.get(phone) : undefined
    const earlierIndex = samePhone ?? byId.get(id)
    if (earlierIndex !== undefined) {
      repeats.set(
        index,
        t(
          samePhone !== undefined
            ? 'Same phone number as row {number}; this person is enrolled only once'
            : hasIds
              ? 'Same ID as row {number}; this person is enrolled only once'
              : 'Same email address as row {number}; this person is enrolled only once',
          { number: rows[earlierIndex]!.number },
        ),
      )
    }
    if (phone && !byPhone.has(phone)) byPhone.set(phone, index)
    if (!byId.has(id)) byId.set(id, index)
  }
  return repeats
}

/** Removes spaces, dashes and leading zeros, and adds +91 to Indian mobile numbers. Other errors are reported by the API. */
export function readPhone(text: string): string {
  const digits = text.replace(/[\s().'-]/g, '').replace(/^00/, '+')
  if (/^0?[6-9]\d{9}$/.test(digits)) return `+91${digits.slice(-10)}`
  return /^\+?910?[6-9]\d{9}$/.test(digits) ? `+91${digits.slice(-10)}` : digits
}

function readLanguage(text: string): string {
  const lower = text.toLowerCase()
  return Object.keys(LANGUAGE_NAMES).find((code) => languageName(code).toLowerCase() === lower) ?? lower
}

/** Derives an ID from the phone number or email address, for files without IDs. */
function derivedId(address: string): string {
  return address.replace(/^\+/, '').replace(/[^A-Za-z0-9._:-]/g, '-')
}
