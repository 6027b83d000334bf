export interface Statement {
  text: string
  /** Line of the file on which the statement starts, from 1. */
  line: number
}

// Tokens that may contain a semicolon (comments, quoted names and texts, dollar-quoted bodies), and the semicolon itself.
const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$[A-Za-z_]*\$)[\s\S]*?\1|;/g

/** Splits a migration into its statements, so that an error can name the statement and its line. */
export function splitStatements(sql: string): Statement[] {
  const statements: Statement[] = []
  let start = 0
  for (const match of sql.matchAll(TOKEN)) {
    if (match[0] !== ';') continue
    add(sql.slice(start, match.index), start)
    start = match.index + 1
  }
  add(sql.slice(start), start)
  return statements

  function add(raw: string, offset: number) {
    const lead = /^(?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(raw)![0].length
    const text = raw.slice(lead).trimEnd()
    if (text) statements.push({ text, line: sql.slice(0, offset + lead).split('\n').length })
  }
}
