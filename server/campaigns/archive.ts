import { sql } from 'kysely'
import type { Changer } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { type Campaign, getCampaign, hold, lockSteerable } from './campaigns.ts'
import { lockCandidacies } from './candidacy.ts'
import { recordSteps } from './progress.ts'

/** Archives it, for good: nobody is contacted any more, and whoever is pending has failed. Done already: nothing changes. */
export async function archiveCampaign(tx: Tx, scope: Changer, clock: Clock, id: string): Promise<Campaign> {
  await getCampaign(tx, scope, id)
  // Candidates before their campaign, in the order in which everybody locks them.
  await lockPending(tx, id)
  const campaign = await lockSteerable(tx, scope, id)
  if (campaign.hold === 'archived') return campaign
  await hold(tx, clock, id, 'archived')
  const pending = await lockPending(tx, id)
  for (let from = 0; from < pending.length; from += CHUNK) {
    const some = await lockCandidacies(tx, pending.slice(from, from + CHUNK))
    const end = { status: 'failed', reason: 'stopped' } as const
    await recordSteps(
      tx,
      clock,
      some.map((before) => ({ before, end })),
    )
  }
  return getCampaign(tx, scope, id)
}

/** Candidates in memory at a time. */
const CHUNK = 1000

async function lockPending(tx: Tx, campaignId: string): Promise<string[]> {
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidate_progress where campaign_id = ${campaignId} and status = 'pending'
    order by candidate_id for update`.execute(tx)
  return rows.map(({ candidate_id }) => candidate_id)
}
