import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import { type Clock, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { TaxonomyFormat } from '../taxonomy.ts'
import type { MergeSummary } from './merge.ts'

export interface ImportSummary extends MergeSummary {
  /** Absent for a dry run. */
  import_id?: string
  /** Rows of the taxonomy, including rejected ones. */
  rows: number
  /** Version of the catalogue after the import; the same as before if nothing changed. */
  version: number
}

/** An import of a taxonomy through the console or the command line. */
export interface CatalogueImport {
  import_id: string
  format: TaxonomyFormat
  file_name: string
  dry_run: boolean
  status: 'running' | 'done' | 'failed'
  written: number
  of: number
  summary: Record<string, unknown> | null
  error: string | null
  started_by: string
  started_at: Date
  ended_at: Date | null
  undone_at: Date | null
  undone_by: string | null
  /** Version of the catalogue after the import; null if it did not complete, or completed before its changes were recorded. */
  version: number | null
  changed_rows: number
  /** Whether this is the import that can be undone next. */
  can_undo: boolean
}

/** A running import without a heartbeat for this long has failed with its process; its transaction was rolled back. */
const IMPORT_STALE_AFTER_MS = MINUTE
/** The previous values of older imports are deleted. */
export const MAX_UNDOABLE_IMPORTS = 10
const MAX_STORED_ROWS = 100

export interface NewCatalogueImport {
  format: TaxonomyFormat
  file_name: string
  dry_run: boolean
  startedBy: string
}

/** Creates an import that reports its progress. Fails if another one is running. */
export async function createImport(tx: Tx, clock: Clock, input: NewCatalogueImport): Promise<CatalogueImport> {
  await failStaleImports(tx, clock.now())
  const importId = await insertImport(tx, clock, input, 'running')
  if (importId === undefined) throw problem('CONFLICT', 'Another import is running; wait until it finishes.')
  return getImport(tx, importId)
}

/** Stores an import that is invisible until its transaction commits. Returns its ID. */
export async function insertCompletedImport(tx: Tx, clock: Clock, input: NewCatalogueImport): Promise<string> {
  return (await insertImport(tx, clock, input, 'done'))!
}

async function insertImport(
  tx: Tx,
  clock: Clock,
  { format, file_name, dry_run, startedBy }: NewCatalogueImport,
  status: CatalogueImport['status'],
): Promise<string | undefined> {
  const now = clock.now()
  const row = await tx
    .insertInto('catalogue_imports')
    .values({
      import_id: newId('IM_', now),
      format,
      file_name,
      dry_run,
      status,
      started_by: startedBy,
      started_at: new Date(now),
      alive_at: new Date(now),
      ended_at: status === 'done' ? new Date(now) : null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('import_id')
    .executeTakeFirst()
  return row?.import_id
}

/** Stores the outcome of an import in its transaction, and deletes the previous values of imports that are too old to be undone. */
export async function recordOutcome(tx: Tx, importId: string, summary: ImportSummary, changedRows: number) {
  await tx
    .updateTable('catalogue_imports')
    .set({ version: summary.version, changed_rows: changedRows, summary: JSON.stringify(storedSummary(summary)) })
    .where('import_id', '=', importId)
    .execute()
  await sql`
    delete from skill_import_changes where import_id in (
      select import_id from catalogue_imports where version is not null and changed_rows > 0 and undone_at is null
      order by version desc offset ${MAX_UNDOABLE_IMPORTS})`.execute(tx)
}

/** Marks an import as undone, and deletes its previous values. */
export async function markUndone(tx: Tx, importId: string, undoneBy: string, now: Date): Promise<void> {
  await tx
    .updateTable('catalogue_imports')
    .set({ undone_at: now, undone_by: undoneBy })
    .where('import_id', '=', importId)
    .execute()
  await tx.deleteFrom('skill_import_changes').where('import_id', '=', importId).execute()
}

/** Returns the summary with the first rows of its lists only. */
export function storedSummary({
  import_id: _,
  refused,
  renamed,
  kept_names,
  ...counts
}: ImportSummary): Record<string, unknown> {
  return {
    ...counts,
    renamed: renamed.slice(0, MAX_STORED_ROWS),
    kept_names: kept_names.slice(0, MAX_STORED_ROWS),
    refused: refused.length,
    // PostgreSQL stores neither U+0000 nor unpaired surrogates, which can be the reason why a row was rejected.
    first_refused: refused
      .slice(0, MAX_STORED_ROWS)
      .map(({ row, ...each }) => ({ ...each, row: row.toWellFormed().replaceAll('\0', '\ufffd') })),
  }
}

/** Stores the progress of a running import, or its end. Also shows that its process is alive. */
export async function updateImport(
  queries: Queries,
  clock: Clock,
  importId: string,
  change: { written?: number; of?: number; status?: 'done'; summary?: string; ended_at?: Date },
): Promise<void> {
  await queries
    .updateTable('catalogue_imports')
    .set({ ...change, alive_at: new Date(clock.now()) })
    .where('import_id', '=', importId)
    .execute()
}

/** Marks a running import as failed, unless its transaction has been committed. */
export async function failImport(queries: Queries, clock: Clock, importId: string, message: string): Promise<void> {
  await endWithError(queries, clock.now(), message).where('import_id', '=', importId).execute()
}

async function failStaleImports(queries: Queries, now: number): Promise<void> {
  await endWithError(queries, now, 'The server stopped during the import; nothing was changed.')
    .where('alive_at', '<', new Date(now - IMPORT_STALE_AFTER_MS))
    .execute()
}

function endWithError(queries: Queries, now: number, message: string) {
  return queries
    .updateTable('catalogue_imports')
    .set({
      status: sql`case when version is null then 'failed' else 'done' end`,
      error: sql`case when version is null then ${message} end`,
      ended_at: new Date(now),
    })
    .where('status', '=', 'running')
}

const importColumns = sql`import_id, format, file_name, dry_run, status, written, "of", summary, error, started_by, started_at, ended_at,
    undone_at, undone_by, version, changed_rows, undone_at is null and changed_rows > 0
      and exists (select from skill_import_changes c where c.import_id = i.import_id)
      and version = (select max(version) from catalogue_imports where undone_at is null and changed_rows > 0) as can_undo`

/** Returns imports, newest first. */
export async function listImports(
  queries: Queries,
  clock: Clock,
  { before, offset = 0, limit }: { before?: string | undefined; offset?: number; limit: number },
): Promise<CatalogueImport[]> {
  await failStaleImports(queries, clock.now())
  const { rows } = await sql<CatalogueImport>`
    select ${importColumns} from catalogue_imports i
    where ${before === undefined ? sql`true` : sql`import_id < ${before}`} order by import_id desc offset ${offset} limit ${limit}`.execute(
    queries,
  )
  return rows
}

export async function countImports(queries: Queries): Promise<number> {
  const { count } = await queries
    .selectFrom('catalogue_imports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export async function getImport(queries: Queries, importId: string): Promise<CatalogueImport> {
  const { rows } = await sql<CatalogueImport>`
    select ${importColumns} from catalogue_imports i where import_id = ${importId}`.execute(queries)
  if (!rows[0]) throw problem('NOT_FOUND', `Import ${importId} not found.`)
  return rows[0]
}

/** Returns the import as a record of the console and the admin API. */
export function importRecord({
  started_at,
  ended_at,
  undone_at,
  version: _version,
  changed_rows: _changedRows,
  ...row
}: CatalogueImport) {
  return {
    ...row,
    started_at: started_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
    undone_at: undone_at?.toISOString() ?? null,
  }
}
