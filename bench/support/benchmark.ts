/** One measured figure of a benchmark. */
export interface BenchmarkRow {
  name: string
  value: number
  unit: string
  note?: string | undefined
  /** Name of the operation in the summary of the report; undefined if the figure is not in the summary. */
  operation?: string
  /** The reason why this part of the benchmark did not run; undefined if it ran. */
  skipped?: string
}

export interface BenchmarkOptions {
  /** Small sizes and short durations: proves that the benchmark works, but its figures mean little. */
  short: boolean
}

export type Benchmark = (options: BenchmarkOptions) => Promise<BenchmarkRow[]>

/** Thrown by a benchmark that cannot run because an optional program or file is missing on this machine. */
export class BenchmarkSkipped extends Error {}

/** The only reasons for which a benchmark, or a part of one, may be skipped in CI. */
export const SKIP_REASONS_ALLOWED_IN_CI = {
  evaluationData: 'the evaluation data is not part of the repository',
  pgbouncer: 'PgBouncer is not installed',
  pgbench: 'pgbench is not installed; the embedded PostgreSQL does not include it',
}

export function isSkipAllowedInCi(reason: string): boolean {
  return Object.values(SKIP_REASONS_ALLOWED_IN_CI).includes(reason)
}

/** Returns the row for a part of a benchmark that cannot run because an optional program or file is missing on this machine. */
export function skippedRow(name: string, reason: string): BenchmarkRow {
  return { name, value: Number.NaN, unit: '', note: `skipped: ${reason}`, skipped: reason }
}

const cleanups: (() => Promise<void>)[] = []

/** Registers a function that is called after the last benchmark. */
export function afterBenchmarks(cleanUp: () => Promise<void>): void {
  cleanups.push(cleanUp)
}

export async function cleanUpBenchmarks(): Promise<void> {
  for (const cleanUp of cleanups.splice(0)) await cleanUp()
}

/** Runs one benchmark file that was started directly: `node bench/http.ts [--short] [--json]`. */
export async function runFromCommandLine(name: string, benchmark: Benchmark): Promise<never> {
  try {
    const rows = await benchmark({ short: process.argv.includes('--short') })
    if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
    else printRows(name, rows)
  } catch (error) {
    if (!(error instanceof BenchmarkSkipped)) throw error
    console.error(`${name} skipped: ${error.message}`)
  } finally {
    await cleanUpBenchmarks()
  }
  process.exit(0)
}

export function printRows(title: string, rows: BenchmarkRow[]): void {
  const width = Math.max(...rows.map(({ name }) => name.length))
  console.log(`\n${title}`)
  for (const { name, value, unit, note } of rows) {
    console.log(`  ${name.padEnd(width)}  ${formatFigure(value).padStart(12)} ${unit}${note ? `  (${note})` : ''}`)
  }
}

export function formatFigure(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

/** Returns a percentile; `share` is 0.99 for the 99th. */
export function percentile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!
}

export const median = (values: number[]): number => percentile(values, 0.5)
