import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { incrementCatalogueVersion, lockCatalogue } from '../store.ts'
import type { Taxonomy } from '../taxonomy.ts'
import { readCsv } from './csv.ts'
import { readEsco } from './esco.ts'
import { readLightcast } from './lightcast.ts'
import { type MergeSummary, mergeTaxonomy } from './merge.ts'
import { readOnet } from './onet.ts'
import { readStoredCatalogue } from './stored-catalogue.ts'
import { writeCatalogueChanges } from './write.ts'

export type TaxonomyFormat = 'esco' | 'onet' | 'lightcast' | 'csv'

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
}

export interface ImportSummary extends MergeSummary {
  /** Rows of the taxonomy, including rejected ones. */
  rows: number
  /** Version of the catalogue after the import; the same as before if nothing changed. */
  version: number
}

/** Imports a taxonomy in one transaction: if the process or the database crashes, nothing is imported. */
export async function importTaxonomy(
  db: Database,
  clock: Clock,
  taxonomy: Taxonomy,
  { dryRun = false, progress }: ImportOptions = {},
): Promise<ImportSummary> {
  const rowCount = taxonomy.skills.length + taxonomy.rejected.length
  return db.transaction(async (tx) => {
    const { version } = await lockCatalogue(tx)
    const { changes, summary } = mergeTaxonomy(await readStoredCatalogue(tx), taxonomy)
    if (dryRun) return { rows: rowCount, version, ...summary }
    const hasChanges = await writeCatalogueChanges(tx, taxonomy.source, changes, new Date(clock.now()), progress)
    return { rows: rowCount, version: hasChanges ? await incrementCatalogueVersion(tx) : version, ...summary }
  })
}
