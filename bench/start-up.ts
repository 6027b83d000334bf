import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../server/platform/postgres/embedded.ts'
import { type BenchmarkOptions, type BenchmarkRow, median, runFromCommandLine } from './support/benchmark.ts'
import { type BenchServer, createDeployment, residentMegabytes } from './support/deployment.ts'

interface Durations {
  /** Time after the start until the server is considered idle. */
  settleMs: number
  /** Time for which the idle server is observed. */
  observeMs: number
  restarts: number
}

const FULL: Durations = { settleMs: 30_000, observeMs: 30_000, restarts: 5 }
const SHORT: Durations = { settleMs: 500, observeMs: 500, restarts: 1 }

/** Measures the time from start until ready, on the first and on later starts, and the resources that an idle server uses. */
export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const durations = short ? SHORT : FULL
  const { settleMs, observeMs, restarts } = durations
  const deployment = createDeployment()
  try {
    const firstServer = await deployment.start()
    await pause(settleMs + observeMs)
    const megabytesAfterFirstStart = await residentMegabytes(firstServer.url)
    await firstServer.stop()
    const restartMs: number[] = []
    for (let restart = 1; restart < restarts; restart++) {
      const server = await deployment.start()
      restartMs.push(server.readyAfterMs)
      await server.stop()
    }
    const lastServer = await deployment.start()
    restartMs.push(lastServer.readyAfterMs)
    const idleTransactionRate = await measureIdleTransactions(deployment.dataDir, durations)
    const idleCpuPercent = await measureIdleCpu(lastServer, durations)
    const megabytesAfterLaterStart = await residentMegabytes(lastServer.url)
    await lastServer.stop()
    return [
      {
        name: 'first start until ready, packages installed',
        value: firstServer.readyAfterMs / 1000,
        unit: 's',
        note: 'target: under 90 including the installation',
      },
      {
        name: `later starts until ready, median of ${restarts}`,
        value: median(restartMs) / 1000,
        unit: 's',
        note: 'target: under 1 s',
        operation: 'Later start until ready',
      },
      {
        name: 'idle memory, a minute after the first start',
        value: megabytesAfterFirstStart,
        unit: 'MB RSS',
        note: 'target: under 110 MB',
      },
      {
        name: 'idle memory, a minute after a later start',
        value: megabytesAfterLaterStart,
        unit: 'MB RSS',
        note: 'target: under 110 MB',
        operation: 'Idle memory',
      },
      { name: 'database transactions of an idle server', value: idleTransactionRate, unit: 'per second' },
      { name: 'idle CPU, server without the database', value: idleCpuPercent, unit: '% of a core' },
    ]
  } finally {
    deployment.remove()
  }
}

/** Returns the database transactions of the idle server per second. */
async function measureIdleTransactions(dataDir: string, { settleMs, observeMs }: Durations): Promise<number> {
  await pause(settleMs)
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'command', log: () => {} })
  const client = new pg.Client(postgres.connection)
  await client.connect()
  const countTransactions = async () => {
    const { rows } = await client.query(
      'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
    )
    return Number(rows[0].count)
  }
  const countBefore = await countTransactions()
  await pause(observeMs)
  const countAfter = await countTransactions()
  await client.end()
  await postgres.stop()
  // Excludes the transaction of the first count.
  return ((countAfter - countBefore - 1) * 1000) / observeMs
}

/** Returns the CPU time of the idle server as a percentage of one core. */
async function measureIdleCpu({ url }: BenchServer, { observeMs }: Durations): Promise<number> {
  const getCpuSeconds = async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    return Number(/^process_cpu_seconds_total (\S+)/m.exec(metrics)![1])
  }
  const secondsBefore = await getCpuSeconds()
  await pause(observeMs)
  return (((await getCpuSeconds()) - secondsBefore) / observeMs) * 1000 * 100
}

if (import.meta.main) await runFromCommandLine('start-up', runBenchmark)
