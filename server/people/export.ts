import type { Queries } from '../platform/database/database.ts'
import { type ErasureDeps, type ExportSection, exportRequested } from './identity/hooks.ts'
import { findRecordIds, type Person, personRecord, refOf } from './people.ts'

/** All data that is stored about a person. */
export interface PersonExport {
  person: ReturnType<typeof personRecord>
  exported_at: string
  sections: ExportSection[]
}

/** Collects all data that is stored about a person. For an erased person, these are only IDs and times. */
export async function exportPerson(queries: Queries, deps: ErasureDeps, person: Person): Promise<PersonExport> {
  const ref = refOf(person)
  const ids = await findRecordIds(queries, ref)
  const sections = person.erased_at === null ? await exportRequested.run(queries, deps, ref) : {}
  return {
    person: personRecord(person, ids),
    exported_at: new Date(deps.clock.now()).toISOString(),
    sections: Object.values<ExportSection[]>(sections).flat(),
  }
}
