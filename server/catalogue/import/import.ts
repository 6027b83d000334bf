import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { incrementCatalogueVersion, lockCatalogue } from '../store.ts'
import type { Taxonomy, TaxonomyFormat } from '../taxonomy.ts'
import { readCsv } from './csv.ts'
import { readEsco } from './esco.ts'
import { type ImportSummary, insertCompletedImport, recordOutcome } from './import-records.ts'
import { readLightcast } from './lightcast.ts'
import { mergeTaxonomy } from './merge.ts'
import { readOnet } from './onet.ts'
import { readStoredCatalogue } from './stored-catalogue.ts'
import { writeCatalogueChanges } from './write.ts'

const formatReaders: Record<TaxonomyFormat, (path: string) => Promise<Taxonomy>> = {
  esco: readEsco,
  onet: readOnet,
  lightcast: readLightcast,
  csv: readCsv,
}

/** Reads a taxonomy from its files. Throws an error with a readable message if the files are invalid. */
export async function readTaxonomy(format: TaxonomyFormat, path: string): Promise<Taxonomy> {
  try {
    return await formatReaders[format](path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new Error(`${path}: file not found`)
    if (code === 'EISDIR') throw new Error(`${path}: expected a file, not a folder`)
    throw error
  }
}

export interface ImportOptions {
  /** Returns the summary without writing anything. */
  dryRun?: boolean
  /** Called after each batch with the number of rows written so far and the number of all rows to write. */
  progress?: (written: number, total: number) => void
  /** ID of the import, if it has been stored before. */
  importId?: string
  /** For the list of imports, if the import has not been stored before. */
  fileName?: string
  startedBy?: string
}

/** Imports a taxonomy in one transaction: if the process or the database crashes, nothing is imported. */
export async function importTaxonomy(
  db: Database,
  clock: Clock,
  taxonomy: Taxonomy,
  { dryRun = false, progress, importId, fileName = '', startedBy = 'system' }: ImportOptions = {},
): Promise<ImportSummary> {
  const format = taxonomy.source as TaxonomyFormat
  const rowCount = taxonomy.skills.length + taxonomy.rejected.length
  return db.transaction(async (tx) => {
    const { version } = await lockCatalogue(tx)
    const { changes, summary } = mergeTaxonomy(await readStoredCatalogue(tx), taxonomy)
    if (dryRun) return { rows: rowCount, version, ...summary }
    const id =
      importId ?? (await insertCompletedImport(tx, clock, { format, file_name: fileName, dry_run: false, startedBy }))
    const now = new Date(clock.now())
    const changedRows = await writeCatalogueChanges(tx, taxonomy.source, changes, now, { importId: id, progress })
    const newVersion = changedRows > 0 ? await incrementCatalogueVersion(tx) : version
    const outcome = { import_id: id, rows: rowCount, version: newVersion, ...summary }
    await recordOutcome(tx, id, outcome, changedRows)
    return outcome
  })
}
