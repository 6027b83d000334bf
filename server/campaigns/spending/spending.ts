import { sql } from 'kysely'
import type { OrgScope, WriteScope } from '../../access/caller.ts'
import { invalid } from '../../api/invalid.ts'
import { recordEvent } from '../../events/record.ts'
import type { Clock } from '../../platform/clock.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../../platform/database/database.ts'
import { indianDate } from '../../platform/india-time.ts'
import { type Campaign, campaignRecord, lockControllableCampaign, setHold, statusOf } from '../campaigns.ts'
import { CONTACT_DUE } from '../contact/messages.ts'
import { formatAmount, toMicros } from './money.ts'
import { getSpendingSettings } from './prices.ts'

export type Cap = NonNullable<Campaign['paused_by']>

/** A message whose cost is added to the amounts that its campaign and its organisation spent. */
interface SpendingMessage {
  message_id: string
  campaign_id: string
  org_id: string
  mode: 'test' | 'live'
}

/** Rolls back a reservation that would exceed a cap. */
class CapExceeded extends Error {
  readonly cap: Cap
  constructor(cap: Cap) {
    super(`the cost would exceed the ${cap}`)
    this.cap = cap
  }
}

/**
 * Adds the estimated cost of a claimed message to the amounts spent, unless that exceeds a cap. Both rows stay locked until the commit, so
 * that concurrent workers never exceed a cap together. Returns the cap that the cost would exceed. Confirmation codes are always sent.
 */
export async function reserveCost(
  transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>,
  clock: Clock,
  message: SpendingMessage & { is_code: boolean },
  cost: number,
): Promise<Cap | undefined> {
  if (cost === 0) return undefined
  try {
    await transaction(async (tx) => {
      const { message_id, campaign_id, org_id, mode, is_code } = message
      const day = indianDate(clock.now())
      const scope = { orgId: org_id, mode }
      if (!(await reserveDailyCost(tx, scope, { day, cost }, is_code))) throw new CapExceeded('daily_cap')
      const { rows: campaigns } = await sql`
        insert into campaign_spending as c (campaign_id, org_id, mode, spent)
        select ${campaign_id}, ${org_id}, ${mode}, ${cost}
        where ${is_code} or coalesce(${campaignCap(campaign_id)} >= ${cost}, true)
        on conflict (campaign_id) do update set spent = c.spent + excluded.spent
        where ${is_code} or coalesce(${campaignCap(campaign_id)} >= c.spent + excluded.spent, true)
        returning 1`.execute(tx)
      if (campaigns.length === 0) throw new CapExceeded('campaign_cap')
      await sql`update messages set cost = ${cost}, cost_day = ${day}::date, cost_source = 'estimate'
        where message_id = ${message_id}`.execute(tx)
    })
    return undefined
  } catch (error) {
    if (error instanceof CapExceeded) return error.cap
    throw error
  }
}

/** A cost in millionths, as part of the amount spent on a day in India. */
export interface DailyCost {
  day: string
  cost: number
}

/** Adds a cost to the amount spent on a day. Returns false if that would exceed the daily cap, unless the cost is not limited. */
export async function reserveDailyCost(
  tx: Tx,
  { orgId, mode }: OrgScope,
  { day, cost }: DailyCost,
  isUnlimited = false,
): Promise<boolean> {
  const { rows } = await sql`
    insert into daily_spending as d (org_id, mode, day, spent)
    select ${orgId}, ${mode}, ${day}::date, ${cost}
    where ${isUnlimited} or coalesce(${dailyCap(orgId, mode)} >= ${cost}, true)
    on conflict (org_id, mode, day) do update set spent = d.spent + excluded.spent
    where ${isUnlimited} or coalesce(${dailyCap(orgId, mode)} >= d.spent + excluded.spent, true)
    returning 1`.execute(tx)
  return rows.length > 0
}

/** Removes the cost of a message that belongs to no campaign and was not sent. */
export async function releaseDailyCost(tx: Tx, { orgId, mode }: OrgScope, { day, cost }: DailyCost): Promise<void> {
  await sql`update daily_spending set spent = greatest(0, spent - ${cost})
    where org_id = ${orgId} and mode = ${mode} and day = ${day}::date`.execute(tx)
}

// The arguments of these functions are values or columns.

function dailyCap(orgId: unknown, mode: unknown) {
  return sql`(select daily_cap from spending_settings where org_id = ${orgId} and mode = ${mode})`
}

function campaignCap(campaignId: unknown) {
  return sql`(select spend_cap from campaigns where campaign_id = ${campaignId})`
}

/** Returns the amount that an organisation may still spend on a day, as SQL; null without a cap. */
function dailyAmountLeft(orgId: unknown, mode: unknown, day: string) {
  return sql`(${dailyCap(orgId, mode)} - coalesce((select spent from daily_spending
    where org_id = ${orgId} and mode = ${mode} and day = ${day}::date), 0))`
}

/** Returns the amount that a campaign may still spend, as SQL; null without a cap. */
function campaignAmountLeft(campaignId: unknown) {
  return sql`(${campaignCap(campaignId)} - coalesce((select spent from campaign_spending where campaign_id = ${campaignId}), 0))`
}

/**
 * Replaces the cost of a message, and changes the amounts spent by the difference: a report that arrives twice is counted once. An
 * estimate does not replace a cost that the provider reported. If the cost is lower, the worker resumes the campaigns that may spend again.
 */
export async function setMessageCost(
  tx: Tx,
  clock: Clock,
  messageId: string,
  cost: number,
  source: 'estimate' | 'reported',
): Promise<void> {
  const { rows } = await sql<
    SpendingMessage & { cost: number | null; cost_day: string | null; cost_source: string | null }
  >`select message_id, campaign_id, org_id, mode, cost, cost_day::text, cost_source from messages
    where message_id = ${messageId} for update`.execute(tx)
  const message = rows[0]
  if (!message || (message.cost_source === 'reported' && source === 'estimate')) return
  if (message.cost === cost && message.cost_source === source) return
  const { campaign_id, org_id, mode } = message
  const day = message.cost_day ?? indianDate(clock.now())
  const change = cost - (message.cost ?? 0)
  const reportedBefore = message.cost_source === 'reported' ? message.cost! : 0
  const reportedChange = (source === 'reported' ? cost : 0) - reportedBefore
  await sql`insert into daily_spending as d (org_id, mode, day, spent) values (${org_id}, ${mode}, ${day}::date, ${Math.max(0, change)})
    on conflict (org_id, mode, day) do update set spent = greatest(0, d.spent + ${change})`.execute(tx)
  await sql`insert into campaign_spending as c (campaign_id, org_id, mode, spent, reported)
    values (${campaign_id}, ${org_id}, ${mode}, ${Math.max(0, change)}, ${reportedChange})
    on conflict (campaign_id) do update set spent = greatest(0, c.spent + ${change}), reported = c.reported + ${reportedChange}`.execute(
    tx,
  )
  await sql`update messages set cost = ${cost}, cost_day = ${day}::date, cost_source = ${source}
    where message_id = ${messageId}`.execute(tx)
  if (change < 0) notifyAfterCommit(tx, CONTACT_DUE)
}

/** Removes the estimated cost of a message that was not sent. */
export async function releaseCost(tx: Tx, clock: Clock, messageId: string): Promise<void> {
  const { rows } = await sql`select from messages where message_id = ${messageId} and cost > 0`.execute(tx)
  if (rows.length > 0) await setMessageCost(tx, clock, messageId, 0, 'estimate')
}

/**
 * Returns a message that would exceed a cap to the queue, and pauses its campaign with the cap as the reason. Does not pause the campaign if
 * the cap was raised in the meantime. A completed or archived campaign is not paused, and its last responses are dropped.
 */
export async function pauseForCap(
  tx: Tx,
  clock: Clock,
  message: SpendingMessage,
  cost: number,
  cap: Cap,
): Promise<void> {
  const { message_id, campaign_id, org_id: orgId, mode } = message
  const now = clock.now()
  const day = indianDate(now)
  await sql`update messages set state = 'queued', attempts = attempts - 1, leased_until = null
    where message_id = ${message_id} and state = 'sending'`.execute(tx)
  // Raising the daily cap changes the settings first, then resumes campaigns. The lock runs that change and this pause one after the other.
  await sql`select from spending_settings where org_id = ${orgId} and mode = ${mode} for share`.execute(tx)
  const { rows } = await sql<Campaign>`select * from campaigns where campaign_id = ${campaign_id} for update`.execute(
    tx,
  )
  const campaign = rows[0]!
  const left = (await amountsLeft(tx, message, day))[cap]
  if (left === null || left >= cost) return notifyAfterCommit(tx, CONTACT_DUE)
  if (['completed', 'archived'].includes(statusOf(campaign, now))) {
    await sql`update messages set state = 'dropped', updated_at = ${new Date(now)}
      where message_id = ${message_id} and state = 'queued'`.execute(tx)
    return
  }
  if (campaign.hold !== null) return
  await sql`update contacts set held = true where campaign_id = ${campaign_id}`.execute(tx)
  const paused = await setHold(tx, clock, campaign_id, 'paused', { cap, day, cost })
  await recordEvent(tx, { orgId, mode }, clock, 'campaign.paused', campaignRecord(paused, now))
}

/** Returns the amounts that may still be spent, in millionths; null without a cap. */
async function amountsLeft(
  tx: Tx,
  { campaign_id, org_id, mode }: SpendingMessage,
  day: string,
): Promise<Record<Cap, number | null>> {
  const { rows } = await sql<Record<Cap, number | null>>`
    select ${dailyAmountLeft(org_id, mode, day)} as daily_cap, ${campaignAmountLeft(campaign_id)} as campaign_cap`.execute(
    tx,
  )
  return rows[0]!
}

/**
 * Resumes the campaigns that a daily cap paused on an earlier day, and those that may send the next message again, because an earlier message
 * cost less than estimated.
 */
export async function resumeWithinCaps(tx: Tx, clock: Clock): Promise<void> {
  await resumePaused(tx, clock, maySendNext(indianDate(clock.now())))
}

/** Returns the next time at which `resumeWithinCaps` resumes a campaign, as SQL. */
export function nextCapResumption(now: number) {
  return sql`(select min(case when ${maySendNext(indianDate(now))} then ${new Date(now)}::timestamptz
      when g.paused_by = 'daily_cap' then (g.paused_on + 1)::timestamp at time zone 'Asia/Kolkata' end)
    from campaigns g where g.paused_by is not null)`
}

/** Returns the condition that the cap that paused the campaign `g` covers the message that would have exceeded it. */
function maySendNext(today: string) {
  return sql`case g.paused_by
    when 'daily_cap' then g.paused_on < ${today}::date
      or coalesce(${dailyAmountLeft(sql`g.org_id`, sql`g.mode`, today)} >= g.paused_cost, true)
    when 'campaign_cap' then coalesce(${campaignAmountLeft(sql`g.campaign_id`)} >= g.paused_cost, true) end`
}

async function resumePaused(tx: Tx, clock: Clock, condition: ReturnType<typeof sql>): Promise<void> {
  const { rows } = await sql<{ campaign_id: string }>`
    select campaign_id from campaigns g where g.paused_by is not null and ${condition} and g.hold = 'paused'
    order by campaign_id for update`.execute(tx)
  for (const { campaign_id } of rows) {
    await sql`update contacts set held = false where campaign_id = ${campaign_id}`.execute(tx)
    await setHold(tx, clock, campaign_id, null)
  }
  if (rows.length > 0) notifyAfterCommit(tx, CONTACT_DUE)
}

/** Sets the daily cap of an organisation, or removes it with null, and resumes the campaigns that may spend again. */
export async function setDailyCap(
  tx: Tx,
  clock: Clock,
  { orgId, mode }: OrgScope,
  amount: number | null,
): Promise<void> {
  const cap = amount === null ? null : toMicros(amount)
  await sql`insert into spending_settings (org_id, mode, daily_cap, updated_at)
    values (${orgId}, ${mode}, ${cap}, ${new Date(clock.now())})
    on conflict (org_id, mode) do update set daily_cap = excluded.daily_cap, updated_at = excluded.updated_at`.execute(
    tx,
  )
  const { spentToday } = await getSpendingToday(tx, clock, { orgId, mode })
  if (cap === null || cap > spentToday)
    await resumePaused(tx, clock, sql`paused_by = 'daily_cap' and org_id = ${orgId} and mode = ${mode}`)
}

/** Sets the cap of a campaign, or removes it with null, and resumes the campaign if the cap has paused it and no longer applies. */
export async function setCampaignCap(
  tx: Tx,
  clock: Clock,
  scope: WriteScope,
  campaignId: string,
  amount: number | null,
): Promise<void> {
  const campaign = await lockControllableCampaign(tx, scope, campaignId)
  const { prices } = await getSpendingSettings(tx, scope)
  const { spent } = await campaignSpending(tx, campaignId)
  const cap = amount === null ? null : toMicros(amount)
  if (cap !== null && cap < spent && (campaign.spend_cap === null || cap < campaign.spend_cap))
    throw invalid([
      {
        path: 'spend_cap',
        message: `must be at least the amount already spent, ${formatAmount(spent, prices.currency)}; pause the campaign to stop it`,
      },
    ])
  await sql`update campaigns set spend_cap = ${cap} where campaign_id = ${campaignId}`.execute(tx)
  if (cap === null || cap > spent)
    await resumePaused(tx, clock, sql`paused_by = 'campaign_cap' and campaign_id = ${campaignId}`)
}

/** Returns the amount that a campaign spent, and the part that providers reported, in millionths. */
export async function campaignSpending(
  queries: Queries,
  campaignId: string,
): Promise<{ spent: number; reported: number }> {
  const { rows } = await sql<{ spent: number; reported: number }>`
    select spent, reported from campaign_spending where campaign_id = ${campaignId}`.execute(queries)
  return rows[0] ?? { spent: 0, reported: 0 }
}

/** Returns the current day in India, and the amount that an organisation spent on it, in millionths. */
export async function getSpendingToday(
  queries: Queries,
  clock: Clock,
  { orgId, mode }: OrgScope,
): Promise<{ day: string; spentToday: number }> {
  const day = indianDate(clock.now())
  const { rows } = await sql<{ spent: number }>`
    select spent from daily_spending where org_id = ${orgId} and mode = ${mode} and day = ${day}::date`.execute(queries)
  return { day, spentToday: rows[0]?.spent ?? 0 }
}
