import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { erasePerson } from './erasure.ts'
import type { Erasure } from './erasures.ts'
import type { ErasureDeps } from './identity/hooks.ts'

const BATCH_SIZE = 100

/**
 * Repeats the erasures that were made after the backup from which the database was restored. Each erasure is a transaction, so that an
 * interrupted start continues. Returns the number of people who were erased.
 */
export async function applyRestoredErasures(
  db: Database,
  deps: ErasureDeps,
  progress?: (text: string) => void,
): Promise<number> {
  let erased = 0
  for (;;) {
    const { rows } = await sql<{ erasure: Erasure }>`
      select erasure from restored_erasures order by person_id limit ${BATCH_SIZE}`.execute(db.queries)
    if (rows.length === 0) return erased
    progress?.(`Repeating erasures that were made after the backup: ${erased} people erased…`)
    for (const { erasure } of rows)
      erased += await db.transaction(async (tx) => {
        const count = await eraseAgain(tx, deps, erasure)
        await sql`delete from restored_erasures where person_id = ${erasure.person_id}`.execute(tx)
        return count
      })
  }
}

async function eraseAgain(tx: Tx, deps: ErasureDeps, erasure: Erasure): Promise<number> {
  const scope: OrgScope = { orgId: erasure.org_id, mode: erasure.mode }
  const personIds = await findErasedPeople(tx, scope, erasure)
  for (const personId of personIds) {
    // The backup may contain a legal hold that was ended before the person was erased.
    await sql`update people set legal_hold = null where person_id = ${personId}`.execute(tx)
    await erasePerson(tx, deps, scope, personId, { basis: erasure.basis, requestedBy: erasure.requested_by })
  }
  return personIds.length
}

/** Returns the people of an erasure who are not erased yet. Backups from before the upgrade have no people: finds them by their records. */
async function findErasedPeople(tx: Tx, { orgId, mode }: OrgScope, erasure: Erasure): Promise<string[]> {
  const { person_id: personId, records } = erasure
  const { rows } = await sql<{ person_id: string; erased_at: Date | null }>`
    select person_id, erased_at from people where org_id = ${orgId} and mode = ${mode} and (person_id = ${personId}
      or not exists (select from people where person_id = ${personId}) and person_id in (
        select person_id from candidates where candidate_id = any (${records.candidates})
        union select person_id from verification_sessions where verification_id = any (${records.sessions})
        union select person_id from verification_reviews where verification_id = any (${records.reviews})))`.execute(tx)
  return rows.filter(({ erased_at }) => erased_at === null).map(({ person_id }) => person_id)
}
