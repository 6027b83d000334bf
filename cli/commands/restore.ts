import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { type Manifest, readArchive, readManifest } from '../../server/backup/archive.ts'
import { openBackup, openDestination, requireBackupKey } from '../../server/backup/backups.ts'
import type { BackupDestination } from '../../server/backup/destination.ts'
import { readErasureLists } from '../../server/backup/erasure-lists.ts'
import { holdWork } from '../../server/backup/held-work.ts'
import { migrationsOf, requireEmptyDatabase, restoreDatabase } from '../../server/backup/restore.ts'
import { type Config, readConfig } from '../../server/config.ts'
import { createRestoredErasures, type Erasure, queueRestoredErasures } from '../../server/people/erasures.ts'
import { type ConnectionSettings, connectionSettings } from '../../server/platform/database/connection-settings.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { readMigrations } from '../../server/platform/database/migrate.ts'
import { createPrivateFile } from '../../server/platform/local-secrets.ts'
import { createLog } from '../../server/platform/log.ts'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import { findMasterKey } from '../backup-secrets.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { describeDatabase, nameDatabase, withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function restoreCommand(): Command {
  return new Command('restore')
    .description(
      'Restore a backup into an empty database: that of DATABASE_URL, or an embedded one in an empty DATA_DIR. The service is then off until you run "attestry service on"',
    )
    .argument('<backup>', 'path of a backup, or s3://BUCKET/PREFIX/NAME')
    .option(
      '--no-hold',
      'leave the service on, and send the messages that were waiting: only if the server was stopped before the backup was made, to move it',
    )
    .addHelpText(
      ...examples(
        'restore /mnt/backups/attestry-20260131T023000Z-0a1b2c.attestry-backup',
        'restore s3://acme-backups/attestry/attestry-20260131T023000Z-0a1b2c.attestry-backup --no-hold',
      ),
    )
    .action(runRestore)
}

interface RestoreSummary {
  tables: number
  rows: number
  withheldEmails: number
  withheldMessages: number
}

async function runRestore(address: string, { hold }: { hold: boolean }, command: Command): Promise<void> {
  const config = readConfig(process.env)
  nameDatabase(config)
  const key = requireBackupKey(config.backup)
  const { destination, name } = openBackup(config.backup, address)
  const records = readArchive(destination.read(name), key)
  await using opened = new AsyncDisposableStack()
  opened.defer(() => void records.return(undefined))
  const manifest = await readManifest(records)
  const migrations = await readMigrations()
  migrationsOf(manifest, migrations) // throws if this version cannot restore the backup
  const masterKey = await findMasterKey(config, manifest)
  if (!masterKey)
    throw new Error(
      `the master key of the backup is not known, so its secrets could not be read: ${config.databaseUrl ? 'set MASTER_KEY to it' : `set MASTER_KEY to it, or copy the file master-key of the old DATA_DIR to ${config.dataDir}`}`,
    )
  const summary: RestoreSummary = { tables: 0, rows: 0, withheldEmails: 0, withheldMessages: 0 }
  const { erasures, warnings } = await findErasures(config, destination, key, hold)
  await restoreInto()
  // Opening the store applies later migrations and grants rights. It also decrypts the data key, and erases people again.
  const erasedPeople = await withStore(({ db, clock, erasedAgain }) =>
    db.transaction(async (tx) => {
      await recordCliChange(tx, clock, {
        action: 'backup.restore',
        subject: name,
        details: { taken_at: manifest.takenAt, held: hold, erased_people: erasedAgain },
      })
      return erasedAgain
    }),
  )
  const { tables, rows, withheldEmails, withheldMessages } = summary
  print(
    command,
    {
      name,
      taken_at: manifest.takenAt,
      tables,
      rows,
      held: hold,
      withheld_emails: withheldEmails,
      withheld_messages: withheldMessages,
      erased_people: erasedPeople,
      warnings,
    },
    () =>
      [
        `Restored ${rows.toLocaleString('en-US')} rows of ${tables} tables as of ${manifest.takenAt} into ${describeDatabase(config)}.`,
        ...(hold
          ? [
              `${withheldEmails} emails and ${withheldMessages} messages to candidates were waiting to be sent. They may have been sent after the backup was made, so they are not sent again.`,
              'The service is off for all organisations: nobody is contacted and no webhook is called. Start the server, check it, and run "attestry service on".',
            ]
          : []),
        `${erasedPeople} ${erasedPeople === 1 ? 'person was' : 'people were'} erased again, because they were erased after the backup was made.`,
        ...warnings.map((text) => `Warning: ${text}`),
      ].join('\n'),
  )

  async function restoreInto(): Promise<void> {
    const log = createLog('warn', { write: (line) => process.stderr.write(line) })
    await using openedDatabase = new AsyncDisposableStack()
    const onInterrupt = () => void openedDatabase.disposeAsync().finally(() => process.exit(130))
    process.once('SIGINT', onInterrupt)
    openedDatabase.defer(() => void process.off('SIGINT', onInterrupt))
    if (!config.databaseUrl) await writeSecrets(config, manifest, masterKey!)
    const connection: ConnectionSettings = config.databaseUrl
      ? connectionSettings(config.databaseOwnerUrl ?? config.databaseDirectUrl ?? config.databaseUrl)
      : await startEmbedded(openedDatabase)
    const owner = openDatabase({ connection, name: `attestry restore ${process.pid}`, onError: () => {} })
    openedDatabase.defer(() => owner.close())
    await requireEmptyDatabase(owner, describeDatabase(config))
    await restoreDatabase({
      manifest,
      records,
      owner,
      connection,
      migrations,
      log,
      onTable(table, digest) {
        summary.tables++
        summary.rows += digest.rows
        if (digest.rows > 100_000) console.error(`Restored ${table.name}: ${digest.rows} rows`)
      },
      async beforeCommit(client) {
        await createRestoredErasures(client)
        await queueRestoredErasures(client, erasures)
        if (!hold) return
        const withheld = await holdWork(client, `restored from ${name}`)
        summary.withheldEmails = withheld.emails
        summary.withheldMessages = withheld.messages
      },
    })

    async function startEmbedded(stack: AsyncDisposableStack): Promise<ConnectionSettings> {
      const postgres = await startEmbeddedPostgres({
        dataDir: config.dataDir,
        role: 'command',
        log: ({ level, message, ...rest }) => log[level](rest, message),
        progress: (text) => console.error(text),
      })
      stack.defer(() => postgres.stop())
      return postgres.connection
    }
  }
}

/** Reads the erasures that were made after the backup: from the lists next to it, and from those at BACKUP_TO. */
async function findErasures(
  { backup }: Config,
  nextToBackup: BackupDestination,
  key: Buffer,
  hold: boolean,
): Promise<{ erasures: Erasure[]; warnings: string[] }> {
  const places = [nextToBackup]
  if (backup.to) {
    const configured = openDestination(backup)
    if (configured.location !== nextToBackup.location) places.push(configured)
  }
  const erasures = new Map<string, Erasure>()
  const warnings: string[] = []
  let listCount = 0
  for (const place of places) {
    const lists = await readErasureLists(place, key)
    listCount += lists.names.length
    for (const erasure of lists.erasures) erasures.set(erasure.person_id, erasure)
    for (const name of lists.unreadable)
      warnings.push(
        `the list of erasures ${name} in ${place.location} is damaged or was encrypted with another BACKUP_KEY, and was not applied.`,
      )
  }
  // Without the hold, the server was stopped before the backup, so that nobody was erased after it.
  if (listCount === 0 && hold)
    warnings.push(
      `no list of erasures was found in ${places.map(({ location }) => location).join(' or ')}. People who were erased after the backup was made are readable again: run "attestry privacy apply-erasures" with a list of them before you use the server.`,
    )
  return { erasures: [...erasures.values()], warnings }
}

/** Writes the master key of the backup to DATA_DIR, unless it is there or in the environment. */
async function writeSecrets({ dataDir, masterKey: configured }: Config, manifest: Manifest, masterKey: Buffer) {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  if (!configured && !existsSync(join(dataDir, 'master-key')))
    await createPrivateFile(join(dataDir, 'master-key'), masterKey.toString('base64'))
  if (manifest.secrets) await createPrivateFile(join(dataDir, 'admin-api-key'), manifest.secrets.adminKey)
}
