import { Worker } from 'node:worker_threads'
import { problem } from '../../api/problem.ts'
import type { ImportSummary } from '../../catalogue/import/import.ts'
import type { Context } from '../../context.ts'
import { type Clock, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { ImportNews, ImportOrder } from './import-thread.ts'

/** A taxonomy that was handed in through the console. */
export interface Import {
  import_id: string
  format: 'csv' | 'lightcast'
  file_name: string
  dry_run: boolean
  status: 'running' | 'done' | 'failed'
  written: number
  of: number
  summary: unknown
  error: string | null
  started_by: string
  started_at: Date
  alive_at: Date
  ended_at: Date | null
}

/** One that has not been heard of for so long died with its process; nothing of it was kept. */
const SILENCE = MINUTE
const HEARTBEAT = 2000

export interface ImportInput {
  format: Import['format']
  file_name: string
  dry_run: boolean
  startedBy: string
}

/** One at a time. */
export async function beginImport(
  tx: Tx,
  clock: Clock,
  { format, file_name, dry_run, startedBy }: ImportInput,
): Promise<Import> {
  const now = clock.now()
  await endSilent(tx, now)
  const made = await tx
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
  if (!made) throw problem('CONFLICT', 'Another import is running; wait until it has ended.')
  return made as Import
}

async function endSilent(queries: Queries, now: number) {
  await queries
    .updateTable('catalogue_imports')
    .set({ status: 'failed', error: 'The server stopped; nothing was changed.', ended_at: new Date(now) })
    .where('status', '=', 'running')
    .where('alive_at', '<', new Date(now - SILENCE))
    .execute()
}

/** Imports as the command line does, but in a thread of its own, telling how far it is; never throws. */
export async function runImport(
  { db, clock, log, catalogue, connection }: Pick<Context, 'db' | 'clock' | 'log' | 'catalogue' | 'connection'>,
  { import_id, format, dry_run }: Import,
  path: string,
): Promise<void> {
  let progress = { written: 0, of: 0 }
  const timer = setInterval(() => tell(progress), HEARTBEAT)
  try {
    const order = { connection, format, path, dryRun: dry_run, now: clock.now() }
    const { refused, ...counts } = await importInThread(order, (written, of) => {
      progress = { written, of }
    })
    const summary = { ...counts, refused: refused.length, first_refused: refused.slice(0, 100) }
    if (!dry_run) await catalogue.refresh()
    await end({ status: 'done', summary: JSON.stringify(summary), ...progress })
  } catch (error) {
    const message = error instanceof Error ? error.message.replaceAll(path, 'the file') : String(error)
    await end({ status: 'failed', error: message.slice(0, 1000) }).catch((failure) =>
      log.warn({ err: failure }, 'the end of an import could not be written'),
    )
  } finally {
    clearInterval(timer)
  }

  function tell(change: object) {
    db.queries
      .updateTable('catalogue_imports')
      .set({ ...change, alive_at: new Date(clock.now()) })
      .where('import_id', '=', import_id)
      .execute()
      .catch(() => {}) // the next one tells more
  }

  async function end(change: object) {
    await db.queries
      .updateTable('catalogue_imports')
      .set({ ...change, ended_at: new Date(clock.now()) })
      .where('import_id', '=', import_id)
      .execute()
  }
}

/** A file that takes more memory than this is refused; the server goes on. */
const MOST_MEMORY_MB = 1536

function importInThread(order: ImportOrder, progress: (written: number, of: number) => void): Promise<ImportSummary> {
  const { promise, resolve, reject } = Promise.withResolvers<ImportSummary>()
  const thread = new Worker(new URL('./import-thread.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
  })
  thread.on('message', (news: ImportNews) => {
    if (news.kind === 'progress') progress(news.written, news.of)
    else if (news.kind === 'done') resolve(news.summary)
    else reject(new Error(news.message))
  })
  thread.on('error', (error: NodeJS.ErrnoException) =>
    reject(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new Error('The file is too large to be taken in at once.') : error,
    ),
  )
  thread.on('exit', () => reject(new Error('The import ended before it was done; nothing was changed.')))
  return promise
}

/** Newest first. */
export async function listImports(
  queries: Queries,
  clock: Clock,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<Import[]> {
  await endSilent(queries, clock.now())
  const rows = await queries
    .selectFrom('catalogue_imports')
    .selectAll()
    .$if(before !== undefined, (query) => query.where('import_id', '<', before!))
    .orderBy('import_id', 'desc')
    .limit(limit)
    .execute()
  return rows as Import[]
}

export function importRecord({ alive_at: _, started_at, ended_at, ...row }: Import) {
  return { ...row, started_at: started_at.toISOString(), ended_at: ended_at?.toISOString() ?? null }
}
