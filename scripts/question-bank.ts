import { readFileSync, writeFileSync } from 'node:fs'
import { type BankReport, inspectBank } from '../server/questions/bank/report.ts'

// Prints statistics of the question bank and the findings of its checks.
//   node scripts/question-bank.ts               prints the tables
//   node scripts/question-bank.ts --list        also prints each finding with its file and line
//   node scripts/question-bank.ts --write       updates the tables in docs/reference/question-bank.md
//   node scripts/question-bank.ts --check       fails if there are findings or the page is out of date
// Arguments without -- limit the report to question bank files whose name contains one of them.
const DOCUMENT_URL = new URL('../docs/reference/question-bank.md', import.meta.url)
const [START_MARKER, END_MARKER] = ['<!-- tables: scripts/question-bank.ts --write -->', '<!-- end of tables -->']
/** In percentage points. */
const MAX_ROUNDING_DIFFERENCE = 0.25

const flags = new Set(process.argv.slice(2).filter((argument) => argument.startsWith('--')))
const fileNameParts = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const report = await inspectBank(
  fileNameParts.length > 0 ? (name) => fileNameParts.some((part) => name.includes(part)) : undefined,
)
const tables = renderTables(report)

console.log(tables)
if (flags.has('--list')) {
  for (const { location, check, message } of report.findings) console.log(`${location}: ${check}: ${message}`)
}
if (flags.has('--write')) writeFileSync(DOCUMENT_URL, insertTables(readFileSync(DOCUMENT_URL, 'utf8')))
if (flags.has('--check')) {
  const page = readFileSync(DOCUMENT_URL, 'utf8')
  if (!hasSameFigures(page, insertTables(page)))
    fail('docs/reference/question-bank.md is out of date: run scripts/question-bank.ts --write')
  if (report.findings.length > 0) fail(`${report.findings.length} findings: run scripts/question-bank.ts --list`)
}

/**
 * Compares two pages, and accepts percentages that differ by rounding: the exponential function, and with it the model, is not exactly the
 * same on every processor.
 */
function hasSameFigures(page: string, expected: string): boolean {
  const percentages = /\b\d+\.\d(?= %)/g
  if (page.replace(percentages, '') !== expected.replace(percentages, '')) return false
  const expectedFigures = expected.match(percentages) ?? []
  return (page.match(percentages) ?? []).every(
    (figure, index) => Math.abs(Number(figure) - Number(expectedFigures[index])) <= MAX_ROUNDING_DIFFERENCE,
  )
}

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}

function insertTables(page: string): string {
  const [start, end] = [page.indexOf(START_MARKER), page.indexOf(END_MARKER)]
  if (start < 0 || end < start)
    throw new Error(`${DOCUMENT_URL.pathname} has no table markers: ${START_MARKER} and ${END_MARKER}`)
  return `${page.slice(0, start + START_MARKER.length)}\n\n${tables}\n${page.slice(end)}`
}

function renderTables({ files, totals, languages, checks, guesses, served }: BankReport): string {
  const sections = [
    renderTable(
      ['Bank', 'Count'],
      Object.entries(totals).map(([label, count]) => [label, formatCount(count)]),
    ),
    renderTable(
      ['Language', 'Skills', 'Items'],
      languages.map(({ language, skills, items }) => [language, formatCount(skills), formatCount(items)]),
    ),
    renderTable(
      ['Trade', 'Skills', 'With 24 items', 'Items'],
      files.map(({ name, skills, largeSkills, items }) => [
        name,
        formatCount(skills),
        formatCount(largeSkills),
        formatCount(items),
      ]),
    ),
    renderTable(
      ['Check', 'Findings', 'Per 1,000 wordings'],
      checks.map(({ check, findings, rate }) => [check, formatCount(findings), (rate * 1000).toFixed(1)]),
    ),
    renderTable(
      ['Guessing strategy', 'Language', 'Correct', 'Worst trade'],
      guesses.map(({ strategy, language, overall, worstTrade }) => [
        strategy,
        language,
        formatShare(overall),
        worstTrade ? `${formatShare(worstTrade.rate)} (${worstTrade.name})` : '',
      ]),
    ),
    renderTable(
      ['Position of the key in served items', 'Items', 'Share'],
      served.positions.map((count, index) => [
        `option ${index + 1}`,
        formatCount(count),
        formatShare(count / Math.max(1, served.items)),
      ]),
    ),
  ]
  return sections.flatMap((lines) => [...lines, '']).join('\n')
}

function renderTable(head: string[], rows: string[][]): string[] {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column]!.length)))
  const renderRow = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [renderRow(head), renderRow(widths.map((width) => '-'.repeat(width))), ...rows.map(renderRow)]
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
