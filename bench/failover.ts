/**
 * Kills the primary of a synchronous pair of PostgreSQL servers while 2 `api` and 2 `worker` processes are under load. DATABASE_URL names
 * both servers. After each kill the standby is promoted, and a new standby is added.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { startSmtp } from '../test/support/smtp.ts'
import { until } from '../test/support/until.ts'
import { type BenchmarkOptions, type BenchmarkRow, median, runFromCommandLine } from './support/benchmark.ts'
import { PostgresPair } from './support/postgres-pair.ts'
import { type ServerProcess, startServerProcess } from './support/server-process.ts'
import { checkLoad, type LoadRecord, openLoadDatabase, prepareLoad, startLoad } from './support/write-load.ts'

const WRITERS_PER_SERVER = 3
const MAX_OUTAGE_MS = 15_000

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  await using opened = new AsyncDisposableStack()
  const pair = await PostgresPair.start()
  opened.defer(() => pair.stop())
  const smtp = await startSmtp()
  opened.defer(() => smtp.stop())
  const env = {
    DATABASE_URL: pair.url,
    ADMIN_API_KEY: randomBytes(16).toString('hex'),
    MASTER_KEY: randomBytes(32).toString('base64'),
    DATABASE_POOL_SIZE: '10',
    SMTP_URL: smtp.url,
    MAIL_ORG_DAILY_CAP: '1000000',
  }
  const processes: ServerProcess[] = []
  opened.defer(async () => void (await Promise.all(processes.map((process) => process.stop()))))
  // The first process creates the tables.
  processes.push(await startServerProcess({ env, roles: 'api' }))
  const others = (['api', 'worker', 'worker'] as const).map((roles) => startServerProcess({ env, roles }))
  processes.push(...(await Promise.all(others)))
  const urls = processes.slice(0, 2).map(({ url }) => url)
  const db = openLoadDatabase(pair.url)
  opened.defer(() => db.close())
  const target = await prepareLoad(urls[0]!, env, db)

  const load = startLoad(urls, target, WRITERS_PER_SERVER)
  const outagesMs: number[] = []
  const emailOutagesMs: number[] = []
  for (let kill = 0; kill < (short ? 2 : 10); kill++) {
    await pause(2000)
    const killedAt = performance.now()
    await pair.failOver()
    outagesMs.push(await waitForWrites(load.record, killedAt))
    const emailCount = smtp.received.length
    await until(() => smtp.received.length > emailCount, 60_000)
    emailOutagesMs.push(performance.now() - killedAt)
    await pair.addStandby()
  }
  await pause(2000)
  const record = await load.stop()
  const { lost, duplicateMessages, duplicateEmails, duplicateRecords, emails, unsentEmails } = await checkLoad(
    db,
    record,
    smtp.received,
  )
  const duplicates = duplicateMessages + duplicateEmails + duplicateRecords
  const written = record.workflows.length + record.mandates.length + record.candidates.length
  const longestMs = Math.max(...outagesMs)
  if (lost > 0 || duplicates > 0 || longestMs > MAX_OUTAGE_MS)
    throw new Error(
      `${lost} acknowledged writes lost, ${duplicateMessages} duplicate messages, ${duplicateEmails} duplicate emails and ${duplicateRecords} duplicate records, longest outage ${Math.round(longestMs)} ms`,
    )
  return [
    { name: 'primaries killed', value: outagesMs.length, unit: '' },
    {
      name: 'acknowledged writes',
      value: written,
      unit: '',
      note: `${record.reviewers.length} reviews requested, ${emails} emails, ${record.reads} reads`,
    },
    { name: 'acknowledged writes lost', value: lost, unit: '' },
    { name: 'duplicate messages, emails and records', value: duplicates, unit: '' },
    { name: 'acknowledged reviews without an email', value: unsentEmails, unit: '' },
    { name: 'failed requests during the outages', value: record.failures.length, unit: '', note: 'repeated' },
    { name: 'from the kill until both servers acknowledge writes, median', value: median(outagesMs) / 1000, unit: 's' },
    { name: 'the same, longest', value: longestMs / 1000, unit: 's' },
    {
      name: 'from the kill until a worker sends an email, longest',
      value: Math.max(...emailOutagesMs) / 1000,
      unit: 's',
    },
  ]
}

/** Returns the time from the kill until all servers have acknowledged a write that began after the promotion of the standby. */
async function waitForWrites({ acknowledgedAt }: LoadRecord, killedAt: number): Promise<number> {
  const promotedAt = performance.now()
  const firstAfter = (times: number[]) => times.find((time) => time > promotedAt)
  await until(() => [...acknowledgedAt.values()].every((times) => firstAfter(times) !== undefined), 60_000)
  return Math.max(...[...acknowledgedAt.values()].map((times) => firstAfter(times)!)) - killedAt
}

if (import.meta.main) await runFromCommandLine('failover', runBenchmark)
