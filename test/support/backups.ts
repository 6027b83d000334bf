import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseUrl, dropDatabase, runStatements, serverUrl } from '../runner/cluster.ts'
import { ADMIN_KEY, cloneDatabase, getPostgresUrl } from './app.ts'
import type { Cleanup } from './cleanup.ts'
import { runCommand } from './command.ts'

export const BACKUP_KEY = Buffer.alloc(32, 3).toString('base64')

/** A database for CLI commands: its environment, and a function that runs a command on it. */
export interface TestDatabase {
  env: Record<string, string>
  ownerUrl: string
  run(...args: string[]): ReturnType<typeof runCommand>
  json<T = any>(...args: string[]): Promise<T>
}

/** Creates a database without tables. */
export async function createEmptyDatabase(t: Cleanup, masterKey?: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await runStatements(getPostgresUrl(), `create database ${name}`)
  t.after(() => dropDatabase(getPostgresUrl(), name))
  const ownerUrl = databaseUrl(getPostgresUrl(), name)
  return testDatabase(serverUrl(ownerUrl), ownerUrl, masterKey)
}

/** Creates a migrated database with the built-in catalogue. */
export async function createMigratedDatabase(t: Cleanup): Promise<TestDatabase> {
  const { url, ownerUrl, drop } = await cloneDatabase()
  t.after(drop)
  return testDatabase(url, ownerUrl)
}

function testDatabase(url: string, ownerUrl: string, masterKey = randomBytes(32).toString('base64')): TestDatabase {
  const database: TestDatabase = {
    env: {
      DATABASE_URL: url,
      DATABASE_OWNER_URL: ownerUrl,
      ADMIN_API_KEY: ADMIN_KEY,
      MASTER_KEY: masterKey,
      BACKUP_KEY,
    },
    ownerUrl,
    run: (...args) => runCommand(args, { cwd: tmpdir(), env: database.env }),
    async json(...args) {
      const { code, stdout, stderr } = await database.run(...args, '--json')
      if (code !== 0) throw new Error(`attestry ${args.join(' ')}: ${stderr}`)
      return JSON.parse(stdout)
    },
  }
  return database
}

export async function createTemporaryFolder(t: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
