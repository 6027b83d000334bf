/** Measures what statements and transactions cost through PgBouncer in transaction mode, compared with a direct connection. */
import type { Database } from '../server/platform/database/database.ts'
import { openDatabase } from '../server/platform/database/database.ts'
import { runWithScope } from '../server/platform/database/tenant-scope.ts'
import { isPgBouncerAvailable, pooledUrl, startPgBouncer } from '../test/runner/pooler.ts'
import { getPostgresUrl } from '../test/support/app.ts'
import { withTestApp } from './support/app.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  BenchmarkSkipped,
  runFromCommandLine,
  SKIP_REASONS_ALLOWED_IN_CI,
} from './support/benchmark.ts'

interface Target {
  orgId: string
  workflowId: string
}

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  if (!isPgBouncerAvailable()) throw new BenchmarkSkipped(SKIP_REASONS_ALLOWED_IN_CI.pgbouncer)
  const blocks = short ? 5 : 300
  return withTestApp(async ({ context, fixtures }, t) => {
    const targets: Target[] = []
    for (const name of ['Acme Staffing', 'Metro Staffing']) {
      const { orgId } = await fixtures.createOrg(name)
      const { workflow_id } = await fixtures.createWorkflow({ orgId, mode: 'live' })
      targets.push({ orgId, workflowId: workflow_id })
    }
    const pooler = await startPgBouncer(getPostgresUrl())
    t.after(() => pooler.stop())
    const url = context.config.databaseUrl!
    const connection = { connectionString: url }
    const options = { connection, name: 'bench', maxConnections: 1, onError: () => {} }
    const direct = openDatabase(options)
    const pooled = openDatabase({ ...options, pooledConnection: { connectionString: pooledUrl(url, pooler.url) } })
    const rows: BenchmarkRow[] = []
    for (const [name, run] of [
      ['read a row by its ID', (db: Database) => readRow(db, targets[0]!)],
      ['the same, two organisations alternating', (db: Database, n: number) => readRow(db, targets[n % 2]!)],
      ['read a row in a transaction', (db: Database) => readInTransaction(db, targets[0]!)],
    ] as const) {
      // The blocks alternate, so that another program on the machine slows both down.
      const best = { direct: Number.POSITIVE_INFINITY, pooled: Number.POSITIVE_INFINITY }
      for (let block = 0; block < blocks; block++) {
        best.direct = Math.min(best.direct, await microseconds((n) => run(direct, n)))
        best.pooled = Math.min(best.pooled, await microseconds((n) => run(pooled, n)))
      }
      rows.push({ name: `${name}, direct`, value: best.direct, unit: 'µs', note: `fastest of ${blocks} blocks` })
      rows.push({ name: `${name}, PgBouncer`, value: best.pooled, unit: 'µs' })
    }
    await Promise.all([direct.close(), pooled.close()])
    return rows
  })
}

/** Few calls, so that at least one block is not interrupted by other programs. */
const CALLS_PER_BLOCK = 20

async function microseconds(run: (number: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  for (let number = 0; number < CALLS_PER_BLOCK; number++) await run(number)
  return ((performance.now() - startedAt) * 1000) / CALLS_PER_BLOCK
}

function readRow({ queries }: Database, { orgId, workflowId }: Target) {
  return runWithScope({ scope: { orgId, mode: 'live' } }, () =>
    queries.selectFrom('workflows').selectAll().where('workflow_id', '=', workflowId).executeTakeFirstOrThrow(),
  )
}

function readInTransaction(db: Database, { orgId, workflowId }: Target) {
  return runWithScope({ scope: { orgId, mode: 'live' } }, () =>
    db.transaction((tx) =>
      tx.selectFrom('workflows').selectAll().where('workflow_id', '=', workflowId).executeTakeFirstOrThrow(),
    ),
  )
}

if (import.meta.main) await runFromCommandLine('pooler', runBenchmark)
