import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import { type RetentionClass, retentionClasses } from '../../notices/retention-classes.ts'
import { type Clock, DAY } from '../../platform/clock.ts'
import type { Queries } from '../../platform/database/database.ts'
import { isNotHeld, isOnClock, peopleActivity, periodOf } from './due.ts'

export const PREVIEW_DAYS = 90

export interface RetentionPreview {
  /** The number of people who will be erased in the next 90 days, by date in Indian time. Past dates are processed by the next run. */
  people: { date: string; count: number }[]
  /** The number of rows of each class that will be erased in the next 90 days if nothing changes. */
  due: Record<RetentionClass, number>
}

/** Counts the rows that will be erased under the current periods. Excludes rows with a test clock, which do not follow real time. */
export async function previewRetention(queries: Queries, clock: Clock, scope: OrgScope): Promise<RetentionPreview> {
  const { orgId, mode } = scope
  const until = new Date(clock.now() + PREVIEW_DAYS * DAY)
  const { rows: people } = await sql<{ date: string; count: number }>`
    select to_char((active_at + ${periodOf('contact_data', sql`d.org_id`)}) at time zone 'Asia/Kolkata', 'YYYY-MM-DD') as date,
      count(*)::int as count
    from (${peopleActivity(sql`o.org_id = ${orgId} and o.mode = ${mode}`)}) as d
    where active_at < 'infinity' and active_at + ${periodOf('contact_data', sql`d.org_id`)} <= ${until}
      and clocks = 1 and ${isOnClock(sql`d.test_clock_id`, undefined)}
    group by 1 order by 1`.execute(queries)
  const notHeld = isNotHeld(sql`${orgId}`)
  const candidateCount = (name: RetentionClass, column: string) => sql`
    (select count(*)::int from candidate_progress p join campaigns g using (campaign_id)
      join candidates c using (candidate_id) left join people o on o.person_id = c.person_id
    where p.org_id = ${orgId} and p.mode = ${mode} and p.status <> 'pending' and p.${sql.ref(column)} is null
      and p.completed_at + ${periodOf(name, sql`p.org_id`)} <= ${until} and ${isOnClock(sql`g.test_clock_id`, undefined)}
      and o.legal_hold is null and ${notHeld})`
  const { rows } = await sql<Record<RetentionClass, number>>`
    select ${candidateCount('conversations', 'messages_erased_at')} as conversations,
      ${candidateCount('answers', 'answers_erased_at')} as answers,
      (select count(*)::int from mails m where m.org_id = ${orgId} and m.mode = ${mode} and m.status <> 'queued'
        and m.created_at + ${periodOf('mails', sql`m.org_id`)} <= ${until} and ${notHeld}) as mails,
      (select count(*)::int from request_log l where l.org_id = ${orgId} and l.mode = ${mode}
        and l.at + ${periodOf('request_log', sql`l.org_id`)} <= ${until} and ${notHeld}) as request_log,
      (select count(*)::int from audit_log l where l.org_id = ${orgId} and jsonb_path_exists(l.personal, '$.* ? (@ != null)')
        and l.at + ${periodOf('audit', sql`l.org_id`)} <= ${until} and ${notHeld}) as audit`.execute(queries)
  const due = { ...rows[0]!, contact_data: people.reduce((sum, { count }) => sum + count, 0) }
  return { people, due: Object.fromEntries(retentionClasses.map((name) => [name, due[name]])) as typeof due }
}
