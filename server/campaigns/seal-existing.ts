import { sql } from 'kysely'
import { fromStoredState, type StoredState } from '../conversation/earlier-format.ts'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import { identifyPeople } from '../people/identity/people.ts'
import { openPersonKey } from '../people/identity/person-key.ts'
import type { Tx } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { flowOf } from './candidacy.ts'
import { sealCandidate, sealMessage, splitConversation } from './personal-values.ts'

const BATCH_SIZE = 500

interface PlainCandidate {
  candidate_id: string
  org_id: string
  mode: 'test' | 'live'
  name: string
  phone: string | null
  email: string | null
  metadata: string
  enrolled_at: Date
  mandate_id: string
  flow_version: number
  conversation: string
}

/** Seals a batch of candidates that earlier versions stored, with the answers in their own words. */
export async function sealExistingCandidates(tx: Tx) {
  const { rows } = await sql<PlainCandidate>`
    select c.candidate_id, c.org_id, c.mode, c.name, c.phone, c.email, c.metadata, c.enrolled_at, p.mandate_id, p.flow_version,
      p.conversation
    from candidates c join candidate_progress p using (candidate_id)
    where c.person_id is null order by c.candidate_id limit ${BATCH_SIZE} for update of c, p`.execute(tx)
  for (const group of Map.groupBy(rows, ({ org_id, mode }) => `${org_id} ${mode}`).values()) {
    const scope = { orgId: group[0]!.org_id, mode: group[0]!.mode }
    const people = await identifyPeople(tx, scope, group[0]!.enrolled_at.getTime(), group)
    for (const [index, row] of group.entries()) {
      const { personId, key, phoneIndex, emailIndex } = people[index]!
      const { candidate_id, name, phone, email } = row
      const personal = sealCandidate(key, candidate_id, { name, phone, email, metadata: JSON.parse(row.metadata) })
      await sql`update candidates set person_id = ${personId}, personal = ${personal}, phone_index = ${phoneIndex},
        email_index = ${emailIndex}, name = null, phone = null, email = null, metadata = null
        where candidate_id = ${candidate_id}`.execute(tx)
      const split = await splitStored(tx, key, row)
      if (split?.personal)
        await sql`update candidate_progress set conversation = ${split.conversation}, personal = ${split.personal}
          where candidate_id = ${candidate_id}`.execute(tx)
    }
  }
  return { rows: rows.length, last: rows.length === BATCH_SIZE ? '' : undefined }
}

/** Returns undefined for a conversation that cannot be read. The contact engine replaces it. */
async function splitStored(tx: Tx, key: Buffer, row: PlainCandidate) {
  const { org_id: orgId, mode, mandate_id, flow_version, candidate_id, conversation } = row
  let stored: StoredState
  try {
    stored = JSON.parse(conversation)
  } catch {
    return undefined
  }
  const flow = await flowOf(tx, { orgId, mode }, mandate_id, flow_version)
  return splitConversation(key, candidate_id, fromStoredState(stored, flow), flow)
}

/** Seals a batch of messages that earlier versions stored. */
export async function sealExistingMessages(tx: Tx) {
  const { rows } = await sql<{ message_id: string; content: string; person_id: string; sealed_key: Buffer | null }>`
    select m.message_id, m.content, o.person_id, o.sealed_key
    from messages m join candidates c using (candidate_id) join people o on o.person_id = c.person_id
    where m.content is not null order by m.message_id limit ${BATCH_SIZE} for update of m`.execute(tx)
  const vault = vaultOf(tx)
  const sealed = rows.map(({ message_id, content, person_id, sealed_key }) =>
    sealMessage(openPersonKey(vault, person_id, sealed_key), message_id, JSON.parse(content)),
  )
  await sql`update messages m set content = null, personal = n.personal
    from unnest(${rows.map(({ message_id }) => message_id)}::text[], ${sealed}::bytea[]) as n (message_id, personal)
    where m.message_id = n.message_id`.execute(tx)
  return { rows: rows.length, last: rows.length === BATCH_SIZE ? '' : undefined }
}

/** Replaces the addresses of a batch of opt-outs with their hashes. An address with a test clock begins with the ID of the clock. */
export async function moveExistingOptOuts(tx: Tx) {
  const { rows } = await sql<{ org_id: string; mode: 'test' | 'live'; address: string; created_at: Date }>`
    delete from stopped_addresses where (org_id, mode, address) in (
      select org_id, mode, address from stopped_addresses limit ${BATCH_SIZE})
    returning org_id, mode, address, created_at`.execute(tx)
  const blindIndex = blindIndexOf(tx)
  for (const { org_id: orgId, mode, address, created_at } of rows) {
    const [clockId, plainAddress] = address.includes(' ') ? address.split(' ') : ['', address]
    const kind = plainAddress!.includes('@') ? 'email' : 'phone'
    const hash = blindIndex[kind]({ orgId, mode }, plainAddress!, `opt-out ${clockId}`)
    await sql`insert into opt_outs (org_id, mode, address, created_at) values (${orgId}, ${mode}, ${hash}, ${created_at})
      on conflict do nothing`.execute(tx)
  }
  return { rows: rows.length, last: rows.length === BATCH_SIZE ? '' : undefined }
}
