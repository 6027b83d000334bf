import { readFile, writeFile } from 'node:fs/promises'
import { type BenchmarkResults, renderReport } from './report.ts'

const RESULTS_FILE = new URL('results.json', import.meta.url)
export const REPORT_FILE = new URL('../../docs/reference/performance.md', import.meta.url)

/** Replaces the saved results of the measured benchmarks, and writes the page of the documentation. */
export async function saveReport(measured: BenchmarkResults): Promise<void> {
  const results = { ...(await readResults()), ...measured }
  await writeFile(RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`)
  await writeFile(REPORT_FILE, renderReport(results))
}

export async function readResults(): Promise<BenchmarkResults> {
  return JSON.parse(await readFile(RESULTS_FILE, 'utf8'))
}
