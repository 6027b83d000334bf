import { setTimeout as pause } from 'node:timers/promises'
import { isCi } from '../test/runner/arguments.ts'
import { runBenchmark as analytics } from './analytics.ts'
import { runBenchmark as ats } from './ats.ts'
import { runBenchmark as campaignSimulator } from './campaign-simulator.ts'
import { runBenchmark as consoleLists } from './console-lists.ts'
import { runBenchmark as credentials } from './credentials.ts'
import { runBenchmark as endorsementRings } from './endorsement-rings.ts'
import { runBenchmark as enrolment } from './enrolment.ts'
import { runBenchmark as failover } from './failover.ts'
import { runBenchmark as http } from './http.ts'
import { runBenchmark as liveCampaign } from './live-campaign.ts'
import { runBenchmark as mandates } from './mandates.ts'
import { runBenchmark as overload } from './overload.ts'
import { runBenchmark as pages } from './pages.ts'
import { runBenchmark as partnerGuards } from './partner-guards.ts'
import { runBenchmark as people } from './people.ts'
import { runBenchmark as pooler } from './pooler.ts'
import { runBenchmark as rateLimits } from './rate-limits.ts'
import { type BenchmarkResults, describeMachine, measureLoadAverage } from './report/report.ts'
import { saveReport } from './report/save.ts'
import { runBenchmark as rollingUpgrade } from './rolling-upgrade.ts'
import { runBenchmark as skillExtract } from './skill-extract.ts'
import { runBenchmark as skillQuality } from './skill-quality.ts'
import { runBenchmark as skillRoute } from './skill-route.ts'
import { runBenchmark as skillSearch } from './skill-search.ts'
import { runBenchmark as startUp } from './start-up.ts'
import {
  type Benchmark,
  type BenchmarkRow,
  BenchmarkSkipped,
  cleanUpBenchmarks,
  isSkipAllowedInCi,
  printRows,
} from './support/benchmark.ts'
import { runBenchmark as verdicts } from './verdicts.ts'
import { runBenchmark as verificationSessions } from './verification-sessions.ts'
import { runBenchmark as webhookDelivery } from './webhook-delivery.ts'

// npm run bench                     all benchmarks, except those on demand
// npm run bench -- http             one or several benchmarks by name
// npm run bench -- --short          a few seconds per benchmark, to check that they work; the figures mean little
// npm run bench -- --json           the figures as JSON
// npm run bench -- --report         also saves the figures and writes docs/reference/performance.md; with names, replaces their figures
// With CI=true, a benchmark that is skipped, in whole or in part, fails, unless SKIP_REASONS_ALLOWED_IN_CI has the reason.
const benchmarks: Record<string, Benchmark> = {
  'start-up': startUp,
  http,
  overload,
  'partner-guards': partnerGuards,
  'rate-limits': rateLimits,
  pooler,
  mandates,
  'skill-search': skillSearch,
  'skill-extract': skillExtract,
  'skill-quality': skillQuality,
  'skill-route': skillRoute,
  verdicts,
  'endorsement-rings': endorsementRings,
  enrolment,
  people,
  'campaign-simulator': campaignSimulator,
  'live-campaign': liveCampaign,
  analytics,
  ats,
  'verification-sessions': verificationSessions,
  'webhook-delivery': webhookDelivery,
  pages,
  'console-lists': consoleLists,
  credentials,
}

/** Run only if they are named: they start several servers, and one of them needs the history of the repository. */
const benchmarksOnDemand: Record<string, Benchmark> = { failover, 'rolling-upgrade': rollingUpgrade }

/** With --short, a benchmark that runs longer than this is assumed to hang, and fails. */
const SHORT_TIMEOUT_MS = 120_000

const [short, json, report] = ['--short', '--json', '--report'].map((option) => process.argv.includes(option))
if (short && report) {
  console.error(
    '--report cannot be combined with --short, because the figures of a short run are not meaningful; remove --short',
  )
  process.exit(1)
}
const selectedNames = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
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
for (const [name, benchmark] of Object.entries(selectedNames.length > 0 ? knownBenchmarks : benchmarks)) {
  if (selectedNames.length > 0 && !selectedNames.includes(name)) continue
  const startedAt = performance.now()
  const loadBefore = measureLoadAverage()
  console.error(`running ${name}…`)
  try {
    const rows = await withTimeout(benchmark({ short: short! }))
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
