import { sql } from 'kysely'
import { invalid } from '../../api/invalid.ts'
import { type Clock, HOUR, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { type NotificationKind, notificationKinds } from './notification-types.ts'

export interface NotificationSettings {
  kinds: NotificationKind[]
  digest: 'off' | 'daily'
  digest_hour: number
  time_zone: string
  immediate_failures: boolean
}

const DEFAULT_SETTINGS: NotificationSettings = {
  kinds: [...notificationKinds],
  digest: 'off',
  digest_hour: 9,
  time_zone: 'Asia/Kolkata',
  immediate_failures: false,
}

export async function getNotificationSettings(
  queries: Queries,
  { orgId, memberId }: { orgId: string; memberId: string },
): Promise<NotificationSettings> {
  const { rows } = await sql<NotificationSettings>`
    select kinds, digest, digest_hour, time_zone, immediate_failures from notification_settings
    where org_id = ${orgId} and member_id = ${memberId}`.execute(queries)
  return rows[0] ?? DEFAULT_SETTINGS
}

/** Replaces the settings of a member. Notifications from before emails were switched on are not emailed. */
export async function saveNotificationSettings(
  tx: Tx,
  clock: Clock,
  { orgId, memberId }: { orgId: string; memberId: string },
  settings: NotificationSettings,
): Promise<void> {
  const { kinds, digest, digest_hour, time_zone, immediate_failures } = settings
  if (!isTimeZone(time_zone))
    throw invalid([{ path: 'time_zone', message: 'must be the name of a time zone, such as Asia/Kolkata' }])
  const now = clock.now()
  const sendsEmails = digest === 'daily' || immediate_failures
  const nextDigest = digest === 'daily' ? new Date(nextDigestTime(now, digest_hour, time_zone)) : null
  await sql`
    insert into notification_settings as s (member_id, org_id, kinds, digest, digest_hour, time_zone, immediate_failures, emails_since,
      next_digest_at)
    values (${memberId}, ${orgId}, ${kinds}::text[], ${digest}, ${digest_hour}, ${time_zone}, ${immediate_failures},
      ${sendsEmails ? new Date(now) : null}, ${nextDigest})
    on conflict (member_id) do update set kinds = excluded.kinds, digest = excluded.digest, digest_hour = excluded.digest_hour,
      time_zone = excluded.time_zone, immediate_failures = excluded.immediate_failures,
      emails_since = case when excluded.emails_since is null then null else coalesce(s.emails_since, excluded.emails_since) end,
      next_digest_at = excluded.next_digest_at`.execute(tx)
}

/** Switches the emails of a member off. */
export async function switchEmailsOff(tx: Tx, memberId: string): Promise<void> {
  await sql`update notification_settings set digest = 'off', immediate_failures = false, emails_since = null, next_digest_at = null
    where member_id = ${memberId}`.execute(tx)
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The offsets of all time zones are multiples of this. */
const OFFSET_UNIT_MS = 15 * MINUTE
/** An hour can be missing on one day, when clocks are set forward. */
const MAX_WAIT_MS = 49 * HOUR

/** Returns the next time at which it is this full hour in the time zone. */
export function nextDigestTime(now: number, hour: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone })
  const wanted = `${String(hour).padStart(2, '0')}:00`
  const first = (Math.floor(now / OFFSET_UNIT_MS) + 1) * OFFSET_UNIT_MS
  for (let time = first; time <= now + MAX_WAIT_MS; time += OFFSET_UNIT_MS)
    if (format.format(time) === wanted) return time
  throw new Error(`no time with the hour ${wanted} in ${timeZone}`)
}
