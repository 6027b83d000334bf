import { sql } from 'kysely'
import { suppressMailbox } from '../../mail/suppressions.ts'
import type { FindUnsubscribeTarget } from '../../mail/unsubscribe.ts'
import { prompt } from '../../questions/prompts.ts'
import { findCandidacy, lockCandidacy } from '../candidacy.ts'
import type { ContactDeps } from './contact.ts'
import { handleReply } from './replies.ts'

/** The ID of the stored reply, so that opting out twice stores one reply. */
const REPLY_ID = 'unsubscribe'

/** Finds the candidate whose link was opened. Unsubscribing is the same as STOP: it applies to all messages of the organisation. */
export function findUnsubscribingCandidate(deps: ContactDeps): FindUnsubscribeTarget {
  return async (queries, tokenHash) => {
    const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates c join people o on o.person_id = c.person_id
      where c.token_hash = ${tokenHash} and o.erased_at is null`.execute(queries)
    if (!rows[0]) return undefined
    const { candidate_id: candidateId } = rows[0]
    const { org_id, state } = (await findCandidacy(queries, candidateId))!
    const { language } = state
    return {
      orgId: org_id,
      language,
      texts: {
        title: prompt('page_stop', language),
        question: prompt('page_stop_sure', language),
        button: prompt('page_stop', language),
        done: prompt('thanks_stopped', language),
      },
      async unsubscribe(tx) {
        const candidate = (await lockCandidacy(tx, candidateId))!
        await handleReply(tx, deps, candidate, { channel: 'page', input: { kind: 'stop' }, providerId: REPLY_ID })
        const { email, mode, org_id: orgId } = candidate
        if (email === null || mode === 'test') return
        await suppressMailbox(tx, deps, {
          address: email,
          audience: 'candidate',
          orgId,
          reason: 'unsubscribed',
          causedBy: candidateId,
        })
      },
    }
  }
}
