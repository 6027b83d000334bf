import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { recordEvent } from '../events/record.ts'
import type { Tx } from '../platform/database/database.ts'
import type { Erasure } from './erasures.ts'
import { beforePersonErased, type ErasureDeps, type PersonRecordIds } from './identity/hooks.ts'
import { findRecordIds, getPerson, lockPerson, type Person, refOf } from './people.ts'

/** The legal basis and the requester of an erasure. */
export interface ErasureRequest {
  /** The legal basis, such as "GDPR Article 17" or "retention period". */
  basis: string
  /** The person or system that requested the erasure. Stored in the audit log; must not contain an address of the erased person. */
  requestedBy: string
}

/**
 * Erases a person: ends all work for them, and deletes the key that seals their values and the hashes of their addresses. Counts, credits,
 * results and the ledger remain, with `erased` in place of personal values. Opt-outs remain as keyed hashes. Erasing a person again
 * changes nothing.
 */
export async function erasePerson(
  tx: Tx,
  deps: ErasureDeps,
  scope: OrgScope,
  personId: string,
  { basis, requestedBy }: ErasureRequest,
): Promise<Person> {
  const person = await getPerson(tx, scope, personId)
  if (person.erased_at !== null) return person
  // Conversations and sessions are locked before the person, in the order in which replies and submissions lock them.
  await beforePersonErased.run(tx, deps, refOf(person))
  const lockedPerson = await lockPerson(tx, scope, personId)
  if (lockedPerson.erased_at !== null) return lockedPerson
  if (lockedPerson.legal_hold !== null)
    throw problem(
      'CONFLICT',
      `Person ${personId} has a legal hold (${lockedPerson.legal_hold}). End the legal hold first.`,
    )
  // No more data can be stored for the person now. Run the handlers again for data that was stored before the lock.
  await beforePersonErased.run(tx, deps, refOf(person))
  const now = new Date(deps.clock.now())
  const ids = await findRecordIds(tx, refOf(person))
  await sql`delete from person_addresses where person_id = ${personId}`.execute(tx)
  await sql`update people set sealed_key = null, erased_at = ${now}, updated_at = ${now}, restricted_at = null
    where person_id = ${personId}`.execute(tx)
  await sql`insert into erasures (person_id, org_id, mode, basis, requested_by, records, erased_at)
    values (${personId}, ${scope.orgId}, ${scope.mode}, ${basis}, ${requestedBy}, ${JSON.stringify(recordsOf(ids))}, ${now})`.execute(
    tx,
  )
  await recordEvent(tx, scope, deps.clock, 'person.erased', {
    person_id: personId,
    candidates: ids.candidates ?? [],
    students: ids.students ?? [],
    reviews: ids.reviews ?? [],
    erased_at: now.toISOString(),
  })
  return getPerson(tx, scope, personId)
}

function recordsOf({ candidates = [], students = [], reviews = [] }: PersonRecordIds): Erasure['records'] {
  return {
    candidates: candidates.map(({ candidate_id }) => candidate_id),
    sessions: students.flatMap(({ verification_ids }) => verification_ids),
    reviews: reviews.map(({ verification_id }) => verification_id),
  }
}
