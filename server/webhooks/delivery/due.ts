import { sql } from 'kysely'
import { isNotPaused, type PausedOrganisations } from '../../access/service-switch.ts'
import { openEvents, type SealedEventData } from '../../events/personal-data.ts'
import type { Queries } from '../../platform/database/database.ts'

/** A pending delivery whose next attempt is due, with its event. */
export interface DueDelivery {
  day: string
  event_id: string
  /** Number of replays of this delivery so far. */
  round: number
  /** Number of failed attempts in this round. */
  failures: number
  sequence: number
  type: string
  mode: 'test' | 'live'
  data: string
  created_at: Date
}

/**
 * Returns due deliveries, oldest first. With `days`, searches only the partitions of those days, which is much cheaper than
 * searching all.
 */
export async function findDueDeliveries(
  queries: Queries,
  webhookId: string,
  now: number,
  excludedIds: Iterable<string>,
  limit: number,
  days?: string[],
): Promise<DueDelivery[]> {
  const dayCondition = (table: 'd' | 'e') =>
    days ? sql`and ${sql.ref(`${table}.day`)} = any (${days}::date[])` : sql``
  const { rows } = await sql<DueDelivery & SealedEventData>`
    select to_char(due.day, 'YYYY-MM-DD') as day, due.event_id, due.round, due.failures, due.sequence,
      e.type, e.mode, e.data, e.created_at, e.person_id, e.other_person_id, e.personal
    from (
      select d.day, d.event_id, d.round, d.failures, d.sequence, d.next_attempt_at from webhook_deliveries d
      where d.webhook_id = ${webhookId} and d.status = 'pending' and d.next_attempt_at <= ${new Date(now)}
        and d.event_id <> all (${[...excludedIds]}::text[]) ${dayCondition('d')}
      order by d.next_attempt_at, d.sequence limit ${limit}
    ) as due
    join events e on e.day = due.day and e.event_id = due.event_id ${dayCondition('e')}
    order by due.next_attempt_at, due.sequence`.execute(queries)
  return openEvents(queries, rows)
}

export async function hasActiveWebhooks(queries: Queries): Promise<boolean> {
  const { rows } = await sql`select 1 from webhooks where status in ('enabled', 'failing') limit 1`.execute(queries)
  return rows.length > 0
}

/** Returns the next due time of each active webhook that has pending deliveries. Deliveries of paused organisations wait. */
export async function findNextDueTimes(
  queries: Queries,
  paused: PausedOrganisations,
): Promise<{ webhook_id: string; at: Date }[]> {
  const { rows } = await sql<{ webhook_id: string; at: Date }>`
    select w.webhook_id, next_due.at from webhooks w
    cross join lateral (
      select d.next_attempt_at as at from webhook_deliveries d
      where d.webhook_id = w.webhook_id and d.status = 'pending' and d.next_attempt_at < 'infinity'
      order by d.next_attempt_at limit 1
    ) as next_due
    where w.status in ('enabled', 'failing') and ${isNotPaused(sql`w.org_id`, paused)}`.execute(queries)
  return rows
}
