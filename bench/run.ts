import { setTimeout as pause } from 'node:timers/promises'
import { isCi } from '../test/runner/arguments.ts'
import { run as analytics } from './analytics.ts'
import { run as campaignSimulator } from './campaign-simulator.ts'
import { run as consoleLists } from './console-lists.ts'
import { run as enrolment } from './enrolment.ts'
import { run as http } from './http.ts'
import { run as mandates } from './mandates.ts'
import { run as pages } from './pages.ts'
import { run as partnerGuards } from './partner-guards.ts'
import { run as rateLimits } from './rate-limits.ts'
import { run as skillExtract } from './skill-extract.ts'
import { run as skillQuality } from './skill-quality.ts'
import { run as skillRoute } from './skill-route.ts'
import { run as skillSearch } from './skill-search.ts'
import { run as startUp } from './start-up.ts'
import {
  type Benchmark,
  type BenchmarkRow,
  BenchmarkSkipped,
  cleanUpBenchmarks,
  isAllowedInCi,
  printRows,
} from './support/benchmark.ts'
import { run as verificationSessions } from './verification-sessions.ts'
import { run as webhookDelivery } from './webhook-delivery.ts'

// npm run bench                     all benchmarks
// npm run bench -- http             one or several by name
// npm run bench -- --short          a few seconds each, to check that they work; the figures mean little
// npm run bench -- --json           the figures as JSON
// With CI=true, a benchmark that is skipped, in whole or in part, fails, except for SKIP_REASONS_ALLOWED_IN_CI.
const benchmarks: Record<string, Benchmark> = {
  'start-up': startUp,
  http,
  'partner-guards': partnerGuards,
  'rate-limits': rateLimits,
  mandates,
  'skill-search': skillSearch,
  'skill-extract': skillExtract,
  'skill-quality': skillQuality,
  'skill-route': skillRoute,
  enrolment,
  'campaign-simulator': campaignSimulator,
  analytics,
  'verification-sessions': verificationSessions,
  'webhook-delivery': webhookDelivery,
  pages,
  'console-lists': consoleLists,
}

/** In the short form a benchmark that runs longer than this hangs. */
const SHORT_TIMEOUT_MS = 120_000

const [short, json] = ['--short', '--json'].map((option) => process.argv.includes(option))
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = names.filter((name) => !benchmarks[name])
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(', ')}; choose from ${Object.keys(benchmarks).join(', ')}`)
  process.exit(1)
}

const results: Record<string, BenchmarkRow[]> = {}
const failed: string[] = []
const skipped: string[] = []
for (const [name, benchmark] of Object.entries(benchmarks)) {
  if (names.length > 0 && !names.includes(name)) continue
  const startedAt = performance.now()
  console.error(`running ${name}…`)
  try {
    const rows = await withTimeout(benchmark({ short: short! }))
    results[name] = rows
    if (!json) printRows(name, rows)
    for (const row of rows) if (row.skipped !== undefined) reportSkip(`${name}, ${row.name}`, row.skipped)
    console.error(`${name} took ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  } catch (error) {
    if (error instanceof BenchmarkSkipped) reportSkip(name, error.message)
    else {
      console.error(`${name} failed:`, error)
      failed.push(name)
    }
  }
}
await cleanUpBenchmarks().catch((error) => console.error('cleaning up failed:', error))
if (json) console.log(JSON.stringify(results, null, 2))
if (failed.length > 0) console.error(`\nfailed benchmarks: ${failed.join(', ')}`)
const failsOnSkip = skipped.length > 0 && isCi(process.env)
if (failsOnSkip) console.error(`\nbenchmarks that must not be skipped in CI: ${skipped.join('; ')}`)
process.exit(failed.length > 0 || failsOnSkip ? 1 : 0)

function reportSkip(name: string, reason: string): void {
  console.error(`${name} skipped: ${reason}`)
  if (!isAllowedInCi(reason)) skipped.push(name)
}

async function withTimeout(running: Promise<BenchmarkRow[]>): Promise<BenchmarkRow[]> {
  if (!short) return running
  const timeout = pause(SHORT_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`not finished after ${SHORT_TIMEOUT_MS / 1000} s`)
  })
  return Promise.race([running, timeout])
}
