import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { CsvError, parse } from 'csv-parse/sync'
import { closestName } from '../../platform/http/did-you-mean.ts'

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

export interface CsvRecord {
  cells: string[]
  line: number
}

/** Parses the content of a file. The first record is the header. */
export function parseRecords(bytes: Buffer, fileName: string, { delimiter, quotes }: DelimitedFormat): CsvRecord[] {
  if (!isUtf8(bytes)) throw new Error(`${fileName} is not encoded in UTF-8; save it as UTF-8`)
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
    if (error instanceof CsvError && error.code === 'CSV_MAX_RECORD_SIZE') throw rowTooLongError(fileName, error)
    if (error instanceof CsvError && error.code in QUOTE_ERRORS)
      throw new Error(
        `${fileName}: ${QUOTE_ERRORS[error.code]} at line ${lineOfInvalidQuote(bytes.toString('utf8'), delimiter)}; write "" for a quotation mark inside a cell`,
      )
    if (error instanceof CsvError) throw new Error(`${fileName} cannot be read: ${error.message}`)
    throw error
  }
}

const QUOTE_ERRORS: { [code: string]: string } = {
  CSV_QUOTE_NOT_CLOSED: 'unclosed quotation mark in the row',
  CSV_INVALID_CLOSING_QUOTE: 'quotation mark in the middle of a cell, or unclosed quotation mark in the row',
  INVALID_OPENING_QUOTE: 'quotation mark in the middle of a cell in the row',
}

/** Finds the line of the invalid quotation mark: the mark that opens the cell where parsing fails, or a mark in the middle of a cell. */
function lineOfInvalidQuote(text: string, delimiter: string): number {
  let line = 1
  /** Line of the quotation mark that opened the current cell; 0 outside quotation marks. */
  let openingLine = 0
  let isCellStart = true
  for (let position = 0; position < text.length; position++) {
    const character = text[position]!
    if (openingLine > 0 && character === '"') {
      if (text[position + 1] === '"') position++
      else if (/^(?:\r?\n|$)/.test(text.slice(position + 1, position + 3)) || text[position + 1] === delimiter)
        openingLine = 0
      else return openingLine
      isCellStart = false
    } else if (openingLine === 0 && character === '"') {
      if (!isCellStart) return line
      openingLine = line
    } else if (openingLine === 0) isCellStart = character === delimiter || character === '\n' || character === '\uFEFF'
    if (character === '\n') line++
  }
  return openingLine || line
}

/** Returns the error for a row that is too long. `lines` is the number of lines that the parser has finished reading. */
function rowTooLongError(fileName: string, { lines }: CsvError) {
  const maxCharacters = MAX_ROW_CHARACTERS.toLocaleString('en')
  return new Error(
    `${fileName}: the row at line ${lines} is longer than ${maxCharacters} characters. Check for an unclosed quotation mark or missing line breaks.`,
  )
}

function countLineBreaks(cells: string[]): number {
  let count = 0
  for (const cell of cells)
    for (let position = cell.indexOf('\n'); position >= 0; position = cell.indexOf('\n', position + 1)) count++
  return count
}
