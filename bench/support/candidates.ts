import { sql } from 'kysely'
import type { OrgScope } from '../../server/access/caller.ts'
import { sealCandidate, sealMessage } from '../../server/campaigns/personal-values.ts'
import { identifyPeople } from '../../server/people/identity/people.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { hashToken } from '../../server/platform/token-hash.ts'
import { EMPTY_SEALED_TEXT } from './sealed-text.ts'

const BATCH_SIZE = 5_000
const MESSAGE = [{ step: 1, kind: 'notice', text: 'Hello', choices: [] }]

interface NewCandidate {
  candidate_id: string
  campaign_id: string
  external_candidate_id: string
  name: string
  /** Different for each candidate, so that each is a person of their own. */
  phone: string
  enrolled_at: Date
}

/** Inserts candidates with sealed values as enrolment does, but without a token, and sent messages of each of them. */
export async function insertCandidates(
  db: Database,
  { orgId, mode }: OrgScope,
  candidates: NewCandidate[],
  messagesPerCandidate = 0,
): Promise<void> {
  for (let start = 0; start < candidates.length; start += BATCH_SIZE) {
    const batch = candidates.slice(start, start + BATCH_SIZE)
    const ids = batch.map(({ candidate_id }) => candidate_id)
    await db.transaction(async (tx) => {
      const people = await identifyPeople(tx, { orgId, mode }, batch[0]!.enrolled_at.getTime(), batch)
      const sealed = batch.map(({ candidate_id, name, phone }, index) =>
        sealCandidate(people[index]!.key, candidate_id, { name, phone, email: null, metadata: {} }),
      )
      await sql`
        insert into candidates (candidate_id, campaign_id, org_id, mode, external_candidate_id, person_id, personal, phone_index,
          token_hash, token, enrolled_at)
        select candidate_id, campaign_id, ${orgId}, ${mode}, external_candidate_id, person_id, personal, phone_index, token_hash,
          ${sql.raw(EMPTY_SEALED_TEXT)}, enrolled_at
        from unnest(${ids}::text[], ${batch.map(({ campaign_id }) => campaign_id)}::text[],
          ${batch.map(({ external_candidate_id }) => external_candidate_id)}::text[], ${people.map(({ personId }) => personId)}::text[],
          ${sealed}::bytea[], ${people.map(({ phoneIndex }) => phoneIndex)}::bytea[], ${ids.map(hashToken)}::bytea[],
          ${batch.map(({ enrolled_at }) => enrolled_at)}::timestamptz[])
          as n (candidate_id, campaign_id, external_candidate_id, person_id, personal, phone_index, token_hash, enrolled_at)`.execute(
        tx,
      )
      const messages = batch.flatMap(({ candidate_id }, index) =>
        Array.from({ length: messagesPerCandidate }, (_, number) => {
          const messageId = `MS_${candidate_id.slice(3)}${number + 1}`
          return { candidate_id, messageId, personal: sealMessage(people[index]!.key, messageId, MESSAGE) }
        }),
      )
      if (messages.length === 0) return
      await sql`
        insert into messages (message_id, candidate_id, campaign_id, org_id, mode, direction, channel, state, conversation_step, personal,
          created_at, updated_at)
        select n.message_id, candidate_id, c.campaign_id, c.org_id, c.mode, 'out', 'whatsapp', 'delivered', 1, n.personal, c.enrolled_at,
          c.enrolled_at
        from unnest(${messages.map(({ messageId }) => messageId)}::text[], ${messages.map(({ candidate_id }) => candidate_id)}::text[],
          ${messages.map(({ personal }) => personal)}::bytea[]) as n (message_id, candidate_id, personal)
        join candidates c using (candidate_id)`.execute(tx)
    })
  }
}
