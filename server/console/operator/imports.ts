import { Worker } from 'node:worker_threads'
import {
  type CatalogueImport,
  failImport,
  type ImportSummary,
  storedSummary,
  updateImport,
} from '../../catalogue/import/import-records.ts'
import type { Context } from '../../context.ts'
import type { ImportMessage, ImportTask } from './import-thread.ts'

const HEARTBEAT_INTERVAL_MS = 2000

/** Runs an import in a worker thread and stores its progress and outcome. Never throws. */
export async function runImport(
  { db, clock, log, catalogue, connection }: Pick<Context, 'db' | 'clock' | 'log' | 'catalogue' | 'connection'>,
  { import_id, format, dry_run }: CatalogueImport,
  path: string,
): Promise<void> {
  let progress = { written: 0, of: 0 }
  const timer = setInterval(saveProgress, HEARTBEAT_INTERVAL_MS)
  try {
    const task = { importId: import_id, connection, format, path, dryRun: dry_run, now: clock.now() }
    const summary = await importInThread(task, (written, of) => {
      progress = { written, of }
    })
    if (!dry_run) await catalogue.refresh()
    await updateImport(db.queries, clock, import_id, {
      ...progress,
      status: 'done',
      summary: JSON.stringify(storedSummary(summary)),
      ended_at: new Date(clock.now()),
    })
  } catch (error) {
    const message = error instanceof Error ? error.message.replaceAll(path, 'the file') : String(error)
    await failImport(db.queries, clock, import_id, message.slice(0, 1000)).catch((storeError) =>
      log.warn({ err: storeError }, 'storing the outcome of an import failed, the import will be marked as failed'),
    )
  } finally {
    clearInterval(timer)
  }

  function saveProgress() {
    updateImport(db.queries, clock, import_id, progress).catch(() => {}) // the next heartbeat retries
  }
}

/** Memory limit of the worker thread: a file that needs more fails without affecting the server. */
const MAX_THREAD_MEMORY_MB = 1536

function importInThread(
  task: ImportTask,
  onProgress: (writtenCount: number, totalCount: number) => void,
): Promise<ImportSummary> {
  const { promise, resolve, reject } = Promise.withResolvers<ImportSummary>()
  const thread = new Worker(new URL('./import-thread.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MAX_THREAD_MEMORY_MB },
  })
  thread.on('message', (message: ImportMessage) => {
    if (message.kind === 'progress') onProgress(message.written, message.of)
    else if (message.kind === 'done') resolve(message.summary)
    else reject(new Error(message.message))
  })
  thread.on('error', (error: NodeJS.ErrnoException) =>
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new Error('The file is too large to import.') : error),
  )
  thread.on('exit', () => reject(new Error('The import stopped unexpectedly; nothing was changed.')))
  return promise
}
