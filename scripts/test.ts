import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { buildPages } from '../server/web-assets/build.ts'
import { CHROMIUM_ADVICE, isChromiumAvailable } from '../test/browser/find-chromium.ts'
import { checkStatements } from '../test/distribution/check-statements.ts'
import { isCi, parseTestArguments, selectFiles } from '../test/runner/arguments.ts'
import { databaseUrl, prepareTemplate, startCluster, TEMPLATE_DATABASE } from '../test/runner/cluster.ts'
import { startExternalPostgres } from '../test/runner/external.ts'
import { isPgBouncerAvailable, PGBOUNCER_ADVICE, startPgBouncer } from '../test/runner/pooler.ts'
import type { TestSummary } from '../test/runner/summary-reporter.ts'
import { bundlesOption } from './modules/bundled-packages.mjs'
import { programFolder, writeProgramBundles } from './modules/bundled-program.mjs'

// Starts a PostgreSQL server, runs the tests against it, stops it, and lists the slowest test files.
//   npm test                                          all tests, on the embedded PostgreSQL
//   npm test -- server/access                         tests whose path contains server/access
//   npm test -- --test-name-pattern='failed mandates' mandates   tests by name; other options of `node --test` work too
//   npm test -- --external                            the tests that use it, on an external PostgreSQL over TCP with a password
//   npm test -- --pooled                              the tests that use it, through PgBouncer in transaction mode
//   npm test -- --statements                          compares the statements that the tests cause with what Citus can run
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** If more test files fail than this, the cause is not flakiness, and no file is re-run. */
const MAX_RERUN_FILES = 5
/** Each flaky file must pass this often when it is run alone, or it counts as failed. */
const FLAKY_FILE_RERUNS = 2
/** In CI, more flaky files than this fail the run. */
const MAX_FLAKY_FILES = 2
/** One more than the cores of the CI machine, because many tests wait for other processes. */
const CONCURRENCY = 3
/** The slowest files are listed after a run of at least this many files. */
const MIN_FILES_FOR_REPORT = 5
const MAX_REPORTED_FILES = 15
const TEST_TIMEOUT_MS = 240_000

const options = parseTestArguments(process.argv.slice(2))
const files = withoutMissingBrowser(
  selectFiles(
    globSync('{server,cli,sdk,test,scripts,web,bench}/**/*.test.ts', { exclude: ['**/node_modules/**'] }),
    options,
  ),
)
if (files.length === 0) {
  console.error(`no test file matches ${options.paths.join(' ')}`)
  process.exit(1)
}

if (options.pooled && !isPgBouncerAvailable()) {
  console.error(`no PgBouncer found: the tests through a pooler are skipped. ${PGBOUNCER_ADVICE}`)
  process.exit(0)
}

await buildPages()
// The processes of servers and commands that the tests start load their modules from bundles, like the product.
if (options.paths.length === 0 && !existsSync(programFolder())) await writeProgramBundles()
const cluster = options.external ? await startExternalPostgres() : await startCluster({ inMemory: true })
const pooler = options.pooled ? await startPgBouncer(cluster.url) : undefined
const reportFolder = await mkdtemp(join(tmpdir(), 'attestry-failed-'))
const statementsFolder = options.statements ? await mkdtemp(join(tmpdir(), 'attestry-statements-')) : undefined
let exitCode = 1
try {
  await prepareTemplate(cluster.url)
  const { code, failedFiles, tests, secondsByFile } = await runTests(files, CONCURRENCY)
  reportSlowestFiles(secondsByFile)
  const shouldRerun = code !== 0 && !options.watch && failedFiles.length > 0 && failedFiles.length <= MAX_RERUN_FILES
  exitCode = shouldRerun ? await rerunFailedFiles(failedFiles) : code
  if (code === 0 && tests === 0) {
    console.error('no test has a matching name')
    exitCode = 1
  }
  if (statementsFolder) {
    // A failed test does not send all of its statements.
    const isComplete = options.paths.length === 0 && exitCode === 0
    const template = databaseUrl(cluster.url, TEMPLATE_DATABASE)
    if (!(await checkStatements(statementsFolder, template, { isComplete }))) exitCode = 1
  }
} finally {
  await pooler?.stop()
  await cluster.stop()
  for (const folder of [reportFolder, statementsFolder])
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}
process.exit(exitCode)

/** Leaves out browser tests if Chromium is not installed; in CI, this is an error. */
function withoutMissingBrowser(selectedFiles: string[]): string[] {
  if (isChromiumAvailable()) return selectedFiles
  const skippedFiles = selectedFiles.filter(needsBrowser)
  if (skippedFiles.length === 0) return selectedFiles
  console.error(`no Chromium found: ${skippedFiles.length} files with browser tests are skipped. ${CHROMIUM_ADVICE}`)
  if (isCi(process.env)) process.exit(1)
  return selectedFiles.filter((file) => !needsBrowser(file))
}

function needsBrowser(file: string): boolean {
  return /\/(browser|console-page)\.ts'/.test(readFileSync(file, 'utf8'))
}

/** Re-runs failed test files one at a time. Files that now pass are flaky; in CI, many flaky files are a failure. */
async function rerunFailedFiles(failedFiles: string[]): Promise<number> {
  console.log(`\nre-running failed files one at a time: ${failedFiles.join(', ')}\n`)
  for (let run = 1; run <= FLAKY_FILE_RERUNS; run++) {
    const { code } = await runTests(failedFiles, 1)
    if (code !== 0) return code
  }
  console.log(
    `\nFLAKY (failed, then passed ${FLAKY_FILE_RERUNS} times when run alone): ${failedFiles.join(', ')}. Find the cause: it is a bug in the test or in the product.`,
  )
  if (failedFiles.length <= MAX_FLAKY_FILES || !isCi(process.env)) return 0
  console.log(`CI is set: more than ${MAX_FLAKY_FILES} flaky files fail the run.`)
  return 1
}

function reportSlowestFiles(secondsByFile: Record<string, number>): void {
  const files = Object.entries(secondsByFile).sort(([, first], [, second]) => second - first)
  if (files.length < MIN_FILES_FOR_REPORT) return
  const total = files.reduce((sum, [, seconds]) => sum + seconds, 0)
  console.log(
    `\nThe slowest of ${files.length} test files, which took ${Math.round(total)} s, ${CONCURRENCY} at a time:`,
  )
  for (const [file, seconds] of files.slice(0, MAX_REPORTED_FILES))
    console.log(`${seconds.toFixed(1).padStart(8)} s  ${relative('.', file)}`)
}

async function runTests(files: string[], concurrency: number): Promise<TestSummary & { code: number }> {
  const reportFile = join(reportFolder, `${concurrency}`)
  const child = spawn(
    process.execPath,
    [
      bundlesOption(),
      '--import=./test/runner/hang-timeout.ts',
      '--test',
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./test/runner/summary-reporter.ts',
      `--test-reporter-destination=${reportFile}`,
      ...options.nodeOptions,
      ...files,
    ],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        TEST_POSTGRES_URL: cluster.url,
        ...(options.external ? { TEST_EXTERNAL: '1' } : {}),
        ...(statementsFolder
          ? {
              TEST_STATEMENTS_FOLDER: statementsFolder,
              NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${import.meta.resolve('../test/distribution/collect.ts')}`,
            }
          : {}),
        ...(pooler ? { TEST_POOLER_URL: pooler.url } : {}),
      },
    },
  )
  const forwardSignal = (signal: NodeJS.Signals) => child.kill(signal)
  const terminate = () => child.kill('SIGTERM')
  for (const signal of STOP_SIGNALS) process.on(signal, forwardSignal)
  if (process.channel) process.on('disconnect', terminate)
  const [status] = (await once(child, 'exit')) as [number | null]
  for (const signal of STOP_SIGNALS) process.off(signal, forwardSignal)
  process.off('disconnect', terminate)
  if (status === null) return { code: 1, failedFiles: [], tests: 0, secondsByFile: {} }
  const summary = JSON.parse(await readFile(reportFile, 'utf8')) as TestSummary
  return { ...summary, code: status, failedFiles: summary.failedFiles.map((file) => relative('.', file)) }
}
