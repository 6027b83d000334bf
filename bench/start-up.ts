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

/** Measures the time from start until ready, on first and later starts, and the resources of an idle server. */
export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const durations = short ? SHORT : FULL
  const { settleMs, observeMs, restarts } = durations
  const deployment = createDeployment()
  try {
    const first = await deployment.start()
    await pause(settleMs + observeMs)
    const firstMemory = await residentMegabytes(first.url)
    await first.stop()
    const restartMs: number[] = []
    for (let restart = 1; restart < restarts; restart++) {
      const server = await deployment.start()
      restartMs.push(server.readyAfterMs)
      await server.stop()
    }
    const last = await deployment.start()
    restartMs.push(last.readyAfterMs)
    const transactions = await idleTransactions(deployment.dataDir, durations)
    const cpu = await idleCpu(last, durations)
    const laterMemory = await residentMegabytes(last.url)
    await last.stop()
    return [
      {
        name: 'first start until ready, packages installed',
        value: first.readyAfterMs / 1000,
        unit: 's',
        note: 'target: under 90 including the installation',
      },
      {
        name: `later starts until ready, median of ${restarts}`,
        value: median(restartMs) / 1000,
        unit: 's',
        note: 'target: under 3',
      },
      {
        name: 'idle memory, a minute after the first start',
        value: firstMemory,
        unit: 'MB RSS',
        note: 'target: under 150',
      },
      {
        name: 'idle memory, a minute after a later start',
        value: laterMemory,
        unit: 'MB RSS',
        note: 'target: under 150',
      },
      { name: 'idle transactions', value: transactions, unit: 'per second' },
      { name: 'idle CPU, server without the database', value: cpu, unit: '% of a core' },
    ]
  } finally {
    deployment.remove()
  }
}

async function idleTransactions(dataDir: string, { settleMs, observeMs }: Durations): Promise<number> {
  await pause(settleMs)
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'command', log: () => {} })
  const client = new pg.Client(postgres.connection)
  await client.connect()
  const count = async () => {
    const { rows } = await client.query(
      'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
    )
    return Number(rows[0].count)
  }
  const before = await count()
  await pause(observeMs)
  const after = await count()
  await client.end()
  await postgres.stop()
  // Without the transaction of the first count.
  return ((after - before - 1) * 1000) / observeMs
}

async function idleCpu({ url }: BenchServer, { observeMs }: Durations): Promise<number> {
  const cpuSeconds = async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    return Number(/^process_cpu_seconds_total (\S+)/m.exec(metrics)![1])
  }
  const before = await cpuSeconds()
  await pause(observeMs)
  return (((await cpuSeconds()) - before) / observeMs) * 1000 * 100
}

if (import.meta.main) await runFromCommandLine('start-up', run)
