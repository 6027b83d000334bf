import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import { balanceOf } from '../../campaigns/credits.ts'
import type { Context } from '../../context.ts'
import { DAY } from '../../platform/clock.ts'
import { FIRST_REMINDER_DAYS } from './key-expiry.ts'

/** Returns the totals on the organisation's start page. */
export async function organisationSummary({ db, clock }: Pick<Context, 'db' | 'clock'>, scope: OrgScope) {
  const { orgId, mode } = scope
  const scopeCondition = sql`org_id = ${orgId} and mode = ${mode}`
  const now = clock.now()
  const expiresSoon = sql`revoked_at is null and expires_at > ${new Date(now)} and expires_at <= ${new Date(now + FIRST_REMINDER_DAYS * DAY)}`
  const { rows } = await sql<Record<string, number>>`
    select
      (select count(*) from workflows where ${scopeCondition} and status = 'active')::int as workflows,
      (select count(*) from mandates where ${scopeCondition} and status = 'preparing')::int as preparing,
      (select count(*) from mandates where ${scopeCondition} and status = 'ready')::int as ready,
      (select count(*) from mandates where ${scopeCondition} and status = 'failed')::int as failed,
      (select count(*) from webhooks where ${scopeCondition} and status = 'enabled')::int as enabled,
      (select count(*) from webhooks where ${scopeCondition} and status = 'failing')::int as failing,
      (select count(*) from webhooks where ${scopeCondition} and status = 'disabled')::int as disabled,
      (select count(*) from console_members where org_id = ${orgId})::int as members,
      ((select count(*) from partner_keys where ${scopeCondition} and revoked_at is null)
        + (select count(*) from session_keys where ${scopeCondition} and revoked_at is null))::int as keys,
      ((select count(*) from partner_keys where ${scopeCondition} and ${expiresSoon})
        + (select count(*) from session_keys where ${scopeCondition} and ${expiresSoon}))::int as expiring_keys`.execute(
    db.queries,
  )
  const counts = rows[0]!
  return {
    workflows: counts.workflows!,
    mandates: { preparing: counts.preparing!, ready: counts.ready!, failed: counts.failed! },
    ...(await campaignTotals()),
    credits: await balanceOf(db.queries, scope),
    webhooks: { enabled: counts.enabled!, failing: counts.failing!, disabled: counts.disabled! },
    members: counts.members!,
    keys: counts.keys!,
    expiring_keys: counts.expiring_keys!,
  }

  /** Sums the counters that each campaign stores for its candidates. */
  async function campaignTotals() {
    const now = new Date(clock.now())
    const { rows: totals } = await sql<Record<string, number>>`
      select count(*) filter (where status = 'scheduled')::int as scheduled, count(*) filter (where status = 'running')::int as running,
        count(*) filter (where status = 'paused')::int as paused, count(*) filter (where status = 'completed')::int as done,
        coalesce(sum(candidates), 0)::int as total, coalesce(sum(pending), 0)::int as pending,
        coalesce(sum(completed), 0)::int as completed, coalesce(sum(declined), 0)::int as declined, coalesce(sum(failed), 0)::int as failed
      from (
        select *, case when hold = 'archived' then 'archived' when candidates > 0 and pending = 0 then 'completed'
          when hold = 'paused' then 'paused' when starts_at > ${now} then 'scheduled' else 'running' end as status
        from campaigns where ${scopeCondition}
      ) as c`.execute(db.queries)
    const { scheduled, running, paused, done, total, pending, completed, declined, failed } = totals[0]!
    return {
      campaigns: { scheduled: scheduled!, running: running!, paused: paused!, completed: done! },
      candidates: {
        total: total!,
        pending: pending!,
        completed: completed!,
        declined: declined!,
        failed: failed!,
      },
    }
  }
}
