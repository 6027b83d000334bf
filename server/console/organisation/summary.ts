import { sql } from 'kysely'
import type { OwnerScope } from '../../access/caller.ts'
import { balanceOf } from '../../campaigns/credits.ts'
import type { Context } from '../../context.ts'

/** How much there is of everything, for the start page. */
export async function summaryOf({ db, clock }: Pick<Context, 'db' | 'clock'>, scope: OwnerScope) {
  const { orgId, mode } = scope
  const own = sql`org_id = ${orgId} and mode = ${mode}`
  const { rows } = await sql<Record<string, number>>`
    select
      (select count(*) from workflows where ${own} and status = 'active')::int as workflows,
      (select count(*) from mandates where ${own} and status = 'preparing')::int as preparing,
      (select count(*) from mandates where ${own} and status = 'ready')::int as ready,
      (select count(*) from mandates where ${own} and status = 'failed')::int as failed,
      (select count(*) from webhooks where ${own} and status = 'enabled')::int as enabled,
      (select count(*) from webhooks where ${own} and status = 'failing')::int as failing,
      (select count(*) from webhooks where ${own} and status = 'disabled')::int as disabled,
      (select count(*) from console_members where org_id = ${orgId})::int as members,
      ((select count(*) from partner_keys where ${own} and revoked_at is null)
        + (select count(*) from session_keys where ${own} and revoked_at is null))::int as keys`.execute(db.queries)
  const found = rows[0]!
  return {
    workflows: found.workflows!,
    mandates: { preparing: found.preparing!, ready: found.ready!, failed: found.failed! },
    ...(await campaignFigures()),
    credits: await balanceOf(db.queries, scope),
    webhooks: { enabled: found.enabled!, failing: found.failing!, disabled: found.disabled! },
    members: found.members!,
    keys: found.keys!,
  }

  /** Each campaign keeps count of its candidates. */
  async function campaignFigures() {
    const now = new Date(clock.now())
    const { rows: sums } = await sql<Record<string, number>>`
      select count(*) filter (where status = 'scheduled')::int as scheduled, count(*) filter (where status = 'running')::int as running,
        count(*) filter (where status = 'paused')::int as paused, count(*) filter (where status = 'completed')::int as done,
        coalesce(sum(candidates), 0)::int as total, coalesce(sum(pending), 0)::int as pending,
        coalesce(sum(completed), 0)::int as completed, coalesce(sum(declined), 0)::int as declined, coalesce(sum(failed), 0)::int as failed
      from (
        select *, case when hold = 'archived' then 'archived' when candidates > 0 and pending = 0 then 'completed'
          when hold = 'paused' then 'paused' when starts_at > ${now} then 'scheduled' else 'running' end as status
        from campaigns where ${own}
      ) as c`.execute(db.queries)
    const { scheduled, running, paused, done, total, pending, completed, declined, failed } = sums[0]!
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
