import type { Detail } from '../../api/problem.ts'
import { CSV, parseRecords } from '../../catalogue/import/delimited.ts'
import { normaliseText } from '../../catalogue/names.ts'
import type { AuthorDifficulty } from '../../measurement/model.ts'
import { closestName } from '../../platform/http/did-you-mean.ts'
import type { DelimitedRecord } from '../../platform/text/delimited-text.ts'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'
import type { ItemText } from '../../questions/skill-items.ts'
import {
  type Findings,
  type ItemDraft,
  MAX_DISTRACTORS,
  MAX_ERRORS,
  MAX_ITEMS_PER_IMPORT,
  MIN_DISTRACTORS,
  UNSPECIFIED_KIND,
} from './item-draft.ts'

/**
 * Items in a CSV file: the columns `skill`, `id`, `kind` and `difficulty`, and for each language, such as `en`, the columns `stem_en`,
 * `key_en` and `distractor1_en` to `distractor5_en`.
 */

const GENERAL_COLUMNS = ['skill', 'id', 'kind', 'difficulty']

const TEXT_COLUMNS = new Map(
  LANGUAGES.map((language) => {
    const distractors = Array.from({ length: MAX_DISTRACTORS }, (_, index) => `distractor${index + 1}_${language}`)
    return [language, [`stem_${language}`, `key_${language}`, ...distractors]]
  }),
)

function textColumns(language: Language): string[] {
  return TEXT_COLUMNS.get(language)!
}

/** More than all known columns, because empty columns are ignored. */
const MAX_COLUMNS = 200

/** Far more than a question needs. Longer texts are not read, because that would take long. */
const MAX_CELL_LENGTH = 4000
const MAX_ROW_CHARACTERS = 64 * 1024

const KNOWN_COLUMNS = new Set([...GENERAL_COLUMNS, ...LANGUAGES.flatMap(textColumns)])

/** Reads the items of a file. `defaultSkill` is the skill of rows without one. */
export function readCsvItems(
  bytes: Buffer,
  fileName: string,
  defaultSkill: string | undefined,
  findings: Findings,
): ItemDraft[] {
  let records: DelimitedRecord[]
  try {
    records = parseRecords(bytes, fileName, CSV, {
      maxRecords: 1 + MAX_ITEMS_PER_IMPORT + 1, // one more than allowed, to recognise files with too many
      maxCells: MAX_COLUMNS,
      maxRowCharacters: MAX_ROW_CHARACTERS,
    })
  } catch (error) {
    const { message } = error as Error
    findings.error(fileName, message.startsWith(`${fileName}: `) ? message.slice(fileName.length + 2) : message)
    return []
  }
  const [header, ...rows] = records
  const columns = header && readHeader(header.cells, fileName, defaultSkill, findings)
  if (!columns) {
    if (!header) findings.error(fileName, 'the file is empty; the first line must contain the column names')
    return []
  }
  if (rows.length === 0) findings.error(fileName, 'the file contains no items below the column names')
  if (rows.length > MAX_ITEMS_PER_IMPORT) {
    findings.tooManyItems(fileName)
    return []
  }
  const languages = LANGUAGES.filter((language) => textColumns(language).some((column) => columns.has(column)))
  const readDraft = ({ cells }: DelimitedRecord, path: string): ItemDraft => {
    if (cells.length > header.cells.length) {
      const message = 'the row has more cells than the header; put cells that contain commas in quotation marks'
      return createDraft(path, { errors: [{ path, message }] })
    }
    const longIndex = cells.findIndex(({ length }) => length > MAX_CELL_LENGTH)
    if (longIndex >= 0) {
      const column = header.cells[longIndex]!.trim().toLowerCase().slice(0, 40)
      const message = `the cell has more than ${MAX_CELL_LENGTH} characters; shorten it`
      return createDraft(path, { errors: [{ path: `${path}, column ${column}`, message }] })
    }
    const cell = (column: string) => normaliseText(unescapeCell(cells[columns.get(column) ?? -1] ?? ''))
    return readRow(path, cell, languages, defaultSkill)
  }
  const drafts: ItemDraft[] = []
  let errorCount = 0
  for (const row of rows) {
    const draft = readDraft(row, `${fileName}, line ${row.line}`)
    drafts.push(draft)
    errorCount += draft.errors.length
    if (errorCount >= MAX_ERRORS) break
  }
  return drafts
}

/** Returns the index of each column, or undefined if the header is wrong. */
function readHeader(
  cells: string[],
  fileName: string,
  defaultSkill: string | undefined,
  findings: Findings,
): Map<string, number> | undefined {
  const path = `${fileName}, line 1`
  const errorCount = findings.errors.length
  const columns = new Map<string, number>()
  if (!cells.some((cell) => KNOWN_COLUMNS.has(cell.trim().toLowerCase()))) {
    findings.error(
      path,
      `the first line must contain the column names, such as skill and stem_en${separatorHint(cells)}`,
    )
    return undefined
  }
  if (cells.length > MAX_COLUMNS) {
    findings.error(path, `the file has more than ${MAX_COLUMNS} columns; remove those that are not needed`)
    return undefined
  }
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim().toLowerCase()
    if (name === '') continue
    if (columns.has(name)) findings.error(path, `the column ${name} appears more than once; remove one of them`)
    else if (!KNOWN_COLUMNS.has(name)) findings.error(path, unknownColumnMessage(name))
    columns.set(name, index)
  }
  const required = ['difficulty', ...(defaultSkill === undefined ? ['skill'] : [])]
  const missing = required.filter((column) => !columns.has(column))
  if (missing.length > 0)
    findings.error(path, `the column ${missing.join(' and the column ')} is missing${separatorHint(cells)}`)
  const languages = LANGUAGES.filter((language) => columns.has(`stem_${language}`))
  if (missing.length === 0 && languages.length === 0)
    findings.error(path, 'there is no text column; add stem_en, key_en and distractor1_en to distractor3_en')
  return findings.errors.length === errorCount ? columns : undefined
}

function unknownColumnMessage(name: string): string {
  const shownName = name.slice(0, 40)
  const language = /^(?:stem|key|distractor[1-5])_(.+)$/.exec(name)?.[1]
  if (language && !LANGUAGES.includes(language as Language))
    return `the language of the column ${shownName} is not supported; supported languages: ${LANGUAGES.join(', ')}`
  const suggestion = closestName(name, [...KNOWN_COLUMNS])
  return `unknown column ${shownName}; ${suggestion ? `did you mean ${suggestion}?` : 'remove it'}`
}

function separatorHint(cells: string[]): string {
  const separator = cells.length === 1 ? /[;\t]/.exec(cells[0]!)?.[0] : undefined
  if (!separator) return ''
  return `: the columns are separated by ${separator === ';' ? 'semicolons' : 'tabs'}; save the file with commas`
}

function readRow(
  path: string,
  cell: (column: string) => string,
  languages: Language[],
  defaultSkill: string | undefined,
): ItemDraft {
  const errors: Detail[] = []
  const addError: AddError = (column, message) => errors.push({ path: `${path}, column ${column}`, message })
  const skill = cell('skill') || undefined
  if (!skill && !defaultSkill)
    addError('skill', 'the skill is missing; write its ID, such as sk_1001, or its exact name')
  const difficulty = Number(cell('difficulty'))
  const isDifficulty = [1, 2, 3].includes(difficulty)
  if (!isDifficulty) addError('difficulty', 'the difficulty must be 1 (easy), 2 (medium) or 3 (difficult)')
  const texts: ItemDraft['texts'] = {}
  for (const language of languages) {
    const text = readText(language, cell, addError)
    if (text) texts[language] = text
  }
  if (Object.keys(texts).length === 0)
    errors.push({ path, message: 'the row has no question; fill in at least one language, or delete the row' })
  return createDraft(path, {
    skill,
    externalId: cell('id') || undefined,
    kind: cell('kind').toLowerCase() || UNSPECIFIED_KIND,
    ...(isDifficulty ? { difficulty: difficulty as AuthorDifficulty } : {}),
    texts,
    errors,
  })
}

type AddError = (column: string, message: string) => void

function createDraft(path: string, values: Partial<ItemDraft>): ItemDraft {
  const locateField = (column: string) => `${path}, column ${column}`
  return {
    path,
    skill: undefined,
    externalId: undefined,
    kind: UNSPECIFIED_KIND,
    difficulty: 2,
    texts: {},
    errors: [],
    ...values,
    locate: (language, part) => locateField(part === 'stem' ? `stem_${language}` : textColumns(language)[part + 1]!),
    locateField,
  }
}

/** Returns the text in one language, with empty texts for missing cells, or undefined if all its cells are empty. */
function readText(language: Language, cell: (column: string) => string, addError: AddError): ItemText | undefined {
  const [stem, key, ...distractors] = textColumns(language).map(cell)
  const lastDistractor = distractors.findLastIndex(Boolean)
  if (!stem && !key && lastDistractor < 0) return undefined
  if (!stem) addError(`stem_${language}`, 'the question is missing; write it')
  if (!key) addError(`key_${language}`, 'the right answer is missing; write it')
  const requiredCount = Math.max(MIN_DISTRACTORS, lastDistractor + 1)
  for (const [index, distractor] of distractors.slice(0, requiredCount).entries())
    if (!distractor)
      addError(
        `distractor${index + 1}_${language}`,
        index < MIN_DISTRACTORS
          ? `the wrong answer is missing; at least ${MIN_DISTRACTORS} are required`
          : 'the wrong answer is missing, but a later column has one; move it to the left',
      )
  return { stem: stem!, options: [key!, ...distractors.slice(0, requiredCount)] }
}

/** A cell that a spreadsheet would run as a formula, with the apostrophes that protect it. */
const FORMULA = /^'*[=+\-@＝＋－＠]/u

function unescapeCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}

function escapeCell(text: string): string {
  const safeText = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safeText) ? `"${safeText.replaceAll('"', '""')}"` : safeText
}

export interface ExportedItem {
  itemId: string
  externalId: string | undefined
  skillId: string
  skillName: string
  kind: string
  difficulty: AuthorDifficulty
  texts: ItemDraft['texts']
}

/** Returns a CSV file that `readCsvItems` reads as the same items. It starts with a byte order mark, which spreadsheets need. */
export function writeCsvItems(items: readonly ExportedItem[]): Buffer {
  const languages = LANGUAGES.filter((language) => items.some(({ texts }) => texts[language]))
  const lines = items.map(({ itemId, externalId, skillId, kind, difficulty, texts }) => {
    const textCells = languages.flatMap((language) => {
      const { stem = '', options = [] } = texts[language] ?? {}
      return [stem, ...Array.from({ length: MAX_DISTRACTORS + 1 }, (_, index) => options[index] ?? '')]
    })
    return [skillId, externalId ?? itemId, kind === UNSPECIFIED_KIND ? '' : kind, String(difficulty), ...textCells]
  })
  const header = [...GENERAL_COLUMNS, ...languages.flatMap(textColumns)]
  return Buffer.from(`\ufeff${[header, ...lines].map((cells) => `${cells.map(escapeCell).join(',')}\r\n`).join('')}`)
}
