import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { buildPages } from '../server/web-assets/build.ts'
import { prepareTemplate, startCluster } from '../test/runner/cluster.ts'
import { startExternal } from '../test/runner/external.ts'

// Starts a PostgreSQL for the tests, runs them all (or the files named), and stops it again.
//   npm test                          everything, on the embedded PostgreSQL
//   npm test -- server/access         the tests whose path contains this
//   npm test -- --external            all but the pages, with servers on an external PostgreSQL over TCP, with a password
const STOPS = ['SIGINT', 'SIGTERM'] as const
/** More files than this failing are no accident of a busy machine. */
const MOST_RERUN = 5

const external = process.argv.includes('--external')
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const files = globSync('{server,cli,sdk,test,scripts,web}/**/*.test.ts')
  .filter((file) =>
    wanted.length === 0 ? !external || !file.startsWith('web/') : wanted.some((part) => file.includes(part)),
  )
  .sort()
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`)
  process.exit(1)
}

await buildPages()
const cluster = external ? await startExternal() : await startCluster()
const notes = await mkdtemp(join(tmpdir(), 'attestry-failed-'))
let code = 1
try {
  await prepareTemplate(cluster.url)
  const first = await run(files, 2)
  code = first.code
  if (code !== 0 && first.failed.length > 0 && first.failed.length <= MOST_RERUN) code = await rerun(first.failed)
} finally {
  await cluster.stop()
  await rm(notes, { recursive: true, force: true })
}
process.exit(code)

/** What failed beside other files is run once more alone: a second failure is one, a pass is told as what it is. */
async function rerun(failed: string[]): Promise<number> {
  console.log(`\nfailed, and run again alone: ${failed.join(', ')}\n`)
  const again = await run(failed, 1)
  const unsteady = failed.filter((file) => !again.failed.includes(file))
  if (unsteady.length > 0) console.log(`\nUNSTEADY, passed only the second time: ${unsteady.join(', ')}`)
  return again.code
}

async function run(these: string[], concurrency: number): Promise<{ code: number; failed: string[] }> {
  const list = join(notes, `${concurrency}`)
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./test/runner/failed-files.ts',
    `--test-reporter-destination=${list}`,
  ]
  const child = spawn(
    process.execPath,
    [
      '--import=./test/runner/hang-timeout.ts',
      '--test',
      `--test-concurrency=${concurrency}`,
      '--test-timeout=240000',
      ...reporters,
      ...these,
    ],
    {
      stdio: 'inherit',
      env: { ...process.env, TEST_POSTGRES_URL: cluster.url, ...(external ? { TEST_EXTERNAL: '1' } : {}) },
    },
  )
  const stop = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of STOPS) process.on(signal, stop)
  const hangUp = () => child.kill('SIGTERM')
  if (process.channel) process.on('disconnect', hangUp)
  const [status] = (await once(child, 'exit')) as [number | null]
  for (const signal of STOPS) process.off(signal, stop)
  process.off('disconnect', hangUp)
  const written = await readFile(list, 'utf8').catch(() => '')
  const failed = written.split('\n').filter(Boolean)
  return { code: status ?? 1, failed: status === null ? [] : failed.map((file) => relative('.', file)) }
}
