import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { createBackup, newBackupName, openDestination, pruneBackups, requireBackupKey } from './backups.ts'

/** Job that makes a backup and removes old ones. */
const backUp = defineJob<Record<string, never>>('back-up', {
  concurrency: 1,
  retries: 3,
  retryDelaySeconds: 300,
  maxRetryDelaySeconds: 3600,
  timeoutSeconds: 12 * 3600,
})

export const backupJobs = [backUp]

type BackupJobDeps = Pick<Context, 'config' | 'clock' | 'connection' | 'log' | 'metrics'>

/** Without BACKUP_SCHEDULE, nothing is scheduled, and a job that is left from an earlier configuration does nothing. */
export function handleBackupJobs(worker: Worker, deps: BackupJobDeps): void {
  const { schedule } = deps.config.backup
  worker.handle(backUp, async (_payload, signal) => {
    if (schedule) await runBackup(deps, signal)
  })
  if (schedule) worker.schedule(backUp, schedule)
}

async function runBackup({ config, clock, connection, log, metrics }: BackupJobDeps, signal: AbortSignal) {
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
    const removed = await pruneBackups(destination, backup, clock.now())
    if (removed.length > 0) log.info({ removed }, 'old backups removed')
  } catch (error) {
    metrics.alarms.inc({ alarm: 'backup_failed' })
    throw error
  }
}
