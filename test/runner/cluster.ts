import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { loadBuiltIn } from '../../server/catalogue/built-in.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { migrate, readMigrations } from '../../server/platform/database/migrate.ts'
import { installQueue } from '../../server/platform/jobs/queue.ts'
import { createLog } from '../../server/platform/log.ts'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'

export const TEMPLATE = 'attestry_template'

const INSUFFICIENT_PRIVILEGE = '42501'

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

/** A migrated database with the built-in catalogue, to clone: much quicker than migrating one for every test file. */
export async function prepareTemplate(url: string): Promise<void> {
  await administer(url, `drop database if exists ${TEMPLATE}`, `create database ${TEMPLATE}`)
  const connection = { connectionString: databaseUrl(url, TEMPLATE) }
  const log = createLog('silent')
  const db = openDatabase({ connection, name: 'template', onError: () => {} })
  try {
    await migrate(db.pool, await readMigrations())
    await loadBuiltIn(db, systemClock, log)
  } finally {
    await db.close()
  }
  await installQueue(connection, log)
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

/** A database with whoever is still in it. An autovacuum worker in it may be ended by a superuser alone: we wait for it. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await administer(url, `drop database if exists ${name} with (force)`)
    } catch (error) {
      if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE || tries === 100) throw error
      await pause(200)
    }
  }
}
