import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { lockCatalogue, raiseCatalogueVersion } from '../store.ts'
import type { Taxonomy } from '../taxonomy.ts'
import { readEsco } from './esco.ts'
import { readExisting } from './existing.ts'
import { readLightcast } from './lightcast.ts'
import { type MergeSummary, merge } from './merge.ts'
import { readOnet } from './onet.ts'
import { readOwnCsv } from './own-csv.ts'
import { writeChanges } from './write.ts'

export type FormatName = 'esco' | 'onet' | 'lightcast' | 'csv'

const readers: Record<FormatName, (path: string) => Promise<Taxonomy>> = {
  esco: readEsco,
  onet: readOnet,
  lightcast: readLightcast,
  csv: readOwnCsv,
}

/** Reads a taxonomy from its files; whatever is wrong with them is told in a sentence. */
export async function readTaxonomy(format: FormatName, path: string): Promise<Taxonomy> {
  try {
    return await readers[format](path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new Error(`${path}: there is no such file`)
    if (code === 'EISDIR') throw new Error(`${path}: expected a file, not a folder`)
    throw error
  }
}

export interface ImportOptions {
  /** Finds out what would happen and writes nothing. */
  dryRun?: boolean
  progress?: (written: number, of: number) => void
}

export interface ImportSummary extends MergeSummary {
  rows: number
  /** Of the catalogue afterwards; the same as before when nothing changed. */
  version: number
}

/** Takes a taxonomy into the catalogue in one transaction: all of it or, if the process or the database dies, nothing. */
export async function importTaxonomy(
  db: Database,
  clock: Clock,
  taxonomy: Taxonomy,
  { dryRun = false, progress }: ImportOptions = {},
): Promise<ImportSummary> {
  const rows = taxonomy.skills.length + taxonomy.refused.length
  return db.transaction(async (tx) => {
    const { version } = await lockCatalogue(tx)
    const { changes, summary } = merge(await readExisting(tx), taxonomy)
    if (dryRun) return { rows, version, ...summary }
    const wrote = await writeChanges(tx, taxonomy.source, changes, new Date(clock.now()), progress)
    return { rows, version: wrote ? await raiseCatalogueVersion(tx) : version, ...summary }
  })
}
