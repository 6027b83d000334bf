export interface DelimitedRecord {
  cells: string[]
  /** Line of the text on which the record starts. */
  line: number
}

export interface DelimitedOptions {
  delimiter: string
  /** False if quotation marks are ordinary characters. */
  quotes: boolean
  /** A longer record is an error. It usually has an unclosed quotation mark. */
  maxRecordLength: number
  /** Parsing stops after this many records. */
  maxRecords?: number | undefined
  /** Parsing stops after a record with more cells, of which the first `maxCells + 1` are returned. */
  maxCells?: number | undefined
}

export class DelimitedTextError extends Error {
  readonly reason: 'unclosed quote' | 'invalid closing quote' | 'invalid opening quote' | 'record too long'
  readonly line: number

  constructor(reason: DelimitedTextError['reason'], line: number) {
    super(reason)
    this.reason = reason
    this.line = line
  }
}

/**
 * Parses text with one record per line, such as CSV (RFC 4180). Lines end with LF or CRLF, or with CR if there is no LF. Empty lines are
 * skipped. Takes time in proportion to the part of the text that is read, whatever it contains: files can come from strangers.
 */
export function parseDelimitedText(text: string, options: DelimitedOptions): DelimitedRecord[] {
  const { delimiter, quotes, maxRecordLength, maxRecords = Infinity, maxCells = Infinity } = options
  const lineEnd = text.includes('\n') ? '\n' : '\r'
  const records: DelimitedRecord[] = []
  let position = text.startsWith('\ufeff') ? 1 : 0
  let line = 1
  let nextDelimiter = -1
  let nextLineEnd = -1
  while (position < text.length && records.length < maxRecords) {
    if (text[position] === '\r' && text[position + 1] === lineEnd) position++
    if (text[position] === lineEnd) {
      position++
      line++
      continue
    }
    const record: DelimitedRecord = { cells: [], line }
    const isComplete = readRecord(record, position)
    records.push(record)
    if (!isComplete) break
  }
  return records

  /** Reads the cells of a record and its line end. Returns false if it has too many cells. */
  function readRecord({ cells }: DelimitedRecord, start: number): boolean {
    for (;;) {
      const cell = quotes && text[position] === '"' ? readQuotedCell(start) : readPlainCell()
      if (position - start > maxRecordLength) throw new DelimitedTextError('record too long', line)
      cells.push(cell)
      const isLast = text[position] !== delimiter
      if (cells.length > maxCells) return false
      position++ // the delimiter or the line end
      if (isLast) {
        line++
        return true
      }
    }
  }

  function readPlainCell(): string {
    // Each search starts where the last one ended, so that no part of the text is searched twice.
    if (nextDelimiter < position) nextDelimiter = indexOrEnd(delimiter)
    if (nextLineEnd < position) nextLineEnd = indexOrEnd(lineEnd)
    const end = Math.min(nextDelimiter, nextLineEnd)
    const cell = text.slice(position, end)
    if (quotes && cell.includes('"')) throw new DelimitedTextError('invalid opening quote', line)
    position = end
    return end === nextLineEnd ? withoutCarriageReturn(cell) : cell
  }

  /** Moves to the character after the cell: a delimiter, the line end or the end of the text. */
  function readQuotedCell(recordStart: number): string {
    const openingLine = line
    const start = position + 1
    let hasEscapedQuotes = false
    for (let end = start; ; end += 2) {
      end = text.indexOf('"', end)
      if ((end < 0 ? text.length : end) - recordStart > maxRecordLength)
        throw new DelimitedTextError('record too long', openingLine)
      if (end < 0) throw new DelimitedTextError('unclosed quote', openingLine)
      if (text[end + 1] === '"') {
        hasEscapedQuotes = true
        continue
      }
      const raw = text.slice(start, end)
      line += countLineBreaks(raw)
      position = end + 1
      if (text[position] === '\r' && text[position + 1] === lineEnd) position++
      if (position < text.length && text[position] !== delimiter && text[position] !== lineEnd)
        throw new DelimitedTextError('invalid closing quote', openingLine)
      return hasEscapedQuotes ? raw.replaceAll('""', '"') : raw
    }
  }

  function indexOrEnd(searched: string): number {
    const index = text.indexOf(searched, position)
    return index < 0 ? text.length : index
  }

  function withoutCarriageReturn(cell: string): string {
    return lineEnd === '\n' && cell.endsWith('\r') ? cell.slice(0, -1) : cell
  }

  function countLineBreaks(raw: string): number {
    let count = 0
    for (let index = raw.indexOf(lineEnd); index >= 0; index = raw.indexOf(lineEnd, index + 1)) count++
    return count
  }
}
