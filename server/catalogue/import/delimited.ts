import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { CsvError, parse } from 'csv-parse/sync'
import { closestName } from '../../platform/http/did-you-mean.ts'

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

/** The rows of a file; `required` columns must be there, in any order and any case, and `optional` ones are spelt right or absent. */
export async function readRows(
  path: string,
  format: Format,
  required: string[],
  optional: string[] = [],
): Promise<Row[]> {
  const name = basename(path)
  const [heading, ...records] = await readRecords(path, format)
  if (!heading) throw new Error(`${name} is empty`)
  const columns = new Map(heading.cells.map((column, i) => [columnKey(column), i]))
  const twice = required.find((column) => heading.cells.filter((cell) => columnKey(cell) === column).length > 1)
  if (twice) throw new Error(`${name}: there are two columns called ${twice}; which one is meant?`)
  for (const cell of optional.length > 0 ? heading.cells : []) {
    const meant = misspelt(columnKey(cell), [...required, ...optional])
    if (meant) throw new Error(`${name}: there is a column ${cell}, which is not known. Is ${meant} meant?`)
  }
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

/** The column that was meant by one that is not known, if it is clear. */
function misspelt(given: string, known: string[]): string | undefined {
  if (given.length < 4 || known.includes(given)) return undefined
  return closestName(given, known) ?? known.find((column) => column.startsWith(given))
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
    if (error instanceof CsvError && error.code in QUOTES)
      throw new Error(
        `${basename(path)}: ${QUOTES[error.code]} at line ${lineOfQuote(bytes.toString('utf8'), delimiter)}; two of them ("") stand for one inside a cell`,
      )
    if (error instanceof CsvError) throw new Error(`${basename(path)} cannot be read: ${error.message}`)
    throw error
  }
}

const QUOTES: { [code: string]: string } = {
  CSV_QUOTE_NOT_CLOSED: 'the quotation mark that opens a cell has no end, in the row',
  CSV_INVALID_CLOSING_QUOTE:
    'a quotation mark stands in the middle of a cell, or the one that opens it has no end, in the row',
  INVALID_OPENING_QUOTE: 'a quotation mark stands in the middle of a cell, in the row',
}

/** The line of the quotation mark with which the trouble begins: the last that opens a cell before what cannot follow one. */
function lineOfQuote(text: string, delimiter: string): number {
  let line = 1
  let opened = 0
  let begins = true
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!
    if (opened > 0 && letter === '"') {
      if (text[at + 1] === '"') at++
      else if (/^(?:\r?\n|$)/.test(text.slice(at + 1, at + 3)) || text[at + 1] === delimiter) opened = 0
      else return opened
      begins = false
    } else if (opened === 0 && letter === '"') {
      if (!begins) return line
      opened = line
    } else if (opened === 0) begins = letter === delimiter || letter === '\n' || letter === '\uFEFF'
    if (letter === '\n') line++
  }
  return opened || line
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
