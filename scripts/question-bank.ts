import { readFileSync, writeFileSync } from 'node:fs'
import { type BankReport, inspectBank } from '../server/questions/bank/report.ts'

// Looks through the question bank and prints what it holds and what the checks find.
//   node scripts/question-bank.ts               the tables
//   node scripts/question-bank.ts --list        each finding with its file and line; more words: files whose name contains one
//   node scripts/question-bank.ts --write       puts the tables into docs/reference/question-bank.md
//   node scripts/question-bank.ts --check       fails on a finding, or where the page differs
const DOCUMENT = new URL('../docs/reference/question-bank.md', import.meta.url)
const [START, END] = ['<!-- tables: scripts/question-bank.ts --write -->', '<!-- end of tables -->']

const flags = new Set(process.argv.slice(2).filter((argument) => argument.startsWith('--')))
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const report = await inspectBank(wanted.length > 0 ? (name) => wanted.some((part) => name.includes(part)) : undefined)
const tables = render(report)

console.log(tables)
if (flags.has('--list')) {
  for (const { at, check, message } of report.findings) console.log(`${at}: ${check}: ${message}`)
}
if (flags.has('--write')) writeFileSync(DOCUMENT, withTables(readFileSync(DOCUMENT, 'utf8')))
if (flags.has('--check')) {
  const page = readFileSync(DOCUMENT, 'utf8')
  if (page !== withTables(page))
    fail('docs/reference/question-bank.md is out of date: run scripts/question-bank.ts --write')
  if (report.findings.length > 0) fail(`${report.findings.length} findings: run scripts/question-bank.ts --list`)
}

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}

function withTables(page: string): string {
  const [start, end] = [page.indexOf(START), page.indexOf(END)]
  if (start < 0 || end < start) throw new Error(`${DOCUMENT.pathname} lacks its marks`)
  return `${page.slice(0, start + START.length)}\n\n${tables}\n${page.slice(end)}`
}

function render({ files, totals, checks, guesses, served }: BankReport): string {
  const lines = [
    ...table(
      ['Bank', 'Count'],
      Object.entries(totals).map(([what, count]) => [what, number(count)]),
    ),
    '',
    ...table(
      ['Trade', 'Skills', 'Items', 'Languages'],
      files.map(({ name, skills, items, languages }) => [name, number(skills), number(items), languages.join(', ')]),
    ),
    '',
    ...table(
      ['Check', 'Findings', 'Per 1,000 wordings'],
      checks.map(({ check, findings, rate }) => [check, number(findings), (rate * 1000).toFixed(1)]),
    ),
    '',
    ...table(
      ['Somebody who knows nothing and…', ...Object.keys(guesses[0]?.hits ?? {})],
      guesses.map(({ strategy, hits }) => [
        strategy,
        ...Object.values(hits).map((hit) => `${(hit * 100).toFixed(1)} %`),
      ]),
    ),
    '',
    ...table(
      ['Place of the key in what is served', 'Items', 'Share'],
      served.places.map((count, place) => [
        `option ${place + 1}`,
        number(count),
        `${((count / Math.max(1, served.items)) * 100).toFixed(1)} %`,
      ]),
    ),
    '',
  ]
  return lines.join('\n')
}

function table(head: string[], rows: string[][]): string[] {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column]!.length)))
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)]
}

function number(count: number): string {
  return count.toLocaleString('en-US')
}
