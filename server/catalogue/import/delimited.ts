import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { CsvError, parse } from 'csv-parse/sync'

/** A row of a file whose first line names its columns. */
export interface Row {
  /** File and line, for people to find it. */
  at: string
  /** The cell of a column, trimmed; empty where the row has none. */
  cell(column: string): string
  /** More cells than the heading has columns: usually a comma that should have been quoted. */
  tooLong: boolean
}

export interface Format {
  delimiter: ',' | '\t'
  /** Off where quotation marks are ordinary characters, as in the tab-separated files of O*NET. */
  quotes: boolean
}

export const CSV: Format = { delimiter: ',', quotes: true }
export const TAB_SEPARATED: Format = { delimiter: '\t', quotes: false }

/** The rows of a file; `required` columns must be there, in any order and any case. */
export async function readRows(path: string, format: Format, required: string[]): Promise<Row[]> {
  const name = basename(path)
  const [heading, ...records] = await readRecords(path, format)
  if (!heading) throw new Error(`${name} is empty`)
  const columns = new Map(heading.cells.map((column, i) => [columnKey(column), i]))
  const twice = required.find((column) => heading.cells.filter((cell) => columnKey(cell) === column).length > 1)
  if (twice) throw new Error(`${name}: there are two columns called ${twice}; which one is meant?`)
  const missing = required.filter((column) => !columns.has(columnKey(column)))
  if (missing.length > 0)
    throw new Error(
      `${name}: there is no column ${missing.join(', ')}; its first line has: ${heading.cells.join(', ')}${separatorHint(heading.cells, format)}`,
    )
  return records.map(({ cells, line }) => ({
    at: `${name}:${line}`,
    cell: (column) => cells[columns.get(columnKey(column)) ?? -1]?.trim() ?? '',
    tooLong: cells.length > heading.cells.length,
  }))
}

/** Spreadsheets of many countries write semicolons, which make one long name of all columns. */
function separatorHint(cells: string[], { delimiter }: Format): string {
  const other = cells.length === 1 ? /[;\t]/.exec(cells[0]!)?.[0] : undefined
  if (delimiter !== ',' || !other) return ''
  return `. Its columns are separated by ${other === ';' ? 'semicolons' : 'tabs'}: save it with commas`
}

function columnKey(column: string): string {
  return column.trim().toLowerCase()
}

/** Far more than any skill takes: a row that goes on and on is none. */
const LONGEST_ROW = 262_144

interface Record {
  cells: string[]
  line: number
}

async function readRecords(path: string, { delimiter, quotes }: Format): Promise<Record[]> {
  const bytes = await readFile(path)
  if (!isUtf8(bytes)) throw new Error(`${basename(path)} is not UTF-8: save it as CSV in UTF-8`)
  try {
    return parse(bytes, {
      bom: true,
      delimiter,
      quote: quotes ? '"' : false,
      relax_column_count: true,
      max_record_size: LONGEST_ROW,
      skip_empty_lines: true,
      // The parser tells the line on which a record ends. Its types know of no other results than lists of cells.
      on_record(cells: string[], { lines }) {
        const record: Record = { cells, line: lines - lineBreaks(cells) }
        return record as unknown as string[]
      },
    }) as unknown as Record[]
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_MAX_RECORD_SIZE') throw tooLong(basename(path), error)
    if (error instanceof CsvError) throw new Error(`${basename(path)} cannot be read: ${error.message}`)
    throw error
  }
}

/** The parser counts the lines that it has read through. */
function tooLong(name: string, { lines }: CsvError) {
  const most = LONGEST_ROW.toLocaleString('en')
  return new Error(
    `${name}: the row at line ${lines} is longer than ${most} characters. Is there a quotation mark without its end, or are the line breaks missing?`,
  )
}

function lineBreaks(cells: string[]): number {
  let count = 0
  for (const cell of cells) for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) count++
  return count
}
