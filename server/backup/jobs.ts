import type { Context } from '../context.ts'
import { listErasures, listErasuresToCopy, markErasuresCopied } from '../people/erasures.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { createBackup, newBackupName, openDestination, pruneBackups, requireBackupKey } from './backups.ts'
import { mergeErasureLists, writeErasureList } from './erasure-lists.ts'

const EVERY_MINUTE = '* * * * *'

/** Job that makes a backup and removes old ones. */
const backUp = defineJob<Record<string, never>>('back-up', {
  concurrency: 1,
  retries: 3,
  retryDelaySeconds: 300,
  maxRetryDelaySeconds: 3600,
  timeoutSeconds: 12 * 3600,
})

/** Job that copies new erasures to the place of the backups, so that they are made again in a restored backup. */
const copyErasures = defineJob<Record<string, never>>('copy-erasures', { concurrency: 1, retries: 3 })

export const backupJobs = [backUp, copyErasures]

type BackupJobDeps = Pick<Context, 'config' | 'clock' | 'connection' | 'db' | 'log' | 'metrics'>

/**
 * Without BACKUP_SCHEDULE, no backup is made, and without BACKUP_TO and BACKUP_KEY, no erasures are copied. A job that is left from an
 * earlier configuration does nothing.
 */
export function handleBackupJobs(worker: Worker, deps: BackupJobDeps): void {
  const { schedule, to, key } = deps.config.backup
  worker.handle(backUp, async (_payload, signal) => {
    if (schedule) await runBackup(deps, signal)
  })
  if (schedule) worker.schedule(backUp, schedule)
  worker.handle(copyErasures, async () => {
    if (to && key) await copyNewErasures(deps, key)
  })
  if (to && key) worker.schedule(copyErasures, EVERY_MINUTE)
}

/** An erasure stays marked as not copied until its list is stored; after a crash, it is copied again. */
async function copyNewErasures({ config, clock, db, metrics }: BackupJobDeps, key: Buffer): Promise<void> {
  const erasures = await listErasuresToCopy(db.queries)
  if (erasures.length === 0) return
  try {
    await writeErasureList(openDestination(config.backup), key, erasures, clock.now())
  } catch (error) {
    metrics.alarms.inc({ alarm: 'backup_failed' })
    throw error
  }
  await markErasuresCopied(
    db.queries,
    erasures.map(({ person_id }) => person_id),
    new Date(clock.now()),
  )
}

async function runBackup({ config, clock, connection, db, log, metrics }: BackupJobDeps, signal: AbortSignal) {
  const { backup } = config
  try {
    const key = requireBackupKey(backup)
    const destination = openDestination(backup)
    const { name, location, bytes, manifest } = await createBackup({
      connection,
      destination,
      name: newBackupName(clock.now()),
      key,
      signal,
    })
    metrics.lastBackup.set({ location }, Date.parse(manifest.takenAt) / 1000)
    log.info({ name, location, bytes, taken_at: manifest.takenAt }, 'backup made')
    await mergeErasureLists(destination, key, await listErasures(db.queries), clock.now())
    const removed = await pruneBackups(destination, backup, clock.now())
    if (removed.length > 0) log.info({ removed }, 'old backups removed')
  } catch (error) {
    metrics.alarms.inc({ alarm: 'backup_failed' })
    throw error
  }
}
