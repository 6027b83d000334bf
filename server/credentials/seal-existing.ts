import { sql } from 'kysely'
import { findPersonKey } from '../people/identity/people.ts'
import type { Tx } from '../platform/database/database.ts'
import type { Facts } from './facts.ts'
import { SEALED_CREDENTIAL, sealCredential } from './personal-values.ts'

const BATCH_SIZE = 200

/** Seals a batch of credentials that earlier versions stored. */
export async function sealExistingCredentials(tx: Tx) {
  const { rows } = await sql<{
    credential_id: string
    credential: string
    jwt: string
    facts: Facts
    person_id: string
  }>`
    select k.credential_id, k.credential, k.jwt, k.facts, coalesce(c.person_id, s.person_id) as person_id
    from credentials k left join candidates c on k.source_kind = 'candidate' and c.candidate_id = k.source_id
      left join verification_sessions s on k.source_kind = 'session' and s.verification_id = k.source_id
    where k.person_id is null and k.credential is not null order by k.credential_id limit ${BATCH_SIZE} for update of k`.execute(
    tx,
  )
  for (const { credential_id: id, credential, jwt, facts, person_id } of rows) {
    const key = await findPersonKey(tx, person_id)
    const personal = key && sealCredential(key, id, { credential, jwt, source: facts.source })
    await sql`update credentials set person_id = ${person_id}, personal = ${personal}, credential = ${SEALED_CREDENTIAL}, jwt = null,
      facts = ${JSON.stringify({ ...facts, source: null })} where credential_id = ${id}`.execute(tx)
  }
  return { rows: rows.length, last: rows.length === BATCH_SIZE ? '' : undefined }
}
