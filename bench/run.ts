import { setTimeout as pause } from 'node:timers/promises'
import { isCi } from '../test/runner/arguments.ts'
import { type BenchmarkResults, describeMachine, measureLoadAverage } from './report/report.ts'
import { saveReport } from './report/save.ts'
import {
  type Benchmark,
  type BenchmarkRow,
  BenchmarkSkipped,
  cleanUpBenchmarks,
  isSkipAllowedInCi,
  printRows,
} from './support/benchmark.ts'

// With CI=true, a benchmark that is skipped, in whole or in part, fails, unless SKIP_REASONS_ALLOWED_IN_CI has the reason.

/** Loads a benchmark when it runs, so that --help responds at once. */
type BenchmarkModule = () => Promise<{ runBenchmark: Benchmark }>

const benchmarks: Record<string, BenchmarkModule> = {
  'start-up': () => import('./start-up.ts'),
  http: () => import('./http.ts'),
  overload: () => import('./overload.ts'),
  'partner-guards': () => import('./partner-guards.ts'),
  'rate-limits': () => import('./rate-limits.ts'),
  pooler: () => import('./pooler.ts'),
  mandates: () => import('./mandates.ts'),
  'skill-search': () => import('./skill-search.ts'),
  'skill-extract': () => import('./skill-extract.ts'),
  'skill-quality': () => import('./skill-quality.ts'),
  'skill-route': () => import('./skill-route.ts'),
  verdicts: () => import('./verdicts.ts'),
  'reply-latency': () => import('./reply-latency.ts'),
  'endorsement-rings': () => import('./endorsement-rings.ts'),
  enrolment: () => import('./enrolment.ts'),
  people: () => import('./people.ts'),
  capacity: () => import('./capacity.ts'),
  'campaign-simulator': () => import('./campaign-simulator.ts'),
  'live-campaign': () => import('./live-campaign.ts'),
  analytics: () => import('./analytics.ts'),
  ats: () => import('./ats.ts'),
  'verification-sessions': () => import('./verification-sessions.ts'),
  'webhook-delivery': () => import('./webhook-delivery.ts'),
  ledger: () => import('./ledger.ts'),
  pages: () => import('./pages.ts'),
  'console-lists': () => import('./console-lists.ts'),
  credentials: () => import('./credentials.ts'),
}

/** Run only if they are named: they start several servers, and one of them needs the history of the repository. */
const benchmarksOnDemand: Record<string, BenchmarkModule> = {
  failover: () => import('./failover.ts'),
  'rolling-upgrade': () => import('./rolling-upgrade.ts'),
}

/** With --short, a benchmark that runs longer than this is assumed to hang, and fails. */
const SHORT_TIMEOUT_MS = 120_000

const options: Record<string, string> = {
  '--short': 'run each benchmark for a few seconds, to check that it works; the figures are not meaningful',
  '--json': 'print the figures as JSON',
  '--report': 'save the figures and write docs/reference/performance.md; with names, replace their figures only',
  '--help': 'show this help',
}
const usage = `Usage: npm run bench -- [options] [benchmarks]

Options:
${Object.entries(options)
  .map(([option, effect]) => `  ${option.padEnd(10)}${effect}`)
  .join('\n')}

Benchmarks, all of which run if none is named:
  ${Object.keys(benchmarks).join(', ')}

Benchmarks that run only if they are named:
  ${Object.keys(benchmarksOnDemand).join(', ')}`

const commandLine = process.argv.slice(2)
const unknownOptions = commandLine.filter((argument) => argument.startsWith('-') && !options[argument])
if (unknownOptions.length > 0) {
  console.error(`unknown option ${unknownOptions.join(', ')}; choose from ${Object.keys(options).join(', ')}`)
  process.exit(1)
}
const [short, json, report, help] = Object.keys(options).map((option) => commandLine.includes(option))
if (help) {
  console.log(usage)
  process.exit(0)
}
if (short && report) {
  console.error(
    '--report cannot be combined with --short, because the figures of a short run are not meaningful; remove --short',
  )
  process.exit(1)
}
const selectedNames = commandLine.filter((argument) => !argument.startsWith('-'))
const knownBenchmarks = { ...benchmarks, ...benchmarksOnDemand }
const unknownNames = selectedNames.filter((name) => !knownBenchmarks[name])
if (unknownNames.length > 0) {
  console.error(`unknown benchmark ${unknownNames.join(', ')}; choose from ${Object.keys(knownBenchmarks).join(', ')}`)
  process.exit(1)
}

const measured: BenchmarkResults = {}
const rowsByBenchmark: Record<string, BenchmarkRow[]> = {}
const failedNames: string[] = []
const forbiddenSkips: string[] = []
for (const [name, load] of Object.entries(selectedNames.length > 0 ? knownBenchmarks : benchmarks)) {
  if (selectedNames.length > 0 && !selectedNames.includes(name)) continue
  const startedAt = performance.now()
  const loadBefore = measureLoadAverage()
  console.error(`running ${name}…`)
  try {
    const { runBenchmark } = await load()
    const rows = await withTimeout(runBenchmark({ short: short! }))
    rowsByBenchmark[name] = rows
    const date = new Date().toISOString().slice(0, 10)
    measured[name] = { date, machine: describeMachine(), loadBefore, loadAfter: measureLoadAverage(), rows }
    if (!json) printRows(name, rows)
    for (const row of rows) if (row.skipped !== undefined) reportSkip(`${name}, ${row.name}`, row.skipped)
    console.error(`${name} took ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  } catch (error) {
    if (error instanceof BenchmarkSkipped) reportSkip(name, error.message)
    else {
      console.error(`${name} failed:`, error)
      failedNames.push(name)
    }
  }
}
await cleanUpBenchmarks().catch((error) => console.error('cleaning up failed:', error))
if (json) console.log(JSON.stringify(rowsByBenchmark, null, 2))
if (report) await saveReport(measured)
if (failedNames.length > 0) console.error(`\nfailed benchmarks: ${failedNames.join(', ')}`)
const hasForbiddenSkip = forbiddenSkips.length > 0 && isCi(process.env)
if (hasForbiddenSkip) console.error(`\nbenchmarks that must not be skipped in CI: ${forbiddenSkips.join('; ')}`)
process.exit(failedNames.length > 0 || hasForbiddenSkip ? 1 : 0)

function reportSkip(name: string, reason: string): void {
  console.error(`${name} skipped: ${reason}`)
  if (!isSkipAllowedInCi(reason)) forbiddenSkips.push(name)
}

async function withTimeout(benchmarkRun: Promise<BenchmarkRow[]>): Promise<BenchmarkRow[]> {
  if (!short) return benchmarkRun
  const timeout = pause(SHORT_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`not finished after ${SHORT_TIMEOUT_MS / 1000} s`)
  })
  return Promise.race([benchmarkRun, timeout])
}
