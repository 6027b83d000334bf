import { sql } from 'kysely'
import type { WriteScope } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { lockClock } from '../test-clocks/test-clocks.ts'
import { type Campaign, getCampaign, lockControllableCampaign, setHold } from './campaigns.ts'
import { lockCandidacies } from './candidacy.ts'
import { recordTransitions } from './progress.ts'

/** Archives a campaign permanently and fails its pending candidates. Idempotent. */
export async function archiveCampaign(tx: Tx, scope: WriteScope, serverClock: Clock, id: string): Promise<Campaign> {
  await getCampaign(tx, scope, id)
  // Lock order: candidates before their campaign.
  await lockPendingCandidates(tx, id)
  const campaign = await lockControllableCampaign(tx, scope, id)
  if (campaign.hold === 'archived') return campaign
  const clock = await lockClock(tx, serverClock, campaign.test_clock_id)
  await setHold(tx, clock, id, 'archived')
  // Includes candidates who were enrolled before the campaign was locked.
  const pendingIds = await lockPendingCandidates(tx, id)
  for (let start = 0; start < pendingIds.length; start += MAX_BATCH_CANDIDATES) {
    const batch = await lockCandidacies(tx, pendingIds.slice(start, start + MAX_BATCH_CANDIDATES))
    const finalState = { status: 'failed', reason: 'stopped' } as const
    await recordTransitions(
      tx,
      clock,
      batch.map((before) => ({ before, end: finalState })),
    )
  }
  return getCampaign(tx, scope, id)
}

/** Maximum number of candidates whose failure is recorded at a time. */
const MAX_BATCH_CANDIDATES = 1000

async function lockPendingCandidates(tx: Tx, campaignId: string): Promise<string[]> {
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidate_progress where campaign_id = ${campaignId} and status = 'pending'
    order by candidate_id for update`.execute(tx)
  return rows.map(({ candidate_id }) => candidate_id)
}
