import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Tx } from '../../platform/database/database.ts'

/** The cost of a test message, in millionths, as part of the amount spent on a day. Test messages belong to no campaign. */
interface TestMessageCost {
  /** The day in India. */
  day: string
  cost: number
}

/** Adds the estimated cost of a test message to the amount spent on the day. Returns false if that would exceed the daily cap. */
export async function reserveTestMessageCost(
  tx: Tx,
  { orgId, mode }: OrgScope,
  { day, cost }: TestMessageCost,
): Promise<boolean> {
  if (cost === 0) return true
  const dailyCap = sql`(select daily_cap from spending_settings where org_id = ${orgId} and mode = ${mode})`
  const { rows } = await sql`
    insert into daily_spending as d (org_id, mode, day, spent)
    select ${orgId}, ${mode}, ${day}::date, ${cost} where coalesce(${dailyCap} >= ${cost}, true)
    on conflict (org_id, mode, day) do update set spent = d.spent + excluded.spent
    where coalesce(${dailyCap} >= d.spent + excluded.spent, true)
    returning 1`.execute(tx)
  return rows.length > 0
}

/** Removes the cost of a test message that was not sent. */
export async function releaseTestMessageCost(
  tx: Tx,
  { orgId, mode }: OrgScope,
  { day, cost }: TestMessageCost,
): Promise<void> {
  await sql`update daily_spending set spent = greatest(0, spent - ${cost})
    where org_id = ${orgId} and mode = ${mode} and day = ${day}::date`.execute(tx)
}
