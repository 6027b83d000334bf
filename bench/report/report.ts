import { availableParallelism, loadavg, totalmem } from 'node:os'
import { type BenchmarkRow, formatFigure } from '../support/benchmark.ts'

/** The figures of one benchmark, and where and when they were measured. */
interface BenchmarkResult {
  /** The day of the run, for example 2026-11-18. */
  date: string
  machine: string
  /** The load average at the start. It is above zero if the machine had other work. */
  loadBefore: number
  loadAfter: number
  rows: BenchmarkRow[]
}

export type BenchmarkResults = Record<string, BenchmarkResult>

/** Returns a description of this machine, for example “2 cores (arm64), 8 GB of memory, Node 24.1.0”. */
export function describeMachine(): string {
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return `${availableParallelism()} cores (${process.arch}), ${gigabytes} GB of memory, Node ${process.versions.node}`
}

/** Returns the load average of the last minute. */
export function measureLoadAverage(): number {
  return Math.round(loadavg()[0]! * 10) / 10
}

/** Returns the page of the documentation that shows the results. */
export function renderReport(results: BenchmarkResults): string {
  return `# Performance

\`npm run bench -- --report\` measures these figures and writes this page; \`npm run bench -- --report http\` measures and replaces those of
one benchmark. Each benchmark measures the programs and libraries that it compares with in the same run, alternately, so that other work on the machine affects all of them. Ratios
can be compared between machines; other figures cannot.

The load is the load average at the start and at the end of the run. Where the load at the start is not near zero, the machine had other
work, and the figures are worse than on an idle machine.

## Summary

Each operation, compared with a minimal program that does the same work, or with a target.

${renderTable(['Operation', 'Measured', 'Figure', 'Target'], renderSummary(results))}
${Object.entries(results)
  .map(([name, result]) => renderBenchmark(name, result))
  .join('\n')}`
}

function renderSummary(results: BenchmarkResults): string[][] {
  return Object.values(results)
    .flatMap(({ rows }) => rows)
    .filter(({ operation }) => operation !== undefined)
    .map((row) => [row.operation!, row.name, renderFigure(row), row.note?.match(/target: (.*)/)?.[1] ?? ''])
}

function renderBenchmark(name: string, { date, machine, loadBefore, loadAfter, rows }: BenchmarkResult): string {
  return `## ${name}

\`npm run bench -- ${name}\`, ${date}, ${machine}, load ${loadBefore} to ${loadAfter}

${renderTable(
  ['Measured', 'Figure', 'Note'],
  rows.map((row) => [row.name, row.skipped === undefined ? renderFigure(row) : '–', row.note ?? '']),
)}`
}

function renderFigure({ value, unit }: BenchmarkRow): string {
  return `${formatFigure(value)} ${unit}`
}

function renderTable(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  return [line(head), `|${head.map(() => '---|').join('')}\n`, ...rows.map(line)].join('')
}
