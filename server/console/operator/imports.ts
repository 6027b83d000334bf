import { Worker } from 'node:worker_threads'
import { problem } from '../../api/problem.ts'
import type { ImportSummary } from '../../catalogue/import/import.ts'
import type { Context } from '../../context.ts'
import { type Clock, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { ImportMessage, ImportTask } from './import-thread.ts'

/** A taxonomy import through the console. */
export interface CatalogueImport {
  import_id: string
  format: 'csv' | 'lightcast'
  file_name: string
  dry_run: boolean
  status: 'running' | 'done' | 'failed'
  written: number
  of: number
  summary: Record<string, unknown> | null
  error: string | null
  started_by: string
  started_at: Date
  alive_at: Date
  ended_at: Date | null
}

/** A running import without a heartbeat for this long has failed with its process; its transaction was rolled back. */
const IMPORT_STALE_AFTER_MS = MINUTE
const HEARTBEAT_INTERVAL_MS = 2000

export interface NewCatalogueImport {
  format: CatalogueImport['format']
  file_name: string
  dry_run: boolean
  startedBy: string
}

/** Creates an import. Fails if another one is running. */
export async function createImport(
  tx: Tx,
  clock: Clock,
  { format, file_name, dry_run, startedBy }: NewCatalogueImport,
): Promise<CatalogueImport> {
  const now = clock.now()
  await failStaleImports(tx, now)
  const row = await tx
    .insertInto('catalogue_imports')
    .values({
      import_id: newId('IM_', now),
      format,
      file_name,
      dry_run,
      status: 'running',
      started_by: startedBy,
      started_at: new Date(now),
      alive_at: new Date(now),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) throw problem('CONFLICT', 'Another import is running; wait until it finishes.')
  return row as CatalogueImport
}

async function failStaleImports(queries: Queries, now: number) {
  await queries
    .updateTable('catalogue_imports')
    .set({
      status: 'failed',
      error: 'The server stopped during the import; nothing was changed.',
      ended_at: new Date(now),
    })
    .where('status', '=', 'running')
    .where('alive_at', '<', new Date(now - IMPORT_STALE_AFTER_MS))
    .execute()
}

/** Runs an import in a worker thread and stores its progress and outcome. Never throws. */
export async function runImport(
  { db, clock, log, catalogue, connection }: Pick<Context, 'db' | 'clock' | 'log' | 'catalogue' | 'connection'>,
  { import_id, format, dry_run }: CatalogueImport,
  path: string,
): Promise<void> {
  let progress = { written: 0, of: 0 }
  const timer = setInterval(() => saveImport(progress), HEARTBEAT_INTERVAL_MS)
  try {
    const task = { connection, format, path, dryRun: dry_run, now: clock.now() }
    const { refused, ...counts } = await importInThread(task, (written, of) => {
      progress = { written, of }
    })
    const summary = { ...counts, refused: refused.length, first_refused: refused.slice(0, 100) }
    if (!dry_run) await catalogue.refresh()
    await finishImport({ status: 'done', summary: JSON.stringify(summary), ...progress })
  } catch (error) {
    const message = error instanceof Error ? error.message.replaceAll(path, 'the file') : String(error)
    await finishImport({ status: 'failed', error: message.slice(0, 1000) }).catch((storeError) =>
      log.warn({ err: storeError }, 'storing the outcome of an import failed, the import will be marked as failed'),
    )
  } finally {
    clearInterval(timer)
  }

  function saveImport(change: object) {
    db.queries
      .updateTable('catalogue_imports')
      .set({ ...change, alive_at: new Date(clock.now()) })
      .where('import_id', '=', import_id)
      .execute()
      .catch(() => {}) // the next heartbeat retries
  }

  async function finishImport(change: object) {
    await db.queries
      .updateTable('catalogue_imports')
      .set({ ...change, ended_at: new Date(clock.now()) })
      .where('import_id', '=', import_id)
      .execute()
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

/** Returns imports, newest first. */
export async function listImports(
  queries: Queries,
  clock: Clock,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<CatalogueImport[]> {
  await failStaleImports(queries, clock.now())
  const rows = await queries
    .selectFrom('catalogue_imports')
    .selectAll()
    .$if(before !== undefined, (query) => query.where('import_id', '<', before!))
    .orderBy('import_id', 'desc')
    .limit(limit)
    .execute()
  return rows as CatalogueImport[]
}

export function importRecord({ alive_at: _, started_at, ended_at, ...row }: CatalogueImport) {
  return { ...row, started_at: started_at.toISOString(), ended_at: ended_at?.toISOString() ?? null }
}
