import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArchive, readManifest } from '../server/backup/archive.ts'
import { openBackup, requireBackupKey } from '../server/backup/backups.ts'
import { requireEmptyDatabase, restoreDatabase } from '../server/backup/restore.ts'
import { checkCreditSums, checkSecrets, compareTables, type ExpectedTable } from '../server/backup/verification.ts'
import type { Config } from '../server/config.ts'
import { systemClock } from '../server/platform/clock.ts'
import { type ConnectionSettings, connectionSettings } from '../server/platform/database/connection-settings.ts'
import { openDatabase } from '../server/platform/database/database.ts'
import { readMigrations } from '../server/platform/database/migrate.ts'
import { createLog } from '../server/platform/log.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/embedded.ts'
import { openVault } from '../server/platform/vault.ts'
import { sealedColumns } from '../server/sealed-columns.ts'
import { findMasterKey } from './backup-secrets.ts'

export interface RehearsalReport {
  taken_at: string
  attestry_version: string
  postgres_version: string
  tables: number
  rows: number
  /** Number of secrets that were decrypted; null if the master key is not known. */
  secrets: number | null
  failures: string[]
}

/** Restores a backup into a temporary database, which is deleted afterwards, and checks it. */
export async function rehearseRestore(config: Config, address: string, databaseUrl?: string): Promise<RehearsalReport> {
  const key = requireBackupKey(config.backup)
  const { destination, name } = openBackup(config.backup, address)
  const records = readArchive(destination.read(name), key)
  await using opened = new AsyncDisposableStack()
  opened.defer(() => void records.return(undefined))
  const manifest = await readManifest(records) // fails before a database is created
  const log = createLog('warn', { write: (line) => process.stderr.write(line) })
  const connection: ConnectionSettings = databaseUrl ? connectionSettings(databaseUrl) : await startScratchDatabase()
  const owner = openDatabase({ connection, name: 'attestry rehearsal', onError: () => {} })
  opened.defer(() => owner.close())
  await requireEmptyDatabase(owner, 'of the rehearsal')
  const expected: ExpectedTable[] = []
  await restoreDatabase({
    manifest,
    records,
    owner,
    connection,
    migrations: await readMigrations(),
    log,
    onTable: (table, digest) => void expected.push({ table, digest }),
  })
  const masterKey = await findMasterKey(config, manifest)
  const failures = [...(await compareTables(owner, expected)), ...(await checkCreditSums(owner))]
  let secrets: number | null = null
  if (masterKey) {
    const vault = await openVault(owner, async () => masterKey, systemClock)
    const result = await checkSecrets(owner, vault, sealedColumns)
    secrets = result.secrets
    failures.push(...result.failures)
  }
  return {
    taken_at: manifest.takenAt,
    attestry_version: manifest.attestryVersion,
    postgres_version: manifest.postgresVersion,
    tables: expected.length,
    rows: expected.reduce((total, { digest }) => total + digest.rows, 0),
    secrets,
    failures,
  }

  async function startScratchDatabase(): Promise<ConnectionSettings> {
    const folder = await mkdtemp(join(tmpdir(), 'attestry-rehearsal-'))
    opened.defer(() => rm(folder, { recursive: true, force: true }))
    const postgres = await startEmbeddedPostgres({
      dataDir: folder,
      role: 'command',
      log: ({ level, message, ...rest }) => log[level](rest, message),
    })
    opened.defer(() => postgres.stop())
    return postgres.connection
  }
}
