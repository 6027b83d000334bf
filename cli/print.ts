import type { Command } from 'commander'
import { visible } from '../server/platform/text/strip-invisible.ts'

export type Cell = string | number | boolean | Date | null | undefined | string[]

/** Prints what a command found: JSON with --json, otherwise what `forPeople` says. */
export function print(command: Command, value: unknown, forPeople: () => string): void {
  const { json } = command.optsWithGlobals<{ json?: boolean }>()
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : forPeople()}\n`)
}

export function table(headings: string[], rows: Cell[][], empty: string): string {
  if (rows.length === 0) return empty
  const cells = [headings, ...rows.map((row) => row.map(shown))]
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

/** Aligned "name  value" lines. */
export function facts(pairs: [string, Cell][]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`.trimEnd()).join('\n')
}

function shown(cell: Cell): string {
  if (cell === null || cell === undefined) return '-'
  if (cell instanceof Date) return cell.toISOString()
  if (Array.isArray(cell)) return cell.join(',')
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return visible(String(cell)) // partners write some of it: nothing may command the terminal
}

/** A refusal and the places it is about, a line each; a single one that the sentence tells already is not told twice. */
export function withDetails(message: string, details: { path: string; message: string }[]): string {
  const lines = details.map((detail) => `${detail.path}: ${detail.message}`)
  if (lines.length === 1 && message.toLowerCase().includes(details[0]!.message.toLowerCase())) return message
  return [message.replace(/; see details\.$/, ':'), ...lines].join('\n  ')
}
