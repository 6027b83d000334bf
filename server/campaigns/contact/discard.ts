import { sql } from 'kysely'
import { startConversation } from '../../conversation/conversation.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { lockClock } from '../../test-clocks/test-clocks.ts'
import { lockCandidacy } from '../candidacy.ts'
import { recordTransitions } from '../progress.ts'
import { hasReached } from '../stages.ts'

/**
 * Ends a candidate whose contact cannot be processed: the result is `failed`, and the credit is refunded if the candidate was never
 * contacted. A conversation that cannot be read is replaced by a new one, because the result contains it.
 */
export async function discardContact(tx: Tx, serverClock: Clock, candidateId: string): Promise<void> {
  await replaceUnreadableConversation(tx, candidateId)
  const candidate = await lockCandidacy(tx, candidateId)
  if (candidate?.status === 'pending')
    await recordTransitions(tx, await lockClock(tx, serverClock, candidate.test_clock_id), [
      {
        before: candidate,
        end: { status: 'failed', reason: 'unreachable' },
        refund: !hasReached(candidate.stages, 'contacted'),
      },
    ])
  await sql`delete from contacts where candidate_id = ${candidateId}`.execute(tx)
}

async function replaceUnreadableConversation(tx: Tx, candidateId: string) {
  const { rows } = await sql<{ conversation: string }>`
    select conversation from candidate_progress where candidate_id = ${candidateId} for update`.execute(tx)
  if (!rows[0] || isReadable(rows[0].conversation)) return
  await sql`update candidate_progress set conversation = ${JSON.stringify(startConversation('en', false, ''))}, personal = null
    where candidate_id = ${candidateId}`.execute(tx)
}

function isReadable(conversation: string): boolean {
  try {
    const state = JSON.parse(conversation)
    return typeof state?.point?.at === 'string' && typeof state.language === 'string'
  } catch {
    return false
  }
}

/** Gives up a send whose outcome cannot be recorded. It may have been sent, so it is not repeated. */
export async function discardLostSend(tx: Tx, clock: Clock, messageId: string): Promise<void> {
  await sql`update messages set state = 'unknown', leased_until = null, error = 'discarded by an operator',
    updated_at = ${new Date(clock.now())} where message_id = ${messageId} and state = 'sending'`.execute(tx)
}
