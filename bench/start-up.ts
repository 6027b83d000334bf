import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../server/platform/postgres/embedded.ts'
import { type BenchServer, makeDeployment, residentMegabytes } from './support/deployment.ts'
import { printRows, type Row } from './support/rows.ts'

/** Milliseconds after the start at which a server that nobody calls is looked at, and for how long. */
const SETTLED = 30_000
const WATCHED = 30_000

/** From nothing, and again: time until /readyz answers, and what the server holds and does when nobody calls. */
export async function run(): Promise<Row[]> {
  const deployment = makeDeployment()
  try {
    const first = await deployment.start()
    await pause(SETTLED + WATCHED)
    const firstMemory = await residentMegabytes(first.url)
    await first.stop()
    const again: number[] = []
    for (let round = 0; round < 4; round++) {
      const server = await deployment.start()
      again.push(server.readyAfter)
      await server.stop()
    }
    const last = await deployment.start()
    again.push(last.readyAfter)
    again.sort((a, b) => a - b)
    const transactions = await transactionsAtRest(deployment.dataDir)
    const cpu = await cpuAtRest(last)
    const laterMemory = await residentMegabytes(last.url)
    await last.stop()
    return [
      {
        name: 'first start until ready, packages installed',
        value: first.readyAfter / 1000,
        unit: 's',
        note: 'aim: under 90 with the installation',
      },
      { name: 'later starts until ready, median of 5', value: again[2]! / 1000, unit: 's', note: 'aim: under 3' },
      {
        name: 'memory at rest, a minute after the first start',
        value: firstMemory,
        unit: 'MB RSS',
        note: 'aim: under 150',
      },
      {
        name: 'memory at rest, a minute after a later start',
        value: laterMemory,
        unit: 'MB RSS',
        note: 'aim: under 150',
      },
      { name: 'transactions at rest', value: transactions, unit: 'a second' },
      { name: 'processor at rest, server without the database', value: cpu, unit: '% of a core' },
    ]
  } finally {
    deployment.remove()
  }
}

async function transactionsAtRest(dataDir: string): Promise<number> {
  await pause(SETTLED)
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'guest', log: () => {} })
  const client = new pg.Client(postgres.connection)
  await client.connect()
  const count = async () => {
    const { rows } = await client.query(
      'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
    )
    return Number(rows[0].count)
  }
  const before = await count()
  await pause(WATCHED)
  const after = await count()
  await client.end()
  await postgres.stop()
  return ((after - before - 1) * 1000) / WATCHED
}

async function cpuAtRest({ url }: BenchServer): Promise<number> {
  const seconds = async () => {
    const figures = await (await fetch(`${url}/metrics`)).text()
    return Number(/^process_cpu_seconds_total (\S+)/m.exec(figures)![1])
  }
  const before = await seconds()
  await pause(WATCHED)
  return (((await seconds()) - before) / WATCHED) * 1000 * 100
}

if (import.meta.main) printRows('start-up', await run())
