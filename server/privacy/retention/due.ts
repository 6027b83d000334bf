import { type RawBuilder, sql } from 'kysely'
import { RETENTION_RULES, type RetentionClass } from '../../notices/retention-classes.ts'
import type { Queries } from '../../platform/database/database.ts'

/** SQL expressions that select the rows whose retention period has ended, in real time or on a test clock. */

/** Returns the retention period of an organisation as an interval, within the bounds of the operator. */
export function periodOf(name: RetentionClass, orgId: RawBuilder<unknown>): RawBuilder<unknown> {
  const { defaultDays, minDays, maxDays } = RETENTION_RULES[name]
  const bound = (column: 'min_days' | 'max_days', days: number) =>
    sql`coalesce((select ${sql.ref(column)} from retention_bounds where class = ${sql.lit(name)}), ${sql.lit(days)})`
  return sql`make_interval(days => least(greatest(coalesce(
    (select days from retention_periods where org_id = ${orgId} and class = ${sql.lit(name)}), ${sql.lit(defaultDays)}),
    ${bound('min_days', minDays)}), ${bound('max_days', maxDays)}))`
}

/** Returns the shortest period of any organisation in days. Newer rows are not due in any organisation. */
export async function shortestPeriodDays(queries: Queries, name: RetentionClass): Promise<number> {
  const { defaultDays, minDays, maxDays } = RETENTION_RULES[name]
  const { rows } = await sql<{ days: number }>`
    select least(greatest(least((select min(days) from retention_periods where class = ${name}), ${defaultDays}),
      coalesce((select min_days from retention_bounds where class = ${name}), ${minDays})),
      coalesce((select max_days from retention_bounds where class = ${name}), ${maxDays})) as days`.execute(queries)
  return rows[0]!.days
}

/** Returns the condition that an organisation has no legal hold. */
export function isNotHeld(orgId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`not exists (select from privacy_settings h where h.org_id = ${orgId} and h.legal_hold_at is not null)`
}

/**
 * Returns the condition that a row belongs to the test clock with this ID or, if the ID is undefined, that it is processed in real time:
 * it has no clock, or its clock is archived and no longer advances.
 */
export function isOnClock(column: RawBuilder<unknown>, testClockId: string | undefined): RawBuilder<boolean> {
  return testClockId === undefined
    ? sql`(${column} is null or exists (select from test_clocks k where k.test_clock_id = ${column} and k.archived_at is not null))`
    : sql`${column} = ${testClockId}`
}

/**
 * Selects each person who is not erased and has no legal hold, with the time of their last activity: `infinity` while a conversation is
 * running (the conversations of restricted people do not continue), and the time of expiry while a session is. `clocks` is the number of different clocks of their rows, and `test_clock_id` is one
 * of these clocks.
 */
export function peopleActivity(where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select o.person_id, o.org_id, o.mode, max(a.active_at) as active_at, min(a.test_clock_id) as test_clock_id,
      count(distinct coalesce(a.test_clock_id, '')) as clocks
    from people o cross join lateral (
      select case when p.status = 'pending' and o.restricted_at is null then 'infinity' else greatest(p.updated_at, c.enrolled_at) end as active_at, g.test_clock_id
      from candidates c join candidate_progress p using (candidate_id) join campaigns g on g.campaign_id = c.campaign_id
      where c.person_id = o.person_id
      union all
      select case when s.status in ('open', 'pending_review', 'in_assessment') and s.expires_at > s.updated_at
        then greatest(s.expires_at, s.updated_at) else s.updated_at end, s.test_clock_id
      from verification_sessions s where s.person_id = o.person_id
      union all
      select greatest(r.submitted_at, r.expires_at, r.requested_at, s.created_at), s.test_clock_id
      from verification_reviews r join verification_sessions s using (verification_id) where r.person_id = o.person_id
      union all
      select r.updated_at, null from ats_orders r where r.person_id = o.person_id
      union all
      select o.created_at, null where not exists (select from candidates c where c.person_id = o.person_id)
        and not exists (select from verification_sessions s where s.person_id = o.person_id)
        and not exists (select from verification_reviews r where r.person_id = o.person_id)
        and not exists (select from ats_orders r where r.person_id = o.person_id)
    ) as a
    where o.erased_at is null and o.legal_hold is null and ${isNotHeld(sql`o.org_id`)} and ${where}
    group by o.person_id, o.org_id, o.mode`
}
