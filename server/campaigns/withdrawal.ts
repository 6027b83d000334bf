import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { lockCandidacy } from './candidacy.ts'
import { recordTransitions } from './progress.ts'
import { hasReached } from './stages.ts'

/**
 * Ends a pending candidate because the order was withdrawn: the result is `failed` with the reason `stopped`, and the credit is refunded
 * if the candidate was never contacted. Returns false if the conversation has ended before.
 */
export async function withdrawCandidate(tx: Tx, clock: Clock, candidateId: string): Promise<boolean> {
  const candidate = await lockCandidacy(tx, candidateId)
  if (candidate?.status !== 'pending') return false
  const refund = !hasReached(candidate.stages, 'contacted')
  await recordTransitions(tx, clock, [{ before: candidate, end: { status: 'failed', reason: 'stopped' }, refund }])
  return true
}
