import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createLog } from '../server/platform/log.ts'
import { migrate, readMigrations } from '../server/platform/migrate.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/embedded.ts'
import { installQueue } from '../server/platform/queue.ts'

export const TEMPLATE = 'attestry_template'

export interface TestCluster {
  /** Of the maintenance database; every test file clones the template into one of its own. */
  url: string
  stop(): Promise<void>
}

/** A PostgreSQL of the tests' own, in a temporary folder. */
export async function startCluster(): Promise<TestCluster> {
  const dataDir = await mkdtemp(join(tmpdir(), 'attestry-test-'))
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'owner', log: () => {} })
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** A migrated database to clone: much quicker than migrating one for every test file. */
export async function prepareTemplate(url: string): Promise<void> {
  await administer(url, `drop database if exists ${TEMPLATE}`, `create database ${TEMPLATE}`)
  const pool = new pg.Pool({ connectionString: databaseUrl(url, TEMPLATE), max: 1 })
  try {
    await migrate(pool, await readMigrations())
  } finally {
    await pool.end()
  }
  await installQueue({ connectionString: databaseUrl(url, TEMPLATE) }, createLog('silent'))
}

export async function administer(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
