import type { Detail } from '../../api/problem.ts'
import { CSV, type CsvRecord, parseRecords } from '../../catalogue/import/delimited.ts'
import { normaliseText } from '../../catalogue/names.ts'
import type { AuthorDifficulty } from '../../measurement/model.ts'
import { closestName } from '../../platform/http/did-you-mean.ts'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'
import type { ItemText } from '../../questions/skill-items.ts'
import {
  type Findings,
  type ItemDraft,
  MAX_DISTRACTORS,
  MAX_ITEMS_PER_IMPORT,
  MIN_DISTRACTORS,
  UNSPECIFIED_KIND,
} from './item-draft.ts'

/**
 * Items in a CSV file: the columns `skill`, `id`, `kind` and `difficulty`, and for each language, such as `en`, the columns `stem_en`,
 * `key_en` and `distractor1_en` to `distractor5_en`.
 */

const GENERAL_COLUMNS = ['skill', 'id', 'kind', 'difficulty']

function textColumns(language: Language): string[] {
  const distractors = Array.from({ length: MAX_DISTRACTORS }, (_, index) => `distractor${index + 1}_${language}`)
  return [`stem_${language}`, `key_${language}`, ...distractors]
}

/** More than all known columns, because empty columns are ignored. */
const MAX_COLUMNS = 200

const KNOWN_COLUMNS = [...GENERAL_COLUMNS, ...LANGUAGES.flatMap(textColumns)]

/** Reads the items of a file. `defaultSkill` is the skill of rows without one. */
export function readCsvItems(
  bytes: Buffer,
  fileName: string,
  defaultSkill: string | undefined,
  findings: Findings,
): ItemDraft[] {
  let records: CsvRecord[]
  try {
    records = parseRecords(bytes, fileName, CSV)
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
    findings.tooManyItems(fileName, rows.length)
    return []
  }
  return rows.map(({ cells, line }) => {
    const path = `${fileName}, line ${line}`
    if (cells.length > header!.cells.length) {
      const message = 'the row has more cells than the header; put cells that contain commas in quotation marks'
      return createDraft(path, { errors: [{ path, message }] })
    }
    const cell = (column: string) => normaliseText(unescapeCell(cells[columns.get(column) ?? -1] ?? ''))
    return readRow(path, cell, columns, defaultSkill)
  })
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
  if (!cells.some((cell) => KNOWN_COLUMNS.includes(cell.trim().toLowerCase()))) {
    findings.error(
      path,
      `the first line must contain the column names, such as skill and stem_en${separatorHint(cells)}`,
    )
    return undefined
  }
  if (cells.length > MAX_COLUMNS) {
    findings.error(path, `the file has ${cells.length} columns; at most ${MAX_COLUMNS} are allowed`)
    return undefined
  }
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim().toLowerCase()
    if (name === '') continue
    if (columns.has(name)) findings.error(path, `the column ${name} appears more than once; remove one of them`)
    else if (!KNOWN_COLUMNS.includes(name)) findings.error(path, unknownColumnMessage(name))
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
  const suggestion = closestName(name, KNOWN_COLUMNS)
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
  columns: Map<string, number>,
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
  for (const language of LANGUAGES) {
    if (!textColumns(language).some((column) => columns.has(column))) continue
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
