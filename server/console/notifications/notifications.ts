import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Mode } from '../../access/keys.ts'
import type { AdapterName } from '../../ats/adapter.ts'
import { adapters } from '../../ats/adapters.ts'
import type { ChannelName } from '../../channels/channel.ts'
import { type Clock, DAY, realClock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { indianDate } from '../../platform/india-time.ts'
import { findCampaignTitles } from '../candidates/records.ts'

/** Members choose for each kind whether they want notifications. */
export const notificationKinds = ['results', 'assignments', 'failures', 'credits', 'skill_requests'] as const
export type NotificationKind = (typeof notificationKinds)[number]

export const KIND_OF_TYPE = {
  candidates_qualified: 'results',
  candidates_undecided: 'results',
  candidates_ended: 'results',
  candidates_assigned: 'assignments',
  endpoint_failing: 'failures',
  messages_failed: 'failures',
  ats_report_failed: 'failures',
  credits_low: 'credits',
  credits_exhausted: 'credits',
  skill_request_approved: 'skill_requests',
  skill_request_rejected: 'skill_requests',
} as const satisfies Record<string, NotificationKind>
type NotificationType = keyof typeof KIND_OF_TYPE

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
  /** In English, the language of emails. */
  text: string
  path: string
  /** The names and reasons in the text, with which the console writes it in the language of the member. */
  values: Record<string, string>
}

/** Describes notifications in English. */
export async function describeNotifications(
  queries: Queries,
  notifications: Notification[],
): Promise<DescribedNotification[]> {
  const campaignIds = notifications.filter(({ kind }) => kind === 'results').map(({ subject }) => subject)
  const titles = await findCampaignTitles(queries, [...new Set(campaignIds)])
  return notifications.map((notification) => {
    const { type, subject, count, details } = notification
    const campaignName = titles.get(subject)?.campaign_name ?? subject
    const values: Record<string, string> = Object.fromEntries(
      Object.entries(details).map(([name, value]) => [name, String(value)]),
    )
    if (type === 'ats_report_failed') values.system = adapters[values.adapter as AdapterName].title
    return {
      ...notification,
      ...describe(type, subject, count, values, campaignName),
      values: notification.kind === 'results' ? { ...values, campaign: campaignName } : values,
    }
  })
}

const CHANNEL_TITLES: Record<ChannelName, string> = {
  whatsapp: 'WhatsApp messages',
  voice: 'Calls',
  sms: 'SMS',
  email: 'Emails to candidates',
}

function describe(
  type: NotificationType,
  subject: string,
  count: number,
  details: Record<string, string>,
  campaignName: string,
): { text: string; path: string } {
  const candidates = count === 1 ? '1 candidate' : `${count.toLocaleString('en')} candidates`
  switch (type) {
    case 'candidates_qualified':
      return {
        text: `${candidates} qualified in “${campaignName}”`,
        path: `/results?campaign_id=${subject}&verdict=qualified`,
      }
    case 'candidates_undecided':
      return {
        text: `${candidates} ${count === 1 ? 'is' : 'are'} undecided in “${campaignName}”`,
        path: `/results?campaign_id=${subject}&verdict=undecided`,
      }
    case 'candidates_ended':
      return {
        text: `${candidates} ended without qualifying in “${campaignName}”`,
        path: `/results?campaign_id=${subject}`,
      }
    case 'candidates_assigned':
      return {
        text: `${candidates} ${count === 1 ? 'was' : 'were'} assigned to you`,
        path: '/results?assigned_to=me&decision=none',
      }
    case 'endpoint_failing':
      return {
        text: `All deliveries to the webhook endpoint ${details.url} have failed for a day`,
        path: `/webhooks/${subject}`,
      }
    case 'messages_failed':
      return {
        text: `${CHANNEL_TITLES[details.channel as ChannelName]} fail: ${details.reason}`,
        path: '/channels',
      }
    case 'ats_report_failed': {
      const reports = count === 1 ? 'A report' : `${count.toLocaleString('en')} reports`
      return {
        text: `${reports} to ${details.system} failed and will not be retried`,
        path: `/integrations/${subject}`,
      }
    }
    case 'credits_low':
      return { text: `Credits are low: ${Number(details.balance).toLocaleString('en')} left`, path: '' }
    case 'credits_exhausted':
      return { text: 'No credits are left: candidates cannot be enrolled', path: '' }
    case 'skill_request_approved':
      return {
        text: details.skill
          ? `The requested skill “${details.name}” is in the catalogue as “${details.skill}”`
          : `The skill “${details.name}” was added to the catalogue`,
        path: '/mandates',
      }
    case 'skill_request_rejected':
      return {
        text: `The request for the skill “${details.name}” was rejected${details.reason ? `: ${details.reason}` : ''}`,
        path: '/mandates',
      }
  }
}
