import { parentPort, workerData } from 'node:worker_threads'
import { type FormatName, type ImportSummary, importTaxonomy, readTaxonomy } from '../../catalogue/import/import.ts'
import { type ConnectionSettings, openDatabase } from '../../platform/database/database.ts'

/** What a thread is given to import. */
export interface ImportOrder {
  connection: ConnectionSettings
  format: FormatName
  path: string
  dryRun: boolean
  now: number
}

export type ImportNews =
  | { kind: 'progress'; written: number; of: number }
  | { kind: 'done'; summary: ImportSummary }
  | { kind: 'failed'; message: string }

// Reading and comparing a whole taxonomy takes seconds of one processor, which nobody else shall wait for.
if (parentPort) await work(workerData as ImportOrder, (news) => parentPort!.postMessage(news))

async function work({ connection, format, path, dryRun, now }: ImportOrder, tell: (news: ImportNews) => void) {
  const db = openDatabase({ connection, name: 'attestry import', max: 1, onError: () => {} })
  try {
    const taxonomy = await readTaxonomy(format, path)
    tell({ kind: 'progress', written: 0, of: taxonomy.skills.length })
    const summary = await importTaxonomy(db, { now: () => now }, taxonomy, {
      dryRun,
      progress: (written, of) => tell({ kind: 'progress', written, of }),
    })
    tell({ kind: 'done', summary })
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  } finally {
    await db.close()
  }
}
