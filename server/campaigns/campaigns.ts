import { sql } from 'kysely'
import { type Changer, type OwnerScope, requireMadeHere } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { recordEvent } from '../events/record.ts'
import { holdMandate } from '../mandates/mandate-rows.ts'
import { onMandateArchiving, PREPARING_TAKES } from '../mandates/mandates.ts'
import { type Clock, DAY, readMoment } from '../platform/clock.ts'
import { announce, type Queries, type Tx } from '../platform/database/database.ts'
import { invalid } from '../platform/http/validation.ts'
import { newId } from '../platform/ids.ts'
import type { CreatedVia } from '../workflows/workflows.ts'
import { CONTACT_DUE } from './contact/messages.ts'

export const campaignStatuses = ['scheduled', 'running', 'paused', 'completed', 'archived'] as const
export type CampaignStatus = (typeof campaignStatuses)[number]

export interface Campaign {
  campaign_id: string
  org_id: string
  mode: 'test' | 'live'
  mandate_id: string
  workflow_id: string
  job_id: string | null
  name: string | null
  created_via: CreatedVia
  flow_version: number
  hold: 'paused' | 'archived' | null
  starts_at: Date
  candidates: number
  pending: number
  completed: number
  declined: number
  failed: number
  version: number
  created_at: Date
  updated_at: Date
  completed_at: Date | null
}

/** Where a campaign stands, from what is kept of it and the time. */
export function statusOf(campaign: Campaign, now: number): CampaignStatus {
  if (campaign.hold === 'archived') return 'archived'
  if (campaign.candidates > 0 && campaign.pending === 0) return 'completed'
  if (campaign.hold === 'paused') return 'paused'
  return campaign.starts_at.getTime() > now ? 'scheduled' : 'running'
}

/** What partners are shown, and what events carry. */
export function campaignRecord(campaign: Campaign, now: number) {
  const { candidates, pending, completed, declined, failed } = campaign
  return {
    campaign_id: campaign.campaign_id,
    created_via: campaign.created_via,
    mandate_id: campaign.mandate_id,
    job_id: campaign.job_id,
    ...(campaign.name === null ? {} : { name: campaign.name }),
    status: statusOf(campaign, now),
    counts: { candidates, pending, completed, declined, failed },
    flow_version: campaign.flow_version,
    version: campaign.version,
    starts_at: campaign.starts_at.toISOString(),
    created_at: campaign.created_at.toISOString(),
    updated_at: campaign.updated_at.toISOString(),
    completed_at: campaign.completed_at?.toISOString() ?? null,
  }
}

export interface CampaignInput {
  mandate_id: string
  name?: string
  starts_at?: string
}

/** How far ahead a campaign may be planned. */
const FURTHEST_START = 30 * DAY

/** What is wrong with a start; undefined if nothing is. */
export function startFault(text: string, now: number): string | undefined {
  const time = readMoment(text)
  if (time === undefined) return 'must be ISO 8601 with a time zone, such as 2030-01-31T09:00:00Z'
  return time > now + FURTHEST_START ? 'must be within 30 days' : undefined
}

/** Milliseconds since 1970; a start that has passed is one at once. */
function readStart(text: string | undefined, now: number): number {
  if (text === undefined) return now
  const fault = startFault(text, now)
  if (fault) throw invalid([{ path: 'starts_at', message: fault }])
  return Math.max(readMoment(text)!, now)
}

/** A campaign for a mandate whose questions are ready. */
export async function createCampaign(
  tx: Tx,
  scope: OwnerScope,
  clock: Clock,
  { mandate_id, name, starts_at }: CampaignInput,
  via: CreatedVia,
): Promise<Campaign> {
  const now = clock.now()
  const starts = readStart(starts_at, now)
  const mandate = await holdMandate(tx, scope, mandate_id)
  if (!mandate)
    throw invalid([
      {
        path: 'mandate_id',
        message: "is not one of the organisation's mandates; GET /mandates lists those of this key's mode",
      },
    ])
  if (mandate.status !== 'ready')
    throw problem('CONFLICT', `The mandate is ${mandate.status}; a campaign needs one that is ready.`, {
      ...(mandate.status === 'preparing' ? { retryAfter: PREPARING_TAKES } : {}),
    })
  const { rows } = await sql<Campaign>`
    insert into campaigns (campaign_id, org_id, mode, mandate_id, workflow_id, job_id, name, created_via, flow_version,
      starts_at, created_at, updated_at)
    values (${newId('CP_', now)}, ${scope.orgId}, ${scope.mode}, ${mandate_id}, ${mandate.workflow_id}, ${mandate.job_id},
      ${name ?? null}, ${via}, ${mandate.flow_version}, ${new Date(starts)}, ${new Date(now)}, ${new Date(now)})
    returning *`.execute(tx)
  return rows[0]!
}

export async function findCampaign(
  tx: Queries,
  { orgId, mode }: OwnerScope,
  id: string,
): Promise<Campaign | undefined> {
  const { rows } = await sql<Campaign>`
    select * from campaigns where campaign_id = ${id} and org_id = ${orgId} and mode = ${mode}`.execute(tx)
  return rows[0]
}

export async function getCampaign(tx: Queries, scope: OwnerScope, id: string): Promise<Campaign> {
  return (await findCampaign(tx, scope, id)) ?? missing(id)
}

/** Holds the row: nobody enrols, pauses or archives meanwhile. */
export async function lockCampaign(tx: Tx, { orgId, mode }: OwnerScope, id: string): Promise<Campaign> {
  const { rows } = await sql<Campaign>`
    select * from campaigns where campaign_id = ${id} and org_id = ${orgId} and mode = ${mode} for update`.execute(tx)
  return rows[0] ?? missing(id)
}

/** Newest first. */
export async function listCampaigns(
  tx: Queries,
  { orgId, mode }: OwnerScope,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<Campaign[]> {
  const { rows } = await sql<Campaign>`
    select * from campaigns where org_id = ${orgId} and mode = ${mode}
      and (${before ?? null}::text is null or campaign_id < ${before ?? null})
    order by campaign_id desc limit ${limit}`.execute(tx)
  return rows
}

/** Nobody is contacted until it goes on. */
export async function pauseCampaign(tx: Tx, scope: Changer, clock: Clock, id: string): Promise<Campaign> {
  const campaign = await lockSteerable(tx, scope, id)
  const status = statusOf(campaign, clock.now())
  if (status !== 'running') throw problem('CONFLICT', `Only a running campaign can be paused; this one is ${status}.`)
  await sql`update contacts set held = true where campaign_id = ${id}`.execute(tx)
  return hold(tx, clock, id, 'paused')
}

export async function resumeCampaign(tx: Tx, scope: Changer, clock: Clock, id: string): Promise<Campaign> {
  const campaign = await lockSteerable(tx, scope, id)
  const status = statusOf(campaign, clock.now())
  if (status !== 'paused') throw problem('CONFLICT', `Only a paused campaign can go on; this one is ${status}.`)
  await sql`update contacts set held = false where campaign_id = ${id}`.execute(tx)
  announce(tx, CONTACT_DUE)
  return hold(tx, clock, id, null)
}

export async function hold(tx: Tx, clock: Clock, id: string, held: Campaign['hold']): Promise<Campaign> {
  const { rows } = await sql<Campaign>`
    update campaigns set hold = ${held}, version = version + 1, updated_at = ${new Date(clock.now())}
    where campaign_id = ${id} returning *`.execute(tx)
  return rows[0]!
}

/** Refused where it was not made; for adding people to it. */
export async function lockChangeable(tx: Tx, scope: Changer, id: string): Promise<Campaign> {
  const campaign = await lockCampaign(tx, scope, id)
  requireMadeHere('campaign', campaign.created_via, scope)
  return campaign
}

/** For holding a campaign back and ending it: the console may do that with every campaign, in case it must be stopped. */
export async function lockSteerable(tx: Tx, scope: Changer, id: string): Promise<Campaign> {
  return scope.via === 'playground' ? lockCampaign(tx, scope, id) : lockChangeable(tx, scope, id)
}

export type Ended = Record<'completed' | 'declined' | 'failed', number>

/** Counts those who are pending no longer; answers the campaign where that was the last of them. */
export async function countEnded(tx: Tx, clock: Clock, id: string, ended: Ended): Promise<Campaign | undefined> {
  const { completed, declined, failed } = ended
  const now = clock.now()
  const { rows } = await sql<Campaign>`
    update campaigns set pending = pending - ${completed + declined + failed}, completed = completed + ${completed},
      declined = declined + ${declined}, failed = failed + ${failed}, version = version + 1, updated_at = ${new Date(now)},
      completed_at = case when pending = ${completed + declined + failed} and hold is distinct from 'archived'
        then ${new Date(now)} else completed_at end
    where campaign_id = ${id} returning *`.execute(tx)
  const campaign = rows[0]!
  return statusOf(campaign, now) === 'completed' ? campaign : undefined
}

export async function tellCompleted(tx: Tx, clock: Clock, campaign: Campaign): Promise<void> {
  const now = clock.now()
  const scope = { orgId: campaign.org_id, mode: campaign.mode }
  await recordEvent(tx, scope, clock, 'campaign.completed', campaignRecord(campaign, now))
}

/** A mandate with people still to be contacted for it stays. */
onMandateArchiving(async (tx, { mandate_id }) => {
  const { rows } = await sql<{ campaign_id: string }>`
    select campaign_id from campaigns where mandate_id = ${mandate_id} and hold is distinct from 'archived'
      and (candidates = 0 or pending > 0) limit 1`.execute(tx)
  if (rows[0])
    throw problem('CONFLICT', `The campaign ${rows[0].campaign_id} of this mandate is not over; archive it first.`)
})

function missing(id: string): never {
  throw problem('NOT_FOUND', `There is no campaign ${id}.`)
}
