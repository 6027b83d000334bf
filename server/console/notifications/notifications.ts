import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Mode } from '../../access/keys.ts'
import type { AdapterName } from '../../ats/adapter.ts'
import { adapters } from '../../ats/adapters.ts'
import { type Clock, DAY, realClock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { indianDate } from '../../platform/india-time.ts'
import type { AccountLanguage } from '../auth/account-language.ts'
import { findCampaignTitles } from '../candidates/records.ts'
import { NOTIFICATION_TEXTS } from './notification-texts.ts'
import { KIND_OF_TYPE, type NotificationKind, type NotificationType } from './notification-types.ts'

export interface NewNotification {
  type: NotificationType
  subject: string
  /** Number of events. */
  count?: number
  details?: object
}

/** Notifications are deleted this long after their last event. */
const KEEP_MS = 90 * DAY
const MAX_LISTED = 100

/**
 * Adds notifications in the transaction of their events. Events of the same type about the same record on the same Indian day are counted
 * in one row. With `once`, later events of the day are not counted: the row is then not changed, so that frequent events do not wait for
 * each other.
 */
export async function addNotifications(
  tx: Tx,
  clock: Clock,
  { orgId, mode }: OrgScope,
  notifications: NewNotification[],
  { once = false } = {},
): Promise<void> {
  const now = realClock(clock).now()
  // In a fixed order, so that transactions cannot wait for each other.
  const sorted = notifications.toSorted((a, b) => (`${a.type} ${a.subject}` < `${b.type} ${b.subject}` ? -1 : 1))
  for (const { type, subject, count = 1, details = {} } of sorted)
    await sql`
      insert into notifications as n (notification_id, org_id, mode, kind, type, subject, day, count, details, created_at, updated_at)
      values (${newId('NF_', now)}, ${orgId}, ${mode}, ${KIND_OF_TYPE[type]}, ${type}, ${subject}, ${indianDate(now)}, ${count},
        ${JSON.stringify(details)}, ${new Date(now)}, ${new Date(now)})
      on conflict (org_id, mode, type, subject, day) ${
        once
          ? sql`do nothing`
          : sql`do update set count = n.count + excluded.count, details = excluded.details,
              updated_at = greatest(n.updated_at, excluded.updated_at)`
      }`.execute(tx)
}

export interface Notification {
  notification_id: string
  mode: Mode
  kind: NotificationKind
  type: NotificationType
  subject: string
  count: number
  details: Record<string, unknown>
  updated_at: Date
  is_unread: boolean
}

/** The condition that a notification `n` is for a member: those about assignments are only for the member whom they concern. */
export const isFor = (memberId: RawBuilder<unknown>) => sql`(n.kind <> 'assignments' or n.subject = ${memberId})`

export const notificationColumns = sql`n.notification_id, n.mode, n.kind, n.type, n.subject, n.count, n.details, n.updated_at,
  n.count > coalesce(r.read_count, 0) as is_unread`

/** A member, and the kinds of notifications that the member wants. */
export interface Recipient {
  memberId: string
  kinds: readonly NotificationKind[]
}

/** Returns the latest notifications of a mode, newest first. */
export async function listNotifications(
  queries: Queries,
  { orgId, mode }: OrgScope,
  { memberId, kinds }: Recipient,
): Promise<Notification[]> {
  const { rows } = await sql<Notification>`
    select ${notificationColumns} from notifications n
      left join notification_receipts r
        on r.org_id = n.org_id and r.notification_id = n.notification_id and r.member_id = ${memberId}
    where n.org_id = ${orgId} and n.mode = ${mode} and n.kind = any (${kinds}::text[])
      and ${isFor(sql`${memberId}`)}
    order by n.updated_at desc, n.notification_id desc limit ${MAX_LISTED}`.execute(queries)
  return rows
}

export async function countUnread(
  queries: Queries,
  { orgId, mode }: OrgScope,
  { memberId, kinds }: Recipient,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from notifications n
      left join notification_receipts r
        on r.org_id = n.org_id and r.notification_id = n.notification_id and r.member_id = ${memberId}
    where n.org_id = ${orgId} and n.mode = ${mode} and n.kind = any (${kinds}::text[])
      and ${isFor(sql`${memberId}`)} and n.count > coalesce(r.read_count, 0)`.execute(queries)
  return rows[0]!.count
}

/** Marks all notifications of a mode as read, with the events that they count now. */
export async function markAllRead(tx: Tx, { orgId, mode }: OrgScope, memberId: string): Promise<void> {
  await sql`
    insert into notification_receipts as r (member_id, notification_id, org_id, read_count)
    select ${memberId}, notification_id, org_id, count from notifications n where n.org_id = ${orgId} and n.mode = ${mode}
      and ${isFor(sql`${memberId}`)}
    order by notification_id
    on conflict (member_id, notification_id) do update set read_count = greatest(r.read_count, excluded.read_count)
      where r.read_count < excluded.read_count`.execute(tx)
}

export async function deleteOldNotifications(tx: Tx, now: number): Promise<void> {
  await sql`delete from notifications where updated_at < ${new Date(now - KEEP_MS)}`.execute(tx)
}

/** A notification as text, with the path of the console page that it links to, below organisation and mode. */
export interface DescribedNotification extends Notification {
  text: string
  path: string
  /** The names and reasons in the text, with which the console writes it in the language of the member. */
  values: Record<string, string>
}

/** Describes notifications: in English, or in the language of the member who gets them by email. */
export async function describeNotifications(
  queries: Queries,
  notifications: Notification[],
  language: AccountLanguage = 'en',
): Promise<DescribedNotification[]> {
  const campaignIds = notifications.filter(({ kind }) => kind === 'results').map(({ subject }) => subject)
  const titles = await findCampaignTitles(queries, [...new Set(campaignIds)])
  return notifications.map((notification) => {
    const { kind, type, subject, count, details } = notification
    const values: Record<string, string> = Object.fromEntries(
      Object.entries(details).map(([name, value]) => [name, String(value)]),
    )
    if (kind === 'results') values.campaign = titles.get(subject)?.campaign_name ?? subject
    // The details have the reason in English.
    if (type === 'messages_failed') values.reason_code = subject.split(' ')[1]!
    if (type === 'ats_report_failed') values.system = adapters[values.adapter as AdapterName].title
    return {
      ...notification,
      text: NOTIFICATION_TEXTS[language][type](count, values),
      path: pathOf(type, subject),
      values,
    }
  })
}

/** Returns the path of the console page that a notification is about. */
function pathOf(type: NotificationType, subject: string): string {
  switch (type) {
    case 'candidates_qualified':
      return `/results?campaign_id=${subject}&verdict=qualified`
    case 'candidates_undecided':
      return `/results?campaign_id=${subject}&verdict=undecided`
    case 'candidates_ended':
      return `/results?campaign_id=${subject}`
    case 'candidates_assigned':
      return '/results?assigned_to=me&decision=none'
    case 'endpoint_failing':
      return `/webhooks/${subject}`
    case 'messages_failed':
      return '/channels'
    case 'ats_report_failed':
      return `/integrations/${subject}`
    case 'credits_low':
    case 'credits_exhausted':
      return ''
    case 'skill_request_approved':
    case 'skill_request_rejected':
      return '/mandates'
  }
}
