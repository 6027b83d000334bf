import { sql } from 'kysely'
import type { Queries } from '../../platform/database/database.ts'

/** A delivery whose time has come, with the event that it is of. */
export interface DueDelivery {
  day: string
  event_id: string
  round: number
  failures: number
  sequence: number
  type: string
  mode: 'test' | 'live'
  data: string
  created_at: Date
}

/** Oldest first, without those that this process has in hand already. `days` narrows the search, and makes it much cheaper. */
export async function findDue(
  queries: Queries,
  webhookId: string,
  now: number,
  inHand: Iterable<string>,
  limit: number,
  days?: string[],
): Promise<DueDelivery[]> {
  const within = (table: 'd' | 'e') => (days ? sql`and ${sql.ref(`${table}.day`)} = any (${days}::date[])` : sql``)
  const { rows } = await sql<DueDelivery>`
    select to_char(due.day, 'YYYY-MM-DD') as day, due.event_id, due.round, due.failures, due.sequence,
      e.type, e.mode, e.data, e.created_at
    from (
      select d.day, d.event_id, d.round, d.failures, d.sequence, d.next_attempt_at from webhook_deliveries d
      where d.webhook_id = ${webhookId} and d.status = 'pending' and d.next_attempt_at <= ${new Date(now)}
        and d.event_id <> all (${[...inHand]}::text[]) ${within('d')}
      order by d.next_attempt_at, d.sequence limit ${limit}
    ) as due
    join events e on e.day = due.day and e.event_id = due.event_id ${within('e')}
    order by due.next_attempt_at, due.sequence`.execute(queries)
  return rows
}

/** Whether there is any endpoint that may be sent to. */
export async function hasEndpoints(queries: Queries): Promise<boolean> {
  const { rows } = await sql`select 1 from webhooks where status in ('enabled', 'failing') limit 1`.execute(queries)
  return rows.length > 0
}

/** When each endpoint that may be sent to has something due next; endpoints with nothing to send are absent. */
export async function findSoonest(queries: Queries): Promise<{ webhook_id: string; at: Date }[]> {
  const { rows } = await sql<{ webhook_id: string; at: Date }>`
    select w.webhook_id, soonest.at from webhooks w
    cross join lateral (
      select d.next_attempt_at as at from webhook_deliveries d
      where d.webhook_id = w.webhook_id and d.status = 'pending' and d.next_attempt_at < 'infinity'
      order by d.next_attempt_at limit 1
    ) as soonest
    where w.status in ('enabled', 'failing')`.execute(queries)
  return rows
}
