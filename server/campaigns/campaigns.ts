import { sql } from 'kysely'
import { type OrgScope, requireCreatedVia, type WriteScope } from '../access/caller.ts'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import { recordEvent } from '../events/record.ts'
import { type Mandate, shareLockMandate } from '../mandates/mandate-rows.ts'
import { MAX_PREPARATION_SECONDS } from '../mandates/mandates.ts'
import { type Clock, DAY, parseTimestamp } from '../platform/clock.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import { newId } from '../platform/ids.ts'
import { attachTestClock, lockClock, TEST_CLOCK_DUE } from '../test-clocks/test-clocks.ts'
import type { CreatedVia } from '../workflows/enums.ts'
import { CONTACT_DUE } from './contact/messages.ts'
import { fromMicros, toMicros } from './spending/money.ts'

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
  /** Why the campaign currently contacts no candidates; null if it does contact them. */
  hold: 'paused' | 'archived' | null
  /** Maximum amount that the campaign may spend, in millionths; null without a cap. */
  spend_cap: number | null
  /** The cap that paused the campaign; null if it is not paused, or a person paused it. */
  paused_by: 'campaign_cap' | 'daily_cap' | null
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
  /** The test clock whose time applies; null in real time. */
  test_clock_id: string | null
}

/** Derives the status from the stored campaign and the current time. */
export function statusOf(campaign: Campaign, now: number): CampaignStatus {
  if (campaign.hold === 'archived') return 'archived'
  if (campaign.candidates > 0 && campaign.pending === 0) return 'completed'
  if (campaign.hold === 'paused') return 'paused'
  return campaign.starts_at.getTime() > now ? 'scheduled' : 'running'
}

/** Whether the campaign `g` is paused, as SQL. A campaign whose candidates have all ended is completed, also if it was paused before. */
export const isPausedCampaign = sql`(g.hold is not distinct from 'paused' and (g.pending > 0 or g.candidates = 0))`

/** Returns the API representation of a campaign, which is also the payload of its events. */
export function campaignRecord(campaign: Campaign, now: number) {
  const { candidates, pending, completed, declined, failed } = campaign
  return {
    campaign_id: campaign.campaign_id,
    created_via: campaign.created_via,
    mandate_id: campaign.mandate_id,
    job_id: campaign.job_id,
    ...(campaign.name === null ? {} : { name: campaign.name }),
    ...(campaign.test_clock_id === null ? {} : { test_clock_id: campaign.test_clock_id }),
    status: statusOf(campaign, now),
    ...(campaign.spend_cap === null ? {} : { spend_cap: fromMicros(campaign.spend_cap) }),
    ...(campaign.paused_by === null ? {} : { paused_by: campaign.paused_by }),
    counts: { candidates, pending, completed, declined, failed },
    flow_version: campaign.flow_version,
    version: campaign.version,
    starts_at: campaign.starts_at.toISOString(),
    created_at: campaign.created_at.toISOString(),
    updated_at: campaign.updated_at.toISOString(),
    completed_at: campaign.completed_at?.toISOString() ?? null,
  }
}

export interface NewCampaign {
  mandate_id: string
  name?: string
  starts_at?: string
  test_clock_id?: string
  spend_cap?: number
}

const MAX_START_DELAY_MS = 30 * DAY

/** Returns a validation message for `starts_at`; undefined if it is valid. */
export function startsAtError(text: string, now: number): string | undefined {
  const time = parseTimestamp(text)
  if (time === undefined) return 'must be ISO 8601 with a time zone, such as 2030-01-31T09:00:00Z'
  return time > now + MAX_START_DELAY_MS ? 'must be at most 30 days in the future' : undefined
}

/** Returns the start time in epoch milliseconds; a time in the past means now. */
function parseStartTime(text: string | undefined, now: number): number {
  if (text === undefined) return now
  const message = startsAtError(text, now)
  if (message) throw invalid([{ path: 'starts_at', message }])
  return Math.max(parseTimestamp(text)!, now)
}

function notReadyMessage(status: Mandate['status']): string {
  if (status === 'archived') return 'The mandate is archived; choose another mandate.'
  if (status === 'failed')
    return 'Preparing the mandate failed; retry it with POST /mandates/{mandate_id}/retry before you create a campaign.'
  return `The mandate is ${status}; it must be ready before a campaign can be created. Try again after the time in the Retry-After header.`
}

/** Creates a campaign for a mandate that is ready. */
export async function createCampaign(
  tx: Tx,
  scope: OrgScope,
  serverClock: Clock,
  { mandate_id, name, starts_at, test_clock_id, spend_cap }: NewCampaign,
  via: CreatedVia,
): Promise<Campaign> {
  const clock = await attachTestClock(tx, scope, serverClock, test_clock_id, 'test_clock_id')
  const now = clock.now()
  const startTime = parseStartTime(starts_at, now)
  const mandate = await shareLockMandate(tx, scope, mandate_id)
  if (!mandate)
    throw invalid([
      {
        path: 'mandate_id',
        message: 'is not a mandate of this organisation and mode; find mandate IDs with GET /mandates',
      },
    ])
  if (mandate.status !== 'ready')
    throw problem('CONFLICT', notReadyMessage(mandate.status), {
      ...(mandate.status === 'preparing' ? { retryAfter: MAX_PREPARATION_SECONDS } : {}),
    })
  const { rows } = await sql<Campaign>`
    insert into campaigns (campaign_id, org_id, mode, mandate_id, workflow_id, job_id, name, created_via, flow_version,
      starts_at, created_at, updated_at, test_clock_id, spend_cap)
    values (${newId('CP_', now)}, ${scope.orgId}, ${scope.mode}, ${mandate_id}, ${mandate.workflow_id}, ${mandate.job_id},
      ${name ?? null}, ${via}, ${mandate.flow_version}, ${new Date(startTime)}, ${new Date(now)}, ${new Date(now)}, ${test_clock_id ?? null},
      ${spend_cap === undefined ? null : toMicros(spend_cap)})
    returning *`.execute(tx)
  return rows[0]!
}

export async function findCampaign(tx: Queries, { orgId, mode }: OrgScope, id: string): Promise<Campaign | undefined> {
  const { rows } = await sql<Campaign>`
    select * from campaigns where campaign_id = ${id} and org_id = ${orgId} and mode = ${mode}`.execute(tx)
  return rows[0]
}

export async function getCampaign(tx: Queries, scope: OrgScope, id: string): Promise<Campaign> {
  return (await findCampaign(tx, scope, id)) ?? notFound(id)
}

/** Locks the row against concurrent enrolment, pausing and archiving. */
async function lockCampaign(tx: Tx, { orgId, mode }: OrgScope, id: string): Promise<Campaign> {
  const { rows } = await sql<Campaign>`
    select * from campaigns where campaign_id = ${id} and org_id = ${orgId} and mode = ${mode} for update`.execute(tx)
  return rows[0] ?? notFound(id)
}

/** Lists campaigns, newest first. */
export async function listCampaigns(
  tx: Queries,
  { orgId, mode }: OrgScope,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<Campaign[]> {
  const { rows } = await sql<Campaign>`
    select * from campaigns where org_id = ${orgId} and mode = ${mode}
      and (${before ?? null}::text is null or campaign_id < ${before ?? null})
    order by campaign_id desc limit ${limit}`.execute(tx)
  return rows
}

/** Pauses a campaign: its candidates are not contacted until it is resumed. A campaign that a cap paused then no longer resumes on its own. */
export async function pauseCampaign(tx: Tx, scope: WriteScope, serverClock: Clock, id: string): Promise<Campaign> {
  const campaign = await lockControllableCampaign(tx, scope, id)
  const clock = await lockClock(tx, serverClock, campaign.test_clock_id)
  const status = statusOf(campaign, clock.now())
  if (status !== 'running' && !(status === 'paused' && campaign.paused_by !== null))
    throw problem('CONFLICT', `Only running campaigns can be paused; this campaign is ${status}.`)
  await sql`update contacts set held = true where campaign_id = ${id}`.execute(tx)
  return setHold(tx, clock, id, 'paused')
}

export async function resumeCampaign(tx: Tx, scope: WriteScope, serverClock: Clock, id: string): Promise<Campaign> {
  const campaign = await lockControllableCampaign(tx, scope, id)
  const clock = await lockClock(tx, serverClock, campaign.test_clock_id)
  const status = statusOf(campaign, clock.now())
  if (status !== 'paused')
    throw problem('CONFLICT', `Only paused campaigns can be resumed; this campaign is ${status}.`)
  await sql`update contacts set held = ${campaign.test_clock_id !== null} where campaign_id = ${id}`.execute(tx)
  notifyAfterCommit(tx, campaign.test_clock_id === null ? CONTACT_DUE : TEST_CLOCK_DUE)
  return setHold(tx, clock, id, null)
}

/** The cap that pauses a campaign, the day in India, and the cost of the message that would exceed the cap, in millionths. */
interface CapPause {
  cap: NonNullable<Campaign['paused_by']>
  day: string
  cost: number
}

/** Runs in the transaction that pauses, resumes or archives a campaign. */
export const campaignHoldChanged =
  defineHook<[tx: Tx, clock: Clock, campaign: Campaign]>('campaignHoldChanged').handledBy('ats')

export async function setHold(
  tx: Tx,
  clock: Clock,
  id: string,
  hold: Campaign['hold'],
  capPause?: CapPause,
): Promise<Campaign> {
  const { rows } = await sql<Campaign>`
    update campaigns set hold = ${hold}, paused_by = ${capPause?.cap ?? null}, paused_on = ${capPause?.day ?? null}::date,
      paused_cost = ${capPause?.cost ?? null}, version = version + 1, updated_at = ${new Date(clock.now())}
    where campaign_id = ${id} returning *`.execute(tx)
  await campaignHoldChanged.run(tx, clock, rows[0]!)
  return rows[0]!
}

/** Locks a campaign for enrolment; throws unless it was created via the same interface (API or console). */
export async function lockEditableCampaign(tx: Tx, scope: WriteScope, id: string): Promise<Campaign> {
  const campaign = await lockCampaign(tx, scope, id)
  requireCreatedVia('campaign', campaign.created_via, scope)
  return campaign
}

/** Locks a campaign for pausing, resuming or archiving, which the console may do with every campaign. */
export async function lockControllableCampaign(tx: Tx, scope: WriteScope, id: string): Promise<Campaign> {
  return scope.via === 'playground' ? lockCampaign(tx, scope, id) : lockEditableCampaign(tx, scope, id)
}

export type EndedCounts = Record<'completed' | 'declined' | 'failed', number>

/** Adds ended candidates to the campaign's counts; returns the campaign if this completed it. */
export async function countEndedCandidates(
  tx: Tx,
  clock: Clock,
  id: string,
  endedCounts: EndedCounts,
): Promise<Campaign | undefined> {
  const { completed, declined, failed } = endedCounts
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

export async function recordCompletion(tx: Tx, clock: Clock, campaign: Campaign): Promise<void> {
  const now = clock.now()
  const scope = { orgId: campaign.org_id, mode: campaign.mode }
  await recordEvent(tx, scope, clock, 'campaign.completed', campaignRecord(campaign, now))
}

/** Throws CONFLICT while a campaign of the mandate still has candidates to contact. */
export async function requireNoOpenCampaign(tx: Tx, { mandate_id }: Pick<Mandate, 'mandate_id'>): Promise<void> {
  const { rows } = await sql<{ campaign_id: string }>`
    select campaign_id from campaigns where mandate_id = ${mandate_id} and hold is distinct from 'archived'
      and (candidates = 0 or pending > 0) limit 1`.execute(tx)
  if (rows[0])
    throw problem('CONFLICT', `Campaign ${rows[0].campaign_id} of this mandate is still open; archive it first.`)
}

function notFound(id: string): never {
  throw problem('NOT_FOUND', `Campaign ${id} not found.`)
}
