import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { CsvError, parse } from 'csv-parse/sync'
import { closestName } from '../../platform/http/did-you-mean.ts'

/** A row of a file whose first line contains the column names. */
export interface DelimitedRow {
  /** File and line. */
  at: string
  /** Returns the trimmed cell of a column, or an empty text if the row has none. */
  cell(column: string): string
  /** The row has more cells than the header, usually because a cell with a comma is not in quotation marks. */
  hasExtraCells: boolean
}

export interface DelimitedFormat {
  delimiter: ',' | '\t'
  /** False if quotation marks are ordinary characters, as in the tab-separated files of O*NET. */
  quotes: boolean
}

export const CSV: DelimitedFormat = { delimiter: ',', quotes: true }
export const TAB_SEPARATED: DelimitedFormat = { delimiter: '\t', quotes: false }

/**
 * Reads the rows of a file. Columns can be in any order and any case. Throws if a `required` column is missing, or if a column name looks
 * like a typo of a required or optional one.
 */
export async function readRows(
  path: string,
  format: DelimitedFormat,
  required: string[],
  optional: string[] = [],
): Promise<DelimitedRow[]> {
  const name = basename(path)
  const [header, ...records] = await readRecords(path, format)
  if (!header) throw new Error(`${name} is empty`)
  const columns = new Map(header.cells.map((column, i) => [columnKey(column), i]))
  const repeated = required.find((column) => header.cells.filter((cell) => columnKey(cell) === column).length > 1)
  if (repeated) throw new Error(`${name}: column ${repeated} appears more than once; remove or rename the others`)
  for (const cell of optional.length > 0 ? header.cells : []) {
    const suggestion = suggestColumn(columnKey(cell), [...required, ...optional])
    if (suggestion) throw new Error(`${name}: unknown column ${cell}. Did you mean ${suggestion}?`)
  }
  const missing = required.filter((column) => !columns.has(columnKey(column)))
  if (missing.length > 0)
    throw new Error(
      `${name}: required columns missing: ${missing.join(', ')}; the first line has: ${header.cells.join(', ')}${separatorHint(header.cells, format)}`,
    )
  return records.map(({ cells, line }) => ({
    at: `${name}:${line}`,
    cell: (column) => cells[columns.get(columnKey(column)) ?? -1]?.trim() ?? '',
    hasExtraCells: cells.length > header.cells.length,
  }))
}

/** Returns the known column that an unknown one is probably a typo of. */
function suggestColumn(column: string, known: string[]): string | undefined {
  if (column.length < 4 || known.includes(column)) return undefined
  return closestName(column, known) ?? known.find((name) => name.startsWith(column))
}

/** Spreadsheets in many countries use semicolons, so that all column names appear as one. */
function separatorHint(cells: string[], { delimiter }: DelimitedFormat): string {
  const separator = cells.length === 1 ? /[;\t]/.exec(cells[0]!)?.[0] : undefined
  if (delimiter !== ',' || !separator) return ''
  return `. Columns are separated by ${separator === ';' ? 'semicolons' : 'tabs'}; save the file with commas`
}

function columnKey(column: string): string {
  return column.trim().toLowerCase()
}

/** Far more than a skill needs: a longer row usually has an unclosed quotation mark. */
const MAX_ROW_CHARACTERS = 262_144

interface CsvRecord {
  cells: string[]
  line: number
}

async function readRecords(path: string, { delimiter, quotes }: DelimitedFormat): Promise<CsvRecord[]> {
  const bytes = await readFile(path)
  if (!isUtf8(bytes)) throw new Error(`${basename(path)} is not encoded in UTF-8; save it as UTF-8`)
  try {
    return parse(bytes, {
      bom: true,
      delimiter,
      quote: quotes ? '"' : false,
      relax_column_count: true,
      max_record_size: MAX_ROW_CHARACTERS,
      skip_empty_lines: true,
      // The parser passes the line on which a record ends. Its types only allow lists of cells as records.
      on_record(cells: string[], { lines }) {
        const record: CsvRecord = { cells, line: lines - countLineBreaks(cells) }
        return record as unknown as string[]
      },
    }) as unknown as CsvRecord[]
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_MAX_RECORD_SIZE') throw rowTooLongError(basename(path), error)
    if (error instanceof CsvError && error.code in QUOTE_ERRORS)
      throw new Error(
        `${basename(path)}: ${QUOTE_ERRORS[error.code]} at line ${lineOfQuote(bytes.toString('utf8'), delimiter)}; write "" for a quotation mark inside a cell`,
      )
    if (error instanceof CsvError) throw new Error(`${basename(path)} cannot be read: ${error.message}`)
    throw error
  }
}

const QUOTE_ERRORS: { [code: string]: string } = {
  CSV_QUOTE_NOT_CLOSED: 'unclosed quotation mark in the row',
  CSV_INVALID_CLOSING_QUOTE: 'quotation mark in the middle of a cell, or unclosed quotation mark in the row',
  INVALID_OPENING_QUOTE: 'quotation mark in the middle of a cell in the row',
}

/** Finds the line of the invalid quotation mark: the mark that opens the cell where parsing fails, or a mark in the middle of a cell. */
function lineOfQuote(text: string, delimiter: string): number {
  let line = 1
  /** Line of the quotation mark that opened the current cell; 0 outside quotation marks. */
  let openedAt = 0
  let cellStarts = true
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (openedAt > 0 && character === '"') {
      if (text[at + 1] === '"') at++
      else if (/^(?:\r?\n|$)/.test(text.slice(at + 1, at + 3)) || text[at + 1] === delimiter) openedAt = 0
      else return openedAt
      cellStarts = false
    } else if (openedAt === 0 && character === '"') {
      if (!cellStarts) return line
      openedAt = line
    } else if (openedAt === 0) cellStarts = character === delimiter || character === '\n' || character === '\uFEFF'
    if (character === '\n') line++
  }
  return openedAt || line
}

/** `lines` is the number of lines that the parser has finished reading. */
function rowTooLongError(name: string, { lines }: CsvError) {
  const max = MAX_ROW_CHARACTERS.toLocaleString('en')
  return new Error(
    `${name}: the row at line ${lines} is longer than ${max} characters. Check for an unclosed quotation mark or missing line breaks.`,
  )
}

function countLineBreaks(cells: string[]): number {
  let count = 0
  for (const cell of cells) for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) count++
  return count
}
