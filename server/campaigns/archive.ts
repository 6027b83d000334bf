import { sql } from 'kysely'
import type { WriteScope } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { type Campaign, getCampaign, lockControllableCampaign, setHold } from './campaigns.ts'
import { lockCandidacies } from './candidacy.ts'
import { recordTransitions } from './progress.ts'

/** Archives a campaign permanently and fails its pending candidates. Idempotent. */
export async function archiveCampaign(tx: Tx, scope: WriteScope, clock: Clock, id: string): Promise<Campaign> {
  await getCampaign(tx, scope, id)
  // Lock order: candidates before their campaign.
  await lockPending(tx, id)
  const campaign = await lockControllableCampaign(tx, scope, id)
  if (campaign.hold === 'archived') return campaign
  await setHold(tx, clock, id, 'archived')
  const pending = await lockPending(tx, id)
  for (let from = 0; from < pending.length; from += BATCH_SIZE) {
    const batch = await lockCandidacies(tx, pending.slice(from, from + BATCH_SIZE))
    const end = { status: 'failed', reason: 'stopped' } as const
    await recordTransitions(
      tx,
      clock,
      batch.map((before) => ({ before, end })),
    )
  }
  return getCampaign(tx, scope, id)
}

/** Candidates loaded at a time. */
const BATCH_SIZE = 1000

async function lockPending(tx: Tx, campaignId: string): Promise<string[]> {
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidate_progress where campaign_id = ${campaignId} and status = 'pending'
    order by candidate_id for update`.execute(tx)
  return rows.map(({ candidate_id }) => candidate_id)
}
