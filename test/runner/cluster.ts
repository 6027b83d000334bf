import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { loadBuiltInCatalogue } from '../../server/catalogue/built-in.ts'
import { ensurePartitions } from '../../server/events/partitions.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { migrate, readMigrations } from '../../server/platform/database/migrate.ts'
import { grantRowAccess } from '../../server/platform/database/row-access.ts'
import { installQueue } from '../../server/platform/jobs/queue.ts'
import { createLog } from '../../server/platform/log.ts'
import { serverPassword, serverRole, superuser } from '../../server/platform/postgres/cluster.ts'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import { TestClock } from '../support/clock.ts'

export const TEMPLATE_DATABASE = 'attestry_template'

const INSUFFICIENT_PRIVILEGE = '42501'
/** The file system of Linux that keeps files in memory. */
const MEMORY_FOLDER = '/dev/shm'
/** The files of a test run need less than 1 GiB; the rest is a reserve for the programs that run at the same time. */
const MIN_FREE_MEMORY_BYTES = 4 * 1024 ** 3

export interface TestCluster {
  /** URL of the maintenance database. Every test clones the template database. */
  url: string
  stop(): Promise<void>
}

/** Starts an embedded PostgreSQL in a temporary folder: on a disk, or with `inMemory` in memory if there is enough. */
export async function startCluster({ inMemory = false } = {}): Promise<TestCluster> {
  const dataDir = await mkdtemp(join(inMemory ? await chooseDataFolder() : tmpdir(), 'attestry-test-'))
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'server', log: () => {} })
  await skipDiskWrites(postgres.url)
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Returns a folder in memory for the files of a database, or the temporary folder if there is too little memory. A database has 1,250 files:
 * in memory, cloning it takes a tenth of the CPU time.
 */
export async function chooseDataFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY_FOLDER).catch(() => ({ bavail: 0, bsize: 0 }))
  const freeBytes = Math.min(bavail * bsize, process.availableMemory())
  return freeBytes >= MIN_FREE_MEMORY_BYTES ? MEMORY_FOLDER : tmpdir()
}

/**
 * Lets the operating system decide when data are written to disk, which makes tests faster. What a killed process has committed is kept;
 * only a crash of the machine would lose it. Tests of the embedded database start their own, which writes to disk.
 */
async function skipDiskWrites(url: string): Promise<void> {
  await runStatements(
    url,
    'alter system set fsync = off',
    'alter system set full_page_writes = off',
    'select pg_reload_conf()',
  )
}

export function databaseUrl(clusterUrl: string, database: string): string {
  const newUrl = new URL(clusterUrl)
  newUrl.pathname = `/${database}`
  return newUrl.href
}

/** Creates a migrated database with the built-in catalogue. Cloning it is much faster than migrating one for every test. */
export async function prepareTemplate(url: string): Promise<void> {
  await runStatements(url, `drop database if exists ${TEMPLATE_DATABASE}`, `create database ${TEMPLATE_DATABASE}`)
  const connection = { connectionString: databaseUrl(url, TEMPLATE_DATABASE) }
  const log = createLog('silent')
  const db = openDatabase({ connection, name: 'template', onError: () => {} })
  try {
    await migrate(db.pool, await readMigrations())
    await loadBuiltInCatalogue(db, systemClock, log)
    await ensurePartitions(db, new TestClock()) // most tests start at this time
    await installQueue(connection, log)
    if (isEmbedded(url)) await grantRowAccess(db, serverRole)
  } finally {
    await db.close()
  }
}

/** Returns the URL with the role that serves requests. On an external PostgreSQL, one role does everything. */
export function serverUrl(url: string): string {
  if (!isEmbedded(url)) return url
  const newUrl = new URL(url)
  newUrl.username = serverRole
  newUrl.password = serverPassword(new URL(url).password)
  return newUrl.href
}

function isEmbedded(url: string): boolean {
  return new URL(url).username === superuser
}

export async function runStatements(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Drops a database and ends its sessions. Waits for autovacuum workers, because only a superuser may end them. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await runStatements(url, `drop database if exists ${name} with (force)`)
    } catch (error) {
      if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE || tries === 100) throw error
      await pause(200)
    }
  }
}
