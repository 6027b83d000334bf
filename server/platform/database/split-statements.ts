export interface Statement {
  text: string
  /** Line of the file on which the statement starts, from 1. */
  line: number
}

// Tokens that may contain a semicolon (comments, quoted names and texts, dollar-quoted bodies), and the semicolon itself.
const TOKEN_PATTERN = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$[A-Za-z_]*\$)[\s\S]*?\1|;/g

/** Splits a migration into its statements, so that an error can name the statement and its line. */
export function splitStatements(sql: string): Statement[] {
  const statements: Statement[] = []
  let start = 0
  for (const match of sql.matchAll(TOKEN_PATTERN)) {
    if (match[0] !== ';') continue
    addStatement(sql.slice(start, match.index), start)
    start = match.index + 1
  }
  addStatement(sql.slice(start), start)
  return statements

  function addStatement(raw: string, offset: number) {
    const leadingLength = /^(?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(raw)![0].length
    const text = raw.slice(leadingLength).trimEnd()
    if (text) statements.push({ text, line: sql.slice(0, offset + leadingLength).split('\n').length })
  }
}
