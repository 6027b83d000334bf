import type { Command } from 'commander'
import { stripInvisible } from '../server/platform/text/strip-invisible.ts'

export type Cell = string | number | boolean | Date | null | undefined | string[]

/** Prints the result of a command: as JSON with --json, otherwise the text that `toText` returns, without control characters. */
export function print(command: Command, value: unknown, toText: () => string): void {
  printStyled(command, value, () => removeControls(toText()))
}

/** Prints like `print`, with the colours of the text. The caller must remove control characters from stored texts. */
export function printStyled(command: Command, value: unknown, toText: () => string): void {
  const { json } = command.optsWithGlobals<{ json?: boolean }>()
  process.stdout.write(`${json ? escapeControls(JSON.stringify(value, null, 2)) : toText()}\n`)
}

// Controls that JSON.stringify leaves as they are: terminals execute some of them, and others change the direction of the text.
const UNESCAPED_CONTROLS = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const CONTROLS = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Escapes control characters in JSON, which has the same meaning afterwards. */
export function escapeControls(json: string): string {
  return json.replace(UNESCAPED_CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Removes control characters: texts of partners, candidates and reviewers must not control the terminal. */
export function removeControls(text: string): string {
  return text.replace(CONTROLS, '')
}

export function table(headings: string[], rows: Cell[][], emptyText: string): string {
  if (rows.length === 0) return emptyText
  const cells = [headings, ...rows.map((row) => row.map(formatCell))]
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Returns aligned "name  value" lines. */
export function fieldList(pairs: [string, Cell][]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${formatCell(value)}`.trimEnd()).join('\n')
}

function formatCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '-'
  if (cell instanceof Date) return cell.toISOString()
  if (Array.isArray(cell)) return cell.join(',')
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return stripInvisible(String(cell)) // removes control characters for the terminal, which a partner's text may contain
}

/** Appends one line per detail to an error message. Omits a single detail whose text the message already contains. */
export function messageWithDetails(message: string, details: { path: string; message: string }[]): string {
  const lines = details.map((detail) => `${detail.path}: ${detail.message}`)
  if (lines.length === 1 && message.toLowerCase().includes(details[0]!.message.toLowerCase())) return message
  return [message.replace(/; see `?details`?\.$/, ':'), ...lines].join('\n  ')
}
