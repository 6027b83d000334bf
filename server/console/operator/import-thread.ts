import { parentPort, workerData } from 'node:worker_threads'
import { importTaxonomy, readTaxonomy } from '../../catalogue/import/import.ts'
import type { ImportSummary } from '../../catalogue/import/import-records.ts'
import type { TaxonomyFormat } from '../../catalogue/taxonomy.ts'
import type { ConnectionSettings } from '../../platform/database/connection-settings.ts'
import { openDatabase } from '../../platform/database/database.ts'

/** Input of the import thread. */
export interface ImportTask {
  importId: string
  connection: ConnectionSettings
  format: TaxonomyFormat
  path: string
  dryRun: boolean
  now: number
}

export type ImportMessage =
  | { kind: 'progress'; written: number; of: number }
  | { kind: 'done'; summary: ImportSummary }
  | { kind: 'failed'; message: string }

// Reading and comparing a whole taxonomy takes seconds of CPU time, which would block the event loop.
if (parentPort) await runTask(workerData as ImportTask, (message) => parentPort!.postMessage(message))

async function runTask(
  { importId, connection, format, path, dryRun, now }: ImportTask,
  post: (message: ImportMessage) => void,
) {
  const db = openDatabase({ connection, name: 'attestry import', maxConnections: 1, onError: () => {} })
  try {
    const taxonomy = await readTaxonomy(format, path)
    post({ kind: 'progress', written: 0, of: taxonomy.skills.length })
    const summary = await importTaxonomy(db, { now: () => now }, taxonomy, {
      dryRun,
      importId,
      progress: (written, of) => post({ kind: 'progress', written, of }),
    })
    post({ kind: 'done', summary })
  } catch (error) {
    post({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  } finally {
    await db.close()
  }
}
