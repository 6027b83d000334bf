import { sql } from 'kysely'
import { selectCandidacies } from '../../campaigns/candidacy.ts'
import type { ErasureDeps, ExportSection, PersonRef } from '../../people/identity/hooks.ts'
import { openPersonal, openPersonKey } from '../../people/identity/person-key.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { vaultOf } from '../../platform/database/database-vault.ts'
import { eraseCandidateEntries, notePurpose, replaceTokens } from './candidate-list.ts'

const ofPerson = ({ personId }: PersonRef) =>
  sql`p.candidate_id in (select candidate_id from candidates where person_id = ${personId})`

/** Removes the search tokens and the recruiters' notes of a person who is erased. */
export async function eraseListEntries(tx: Tx, _deps: ErasureDeps, { personId }: PersonRef): Promise<void> {
  // Lock the person before the entries, as `decideOnCandidates` does, to prevent deadlocks.
  await sql`select 1 from people where person_id = ${personId} for update`.execute(tx)
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidates where person_id = ${personId} order by candidate_id`.execute(tx)
  await eraseCandidateEntries(
    tx,
    rows.map(({ candidate_id }) => candidate_id),
  )
}

/** Replaces the search tokens of a person whose values were corrected. */
export async function correctListEntries(tx: Tx, { mailboxes }: ErasureDeps, person: PersonRef): Promise<void> {
  const candidacies = await selectCandidacies(tx, ofPerson(person), sql`order by p.candidate_id`)
  await replaceTokens(tx, mailboxes, person.scope, candidacies)
}

/** Returns the decisions and notes of recruiters about a person. */
export async function exportDecisions(
  queries: Queries,
  _deps: ErasureDeps,
  { personId }: PersonRef,
): Promise<ExportSection[]> {
  const { rows } = await sql<{
    candidate_id: string
    decision: string | null
    note: Buffer | null
    decided_at: Date
    sealed_key: Buffer | null
  }>`
    select l.candidate_id, l.decision, l.note, l.decided_at, o.sealed_key
    from candidates c join candidate_list l using (candidate_id) join people o on o.person_id = c.person_id
    where c.person_id = ${personId} and l.decided_at is not null order by l.candidate_id`.execute(queries)
  const vault = vaultOf(queries)
  const records = rows.map(({ candidate_id, decision, note, decided_at, sealed_key }) => ({
    candidate_id,
    decision,
    note: openPersonal<string>(openPersonKey(vault, personId, sealed_key), note, notePurpose(candidate_id)) ?? null,
    decided_at: decided_at.toISOString(),
  }))
  return [{ name: 'decisions', title: 'Decisions and notes of recruiters', records }]
}
