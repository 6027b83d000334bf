import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import {
  createBackup,
  newBackupName,
  openBackup,
  openDestination,
  pruneBackups,
  requireBackupKey,
} from '../../server/backup/backups.ts'
import { backupTime } from '../../server/backup/destination.ts'
import { mergeErasureLists } from '../../server/backup/erasure-lists.ts'
import { readConfig } from '../../server/config.ts'
import { listErasures } from '../../server/people/erasures.ts'
import { readAllowedSecrets } from '../backup-secrets.ts'
import { examples } from '../examples.ts'
import { print, table } from '../print.ts'
import { rehearseRestore } from '../restore-rehearsal.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface BackupOptions {
  to?: string
  includeMasterKey?: boolean
}

export function backupCommand(): Command {
  const backup = new Command('backup')
    .description(
      'Back up the database while the server runs: consistent, and encrypted with BACKUP_KEY. Old backups are removed by BACKUP_KEEP_COUNT and BACKUP_KEEP_DAYS',
    )
    .option('--to <address>', 'a folder, a new file, or s3://BUCKET/PREFIX (default: BACKUP_TO)')
    .option(
      '--include-master-key',
      'store the master key and the admin key in the backup too; anyone with BACKUP_KEY can then read every secret',
    )
    .addHelpText(
      ...examples('backup', 'backup --to /mnt/backups', 'backup --to s3://acme-backups/attestry', 'backup list'),
    )
    .action(runBackup)
  backup
    .command('list')
    .description('List the backups in BACKUP_TO')
    .option('--to <address>', 'another folder, or s3://BUCKET/PREFIX')
    .addHelpText(...examples('backup list'))
    .action(listBackups)
  backup
    .command('verify')
    .description(
      'Rehearse a restore: restore a backup into a temporary database, compare the rows of every table, decrypt every secret, and check the credits',
    )
    .argument('<backup>', 'path of a backup, or s3://BUCKET/PREFIX/NAME')
    .option('--database-url <url>', 'an empty database for the rehearsal (default: a temporary embedded one)')
    .addHelpText(...examples('backup verify /mnt/backups/attestry-20260131T023000Z-0a1b2c.attestry-backup'))
    .action(verifyBackup)
  return backup
}

async function runBackup(options: BackupOptions, command: Command): Promise<void> {
  const created = await withStore(async ({ config, connection, db, clock }) => {
    const key = requireBackupKey(config.backup)
    const name = newBackupName(clock.now())
    const isFile = options.to !== undefined && !options.to.startsWith('s3://') && !isFolder(options.to)
    const target = isFile
      ? openBackup(config.backup, options.to!)
      : { destination: openDestination(config.backup, options.to), name }
    const secrets = options.includeMasterKey ? await readAllowedSecrets(config) : undefined
    const backup = await createBackup({ connection, key, secrets, ...target })
    await db.transaction((tx) =>
      recordCliChange(tx, clock, {
        action: 'backup.create',
        subject: backup.name,
        details: { location: backup.location, includes_master_key: secrets !== undefined },
      }),
    )
    if (!isFile) await mergeErasureLists(target.destination, key, await listErasures(db.queries), clock.now())
    const removed = isFile ? [] : await pruneBackups(target.destination, config.backup, clock.now())
    return { ...backup, removed }
  })
  const { name, location, bytes, manifest, removed } = created
  const includesMasterKey = manifest.secrets !== undefined
  print(
    command,
    { name, location, bytes, taken_at: manifest.takenAt, includes_master_key: includesMasterKey, removed },
    () =>
      [
        `Backed up to ${location}: ${name}, ${(bytes / 1024 ** 2).toFixed(1)} MB, as of ${manifest.takenAt}.`,
        ...(removed.length > 0 ? [`Removed ${removed.length} old backup${removed.length === 1 ? '' : 's'}.`] : []),
        includesMasterKey
          ? 'The backup contains the master key: keep BACKUP_KEY elsewhere.'
          : 'The master key is not in the backup. Without it, the secrets in the backup cannot be read; keep a copy elsewhere.',
      ].join('\n'),
  )
}

function isFolder(path: string): boolean {
  return path.endsWith('/') || (existsSync(path) && statSync(path).isDirectory())
}

async function listBackups(_options: object, command: Command): Promise<void> {
  const { to } = command.optsWithGlobals<{ to?: string }>() // the parent command "backup" has the same option and parses it
  const { backup } = readConfig(process.env)
  const destination = openDestination(backup, to)
  console.error(`Backups: ${destination.location}`)
  const rows = (await destination.list()).map(({ name, bytes }) => ({
    name,
    bytes,
    started_at: backupTime(name)!.toISOString(),
  }))
  print(command, rows, () =>
    table(
      ['NAME', 'STARTED', 'BYTES'],
      rows.map(({ name, started_at, bytes }) => [name, started_at, bytes]),
      `No backups in ${destination.location}.`,
    ),
  )
}

async function verifyBackup(address: string, options: { databaseUrl?: string }, command: Command): Promise<void> {
  const report = await rehearseRestore(readConfig(process.env), address, options.databaseUrl)
  print(command, report, () =>
    [
      `Restored ${report.rows.toLocaleString('en-US')} rows of ${report.tables} tables as of ${report.taken_at} (PostgreSQL ${report.postgres_version}, Attestry ${report.attestry_version}).`,
      report.secrets === null
        ? 'Secrets: not checked, because the master key of the backup is not configured here.'
        : `Secrets: ${report.secrets.toLocaleString('en-US')} decrypted.`,
      ...report.failures.map((line) => `✗ ${line}`),
      report.failures.length === 0
        ? `The backup ${resolveAddress(address)} can be restored.`
        : `The backup ${resolveAddress(address)} has ${report.failures.length} error${report.failures.length === 1 ? '' : 's'}.`,
    ].join('\n'),
  )
  if (report.failures.length > 0) process.exitCode = 1
}

function resolveAddress(address: string): string {
  return address.startsWith('s3://') ? address : resolve(address)
}
