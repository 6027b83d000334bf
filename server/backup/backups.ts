import { randomBytes } from 'node:crypto'
import { basename, dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import type { ConnectionSettings } from '../platform/database/connection-settings.ts'
import { DatabaseClient } from '../platform/database/database-client.ts'
import type { Manifest } from './archive.ts'
import { BACKUP_SUFFIX, type BackupDestination, backupTime } from './destination.ts'
import { dumpDatabase } from './dump.ts'
import { encryptStream } from './encryption.ts'
import { openFolderDestination } from './folder-destination.ts'
import { openS3Destination } from './s3-destination.ts'

type BackupConfig = Config['backup']

/** Good compression for half the time of the default. */
const COMPRESSION_LEVEL = 4
const DAY_MS = 24 * 60 * 60 * 1000

export interface CreatedBackup {
  name: string
  location: string
  bytes: number
  manifest: Manifest
}

export function requireBackupKey({ key }: BackupConfig): Buffer {
  if (!key)
    throw new Error(
      'BACKUP_KEY is not set: backups are encrypted with it. Generate it once with "openssl rand -base64 32", and store a copy where the backups are not',
    )
  return key
}

/** Opens the place that BACKUP_TO, or another address in the same format, names. */
export function openDestination(config: BackupConfig, address = config.to): BackupDestination {
  if (!address)
    throw new Error(
      'BACKUP_TO is not set: set it to a folder or to s3://BUCKET/PREFIX, or name a file on the command line',
    )
  const s3 = /^s3:\/\/([^/]+)\/?(.*?)\/?$/.exec(address)
  if (!s3) return openFolderDestination(resolve(address))
  if (!config.s3)
    throw new Error('set BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY to use backups in S3 storage')
  return openS3Destination(s3[1]!, s3[2]!, config.s3)
}

/** Splits the address of one backup into its destination and its name. */
export function openBackup(config: BackupConfig, address: string): { destination: BackupDestination; name: string } {
  if (!address.startsWith('s3://')) {
    const path = resolve(address)
    return { destination: openFolderDestination(dirname(path)), name: basename(path) }
  }
  const end = address.lastIndexOf('/')
  return { destination: openDestination(config, address.slice(0, end)), name: address.slice(end + 1) }
}

export function newBackupName(now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  return `attestry-${time}-${randomBytes(3).toString('hex')}${BACKUP_SUFFIX}`
}

export interface CreateBackupOptions {
  connection: ConnectionSettings
  destination: BackupDestination
  name: string
  key: Buffer
  secrets?: Manifest['secrets'] | undefined
  signal?: AbortSignal
}

/** Makes a backup of a running database. It has every transaction that was committed before the call. */
export async function createBackup(options: CreateBackupOptions): Promise<CreatedBackup> {
  const { connection, destination, name, key, secrets, signal } = options
  const client = new DatabaseClient({ ...connection, application_name: 'attestry-backup' })
  await client.connect()
  let manifest: Manifest | undefined
  let bytes = 0
  try {
    await pipeline(
      dumpDatabase(client, {
        attestryVersion: packageJson.version,
        secrets,
        onSnapshot(taken) {
          manifest = taken
        },
      }),
      createGzip({ level: COMPRESSION_LEVEL }),
      (source: AsyncIterable<Buffer>) => encryptStream(source, key),
      async (source: AsyncIterable<Buffer>) => {
        bytes = await destination.write(name, source)
      },
      ...(signal ? [{ signal }] : []),
    )
  } finally {
    await client.end().catch(() => {})
  }
  return { name, location: destination.location, bytes, manifest: manifest! }
}

/** Removes backups beyond the configured number or age, never the newest one, and returns their names. */
export async function pruneBackups(
  destination: BackupDestination,
  { keepCount, keepDays }: Pick<BackupConfig, 'keepCount' | 'keepDays'>,
  now: number,
): Promise<string[]> {
  const newestFirst = (await destination.list()).map(({ name }) => name).reverse()
  const removed = newestFirst.filter(
    (name, index) =>
      index > 0 &&
      ((keepCount !== undefined && index >= keepCount) ||
        (keepDays !== undefined && now - backupTime(name)!.getTime() > keepDays * DAY_MS)),
  )
  for (const name of removed) await destination.remove(name)
  return removed
}
