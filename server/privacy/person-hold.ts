import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { lockReadablePerson } from '../people/people.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'

/** Starts a legal hold of a person, or ends it if `reason` is null. During the hold, the person cannot be erased. */
export async function setPersonHold(
  tx: Tx,
  clock: Clock,
  scope: OrgScope,
  personId: string,
  reason: string | null,
): Promise<{ person_id: string; legal_hold: string | null }> {
  await lockReadablePerson(tx, scope, personId)
  await sql`update people set legal_hold = ${reason}, updated_at = ${new Date(clock.now())} where person_id = ${personId}`.execute(
    tx,
  )
  return { person_id: personId, legal_hold: reason }
}
