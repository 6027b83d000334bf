/**
 * Runs the previous version and this one together on one database, under load, as in a rolling upgrade: the previous version is under load
 * when the first process of this version applies the migrations. Each version has an `api` and a `worker` process. The previous version is
 * the commit in PREVIOUS_VERSION; by default, the one before the newest migration was added.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startExternalPostgres } from '../test/runner/external.ts'
import { startSmtp } from '../test/support/smtp.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'
import { ROOT, type ServerProcess, startServerProcess } from './support/server-process.ts'
import { checkLoad, type LoadRecord, openLoadDatabase, prepareLoad, startLoad } from './support/write-load.ts'

const WRITERS_PER_SERVER = 3
/** Numbers of the second load start here, so that its records differ from those of the first one. */
const SECOND_LOAD_NUMBER = 1_000_000

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const seconds = short ? 10 : 60
  const commit = await findPreviousVersion()
  await using opened = new AsyncDisposableStack()
  const folder = await checkOut(commit, opened)
  const added = newMigrations(folder)
  const postgres = await startExternalPostgres()
  opened.defer(() => postgres.stop())
  const smtp = await startSmtp()
  opened.defer(() => smtp.stop())
  const env = {
    DATABASE_URL: postgres.url,
    ADMIN_API_KEY: randomBytes(16).toString('hex'),
    MASTER_KEY: randomBytes(32).toString('base64'),
    DATABASE_POOL_SIZE: '10',
    SMTP_URL: smtp.url,
    MAIL_ORG_DAILY_CAP: '1000000',
  }
  const processes: ServerProcess[] = []
  opened.defer(async () => void (await Promise.all(processes.map((process) => process.stop()))))
  const start = async (options: { folder: string; roles: 'api' | 'worker' }) => {
    const process = await startServerProcess({ env, ...options })
    processes.push(process)
    return process
  }
  const previous = await start({ folder, roles: 'api' })
  await start({ folder, roles: 'worker' })
  const db = openLoadDatabase(postgres.url)
  opened.defer(() => db.close())
  const target = await prepareLoad(previous.url, env, db, folder)

  const previousLoad = startLoad([previous.url], target, WRITERS_PER_SERVER)
  await pause(2000)
  const current = await start({ folder: ROOT, roles: 'api' })
  await start({ folder: ROOT, roles: 'worker' })
  const currentLoad = startLoad([current.url], target, WRITERS_PER_SERVER, SECOND_LOAD_NUMBER)
  await pause(seconds * 1000)
  const records = await Promise.all([previousLoad.stop(), currentLoad.stop()])
  const record = merge(records)
  const { lost, duplicateMessages, duplicateEmails, duplicateRecords, emails, unsentEmails } = await checkLoad(
    db,
    record,
    smtp.received,
  )
  const duplicates = duplicateMessages + duplicateEmails + duplicateRecords
  if (record.failures.length > 0 || lost > 0 || duplicates > 0 || unsentEmails > 0)
    throw new Error(
      `${record.failures.length} errors, ${lost} acknowledged writes lost, ${duplicateMessages} duplicate messages, ${duplicateEmails} duplicate emails and ${duplicateRecords} duplicate records, ${unsentEmails} emails not sent. First errors: ${JSON.stringify(record.failures.slice(0, 5), null, 2)}`,
    )
  const written = ({ workflows, mandates, candidates, reviewers }: LoadRecord) =>
    workflows.length + mandates.length + candidates.length + reviewers.length
  return [
    { name: 'migrations applied under load', value: added.length, unit: '', note: `from ${commit.slice(0, 8)}` },
    { name: 'both versions under load', value: seconds, unit: 's' },
    { name: 'acknowledged writes, previous version', value: written(records[0]), unit: '', note: 'before and after' },
    { name: 'acknowledged writes, this version', value: written(records[1]), unit: '' },
    { name: 'reads of results and events', value: record.reads, unit: '' },
    { name: 'emails sent', value: emails, unit: '' },
    { name: 'errors', value: record.failures.length, unit: '' },
    { name: 'acknowledged writes lost', value: lost, unit: '' },
    { name: 'duplicate messages, emails and records', value: duplicates, unit: '' },
  ]
}

const git = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)('git', ['-C', ROOT, ...args])).stdout.trim()

/** Returns the commit of the previous version. Throws if the history of this clone does not contain it. */
async function findPreviousVersion(): Promise<string> {
  const named = process.env.PREVIOUS_VERSION
  const newest = readdirSync(join(ROOT, 'migrations')).sort().at(-1)!
  const [addedIn] = named
    ? []
    : (await git('log', '--format=%H', '--diff-filter=A', '--', `migrations/${newest}`)).split('\n')
  const revision = named ?? `${addedIn}^`
  try {
    return await git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`)
  } catch {
    throw new Error(
      `the history of this clone has no commit ${revision}: run \`git fetch --unshallow\`, or set PREVIOUS_VERSION to a commit that it has`,
    )
  }
}

/** Checks the commit out into a temporary folder, with the packages of this folder. */
async function checkOut(commit: string, opened: AsyncDisposableStack): Promise<string> {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'attestry-previous-')))
  const folder = join(parent, 'attestry')
  await git('worktree', 'add', '--detach', folder, commit)
  opened.defer(async () => {
    await git('worktree', 'remove', '--force', folder)
    rmSync(parent, { recursive: true, force: true })
  })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

function newMigrations(previousFolder: string): string[] {
  const previous = new Set(readdirSync(join(previousFolder, 'migrations')))
  return readdirSync(join(ROOT, 'migrations')).filter((name) => !previous.has(name))
}

function merge([first, second]: [LoadRecord, LoadRecord]): LoadRecord {
  return {
    workflows: [...first.workflows, ...second.workflows],
    mandates: [...first.mandates, ...second.mandates],
    candidates: [...first.candidates, ...second.candidates],
    reviewers: [...first.reviewers, ...second.reviewers],
    reads: first.reads + second.reads,
    failures: [...first.failures, ...second.failures],
    acknowledgedAt: new Map([...first.acknowledgedAt, ...second.acknowledgedAt]),
  }
}

if (import.meta.main) await runFromCommandLine('rolling-upgrade', runBenchmark)
