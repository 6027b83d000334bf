import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { closestName } from '../../platform/http/did-you-mean.ts'
import { type DelimitedRecord, DelimitedTextError, parseDelimitedText } from '../../platform/text/delimited-text.ts'

/** A row of a file whose first line contains the column names. */
export interface DelimitedRow {
  /** File and line of the row, such as `skills.csv:12`. */
  location: string
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
 * Reads the rows of a file. Columns can be in any order, and their names are case-insensitive. Throws if a required column is missing,
 * or if a column name looks like a typo of a required or optional one.
 */
export async function readRows(
  path: string,
  format: DelimitedFormat,
  requiredColumns: string[],
  optionalColumns: string[] = [],
): Promise<DelimitedRow[]> {
  const fileName = basename(path)
  const [header, ...records] = parseRecords(await readFile(path), fileName, format)
  if (!header) throw new Error(`${fileName} is empty`)
  const columns = new Map(header.cells.map((column, i) => [columnKey(column), i]))
  const repeatedColumn = requiredColumns.find(
    (column) => header.cells.filter((cell) => columnKey(cell) === column).length > 1,
  )
  if (repeatedColumn)
    throw new Error(`${fileName}: column ${repeatedColumn} appears more than once; remove or rename the duplicates`)
  for (const cell of optionalColumns.length > 0 ? header.cells : []) {
    const suggestion = suggestColumn(columnKey(cell), [...requiredColumns, ...optionalColumns])
    if (suggestion) throw new Error(`${fileName}: unknown column ${cell}. Did you mean ${suggestion}?`)
  }
  const missingColumns = requiredColumns.filter((column) => !columns.has(columnKey(column)))
  if (missingColumns.length > 0)
    throw new Error(
      `${fileName}: required columns missing: ${missingColumns.join(', ')}; the first line has: ${header.cells.join(', ')}${separatorHint(header.cells, format)}`,
    )
  return records.map(({ cells, line }) => ({
    location: `${fileName}:${line}`,
    cell: (column) => cells[columns.get(columnKey(column)) ?? -1]?.trim() ?? '',
    hasExtraCells: cells.length > header.cells.length,
  }))
}

/** Returns the most similar known column, if `column` is not a known one. */
function suggestColumn(column: string, knownColumns: string[]): string | undefined {
  if (column.length < 4 || knownColumns.includes(column)) return undefined
  return closestName(column, knownColumns) ?? knownColumns.find((name) => name.startsWith(column))
}

/** Returns a hint if the columns are separated by semicolons, as in the spreadsheets of many countries, or by tabs. */
function separatorHint(cells: string[], { delimiter }: DelimitedFormat): string {
  const separator = cells.length === 1 ? /[;\t]/.exec(cells[0]!)?.[0] : undefined
  if (delimiter !== ',' || !separator) return ''
  return `. Columns are separated by ${separator === ';' ? 'semicolons' : 'tabs'}; save the file with commas`
}

function columnKey(column: string): string {
  return column.trim().toLowerCase()
}

/** Far more than the row of a skill needs: a longer row usually has an unclosed quotation mark. */
const MAX_ROW_CHARACTERS = 262_144

/** Limits for files of strangers: parsing stops as soon as one is exceeded. */
export interface RecordLimits {
  maxRecords?: number
  maxCells?: number
  maxRowCharacters?: number
}

/** Parses the content of a file. The first record is the header. */
export function parseRecords(
  bytes: Buffer,
  fileName: string,
  format: DelimitedFormat,
  { maxRowCharacters = MAX_ROW_CHARACTERS, ...limits }: RecordLimits = {},
): DelimitedRecord[] {
  if (!isUtf8(bytes)) throw new Error(`${fileName} is not encoded in UTF-8; save it as UTF-8`)
  try {
    return parseDelimitedText(bytes.toString('utf8'), { ...format, ...limits, maxRecordLength: maxRowCharacters })
  } catch (error) {
    if (!(error instanceof DelimitedTextError)) throw error
    const { reason, line } = error
    if (reason === 'record too long')
      throw new Error(
        `${fileName}: the row at line ${line} is longer than ${maxRowCharacters.toLocaleString('en')} characters. Check for an unclosed quotation mark or missing line breaks.`,
      )
    throw new Error(`${fileName}: ${QUOTE_ERRORS[reason]} at line ${line}; write "" for a quotation mark inside a cell`)
  }
}

const QUOTE_ERRORS = {
  'unclosed quote': 'unclosed quotation mark in the row',
  'invalid closing quote': 'quotation mark in the middle of a cell, or unclosed quotation mark in the row',
  'invalid opening quote': 'quotation mark in the middle of a cell in the row',
}
