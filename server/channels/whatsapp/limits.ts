import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'

/** People to whom the business may send templates within 24 hours, as WhatsApp reported it. */
export interface MessagingLimit {
  /** null: unlimited. */
  dailyLimit: number | null
  /** The event in WhatsApp's report about the limit, such as UPGRADE or FLAGGED. */
  event: string | null
}

const tiers: Record<string, number | null> = {
  TIER_50: 50,
  TIER_250: 250,
  TIER_1K: 1000,
  TIER_2K: 2000,
  TIER_10K: 10_000,
  TIER_100K: 100_000,
  TIER_UNLIMITED: null,
}

/** Returns the number of people of a tier; undefined for an unknown tier. */
export function readTier(value: unknown): number | null | undefined {
  return typeof value === 'string' && Object.hasOwn(tiers, value) ? tiers[value] : undefined
}

export async function saveMessagingLimit(
  tx: Tx,
  clock: Clock,
  { orgId, mode }: OrgScope,
  { dailyLimit, event }: MessagingLimit,
): Promise<void> {
  await sql`
    insert into whatsapp_limits (org_id, mode, daily_limit, event, updated_at)
    values (${orgId}, ${mode}, ${dailyLimit}, ${event}, ${new Date(clock.now())})
    on conflict (org_id, mode) do update set daily_limit = excluded.daily_limit, event = excluded.event,
      updated_at = excluded.updated_at`.execute(tx)
}

/** Deletes the limit of an organisation, because it no longer uses the account for which WhatsApp reported it. */
export async function removeMessagingLimit(tx: Tx, orgId: string): Promise<void> {
  await sql`delete from whatsapp_limits where org_id = ${orgId} and mode = 'live'`.execute(tx)
}

/**
 * Returns the messaging limits of the given organisations that have one, by organisation ID. Their rows stay locked until the commit, so that
 * concurrent workers do not exceed a limit together.
 */
export async function lockMessagingLimits(tx: Tx, orgIds: string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ org_id: string; daily_limit: number }>`
    select org_id, daily_limit from whatsapp_limits
    where org_id = any (${orgIds}) and mode = 'live' and daily_limit is not null
    order by org_id for update`.execute(tx)
  return new Map(rows.map(({ org_id, daily_limit }) => [org_id, daily_limit]))
}
