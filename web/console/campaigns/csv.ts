/** Parses comma, semicolon or tab separated values with quoted cells. Empty lines are skipped. */
export function parseCsv(text: string): string[][] {
  const source = text.replace(/^\ufeff/, '')
  const separator = detectSeparator(source)
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  for (let at = 0; at < source.length; at++) {
    const letter = source[at]!
    if (quoted) {
      if (letter !== '"') cell += letter
      else if (source[at + 1] === '"') {
        cell += '"'
        at += 1
      } else quoted = false
    } else if (letter === '"' && cell.trim() === '') {
      quoted = true
      cell = ''
    } else if (letter === separator) endCell()
    else if (letter === '\n') endRow()
    else if (letter !== '\r') cell += letter
  }
  endRow()
  return rows

  function endCell() {
    row.push(cell.trim())
    cell = ''
  }

  function endRow() {
    endCell()
    if (row.some((value) => value !== '')) rows.push(row)
    row = []
  }
}

/** Returns the most frequent separator of the first line, outside of quotes. */
function detectSeparator(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1)
  const lineWithoutQuotes = line.replace(/"[^"]*"/g, '')
  const counts = [',', ';', '\t'].map((separator) => ({ separator, count: lineWithoutQuotes.split(separator).length }))
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).separator
}
