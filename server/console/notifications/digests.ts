import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../context.ts'
import { type EmailDeps, findEmailByUnsubscribeToken, queueEmail } from '../../mail/mail.ts'
import type { FindUnsubscribeTarget } from '../../mail/unsubscribe.ts'
import { createUnsubscribeLink } from '../../mail/unsubscribe-links.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import { breakLinks } from '../../platform/text/links.ts'
import { type AccountLanguage, languageOf } from '../auth/account-language.ts'
import { emailHtml, emailLink, emailLinkList, emailParagraph } from '../email-parts.ts'
import { NOTIFICATION_EMAIL_TEXTS } from './notification-texts.ts'
import type { NotificationKind } from './notification-types.ts'
import {
  type DescribedNotification,
  describeNotifications,
  isFor,
  type Notification,
  notificationColumns,
} from './notifications.ts'
import { describeLatestResults, type ResultLine } from './result-lines.ts'
import { nextDigestTime, switchEmailsOff } from './settings.ts'

export const emailNotificationsJob = defineJob<Record<string, never>>('email-notifications')

/** The rest is counted in the email. */
const MAX_LISTED_IN_EMAIL = 50
/** The verdicts that are listed, per campaign and day, and in one email. The others are in the console. */
const MAX_RESULTS_PER_NOTIFICATION = 5
const MAX_RESULTS_IN_EMAIL = 20

type DigestDeps = EmailDeps & Pick<Context, 'log'>

interface DueMember {
  member_id: string
  org_id: string
  email: string
  organisation: string
  language: string | null
  kinds: NotificationKind[]
  digest_hour: number
  time_zone: string
}

/**
 * Emails notifications of LIVE mode: failures to members who want them immediately, then the digests that are due. Each email is queued in
 * a transaction that locks the settings of the member and stores what was emailed, so that neither a crash nor a second process repeats it.
 */
export async function emailNotifications({ db, ...deps }: DigestDeps & Pick<Context, 'db'>): Promise<void> {
  while (await db.transaction((tx) => emailFailures(tx, deps)));
  while (await db.transaction((tx) => emailDigest(tx, deps)));
}

/** A failure that the member was not emailed about. Owners get a separate email about failing endpoints. */
const isUnemailedFailure = sql`n.org_id = s.org_id and n.mode = 'live' and n.kind = 'failures' and n.updated_at > s.emails_since
  and coalesce(r.emailed_count, 0) = 0 and not (n.type = 'endpoint_failing' and m.role = 'owner')`

/** Emails the new failures of an organisation to one member. Returns false if there are none. */
async function emailFailures(tx: Tx, deps: DigestDeps): Promise<boolean> {
  const member = await claimMember(
    tx,
    sql`s.immediate_failures and 'failures' = any (s.kinds) and exists (
      select from notifications n
        left join notification_receipts r on r.notification_id = n.notification_id and r.member_id = s.member_id
      where ${isUnemailedFailure})`,
  )
  if (!member) return false
  const failures = await selectNotifications(tx, member, isUnemailedFailure)
  await sendNotifications(tx, deps, member, failures, 'failures')
  return true
}

/** Emails one digest that is due, unless there is nothing new. Returns false if none is due. */
async function emailDigest(tx: Tx, deps: DigestDeps): Promise<boolean> {
  const now = deps.clock.now()
  const member = await claimMember(tx, sql`s.next_digest_at <= ${new Date(now)}`)
  if (!member) return false
  const { member_id, kinds, digest_hour, time_zone } = member
  const notifications = await selectNotifications(
    tx,
    member,
    sql`n.org_id = s.org_id and n.mode = 'live' and n.kind = any (${kinds}::text[]) and n.updated_at > s.emails_since
      and n.count > coalesce(r.emailed_count, 0)`,
  )
  if (notifications.length > 0) await sendNotifications(tx, deps, member, notifications, 'digest')
  await sql`update notification_settings set next_digest_at = ${new Date(nextDigestTime(now, digest_hour, time_zone))}
    where member_id = ${member_id}`.execute(tx)
  return true
}

async function claimMember(tx: Tx, where: RawBuilder<unknown>): Promise<DueMember | undefined> {
  const { rows } = await sql<DueMember>`
    select s.member_id, s.org_id, m.email, o.name as organisation, m.language, s.kinds, s.digest_hour, s.time_zone
    from notification_settings s join console_members m using (member_id) join organisations o on o.org_id = s.org_id
    where ${where} order by s.member_id limit 1 for update of s skip locked`.execute(tx)
  return rows[0]
}

async function selectNotifications(tx: Tx, member: DueMember, where: RawBuilder<unknown>): Promise<Notification[]> {
  const { rows } = await sql<Notification>`
    select ${notificationColumns} from notification_settings s join console_members m using (member_id)
      join notifications n on n.org_id = s.org_id
      left join notification_receipts r on r.notification_id = n.notification_id and r.member_id = s.member_id
    where s.member_id = ${member.member_id} and ${isFor(sql`s.member_id`)} and ${where} order by n.updated_at desc`.execute(
    tx,
  )
  return rows
}

async function sendNotifications(
  tx: Tx,
  deps: DigestDeps,
  { member_id, org_id: orgId, email, organisation, language: stored }: DueMember,
  notifications: Notification[],
  emailKind: 'failures' | 'digest',
): Promise<void> {
  const language = languageOf(stored)
  const texts = NOTIFICATION_EMAIL_TEXTS[language]
  const subject = texts[emailKind](breakLinks(organisation))
  const described = await describeNotifications(tx, notifications.slice(0, MAX_LISTED_IN_EMAIL), language)
  const baseUrl = `${deps.config.publicUrl ?? ''}/console/${orgId}/live`
  const unsubscribeLink = createUnsubscribeLink(deps.config)
  const omitted = notifications.length - described.length
  const more = omitted > 0 ? [texts.more(omitted)] : []
  const settings = texts.settings(`${baseUrl}/notifications`, unsubscribeLink.url)
  const urlOf = ({ path }: DescribedNotification | ResultLine) => baseUrl + path
  const results = await describeResults(tx, deps, described, language)
  const resultsOf = ({ notification_id }: DescribedNotification) => results.get(notification_id) ?? []
  const textOf = (each: DescribedNotification) =>
    [
      `${breakLinks(each.text)}\n${urlOf(each)}`,
      ...resultsOf(each).map((line) => `- ${breakLinks(line.text)}\n  ${urlOf(line)}`),
    ].join('\n')
  await queueEmail(tx, deps, {
    kind: 'digest',
    to: { address: email },
    scope: { orgId, mode: 'live' },
    subjectId: member_id,
    unsubscribeLink,
    subject,
    text: [...described.map(textOf), ...more, settings].join('\n\n'),
    html: emailHtml(language, subject, [
      ...described.flatMap((each) => [
        emailLink(each.text, urlOf(each)),
        emailLinkList(resultsOf(each).map((line) => ({ label: line.text, url: urlOf(line) }))),
      ]),
      ...more.map(emailParagraph),
      emailLink(texts.settingsLink, `${baseUrl}/notifications`),
      emailLink(texts.unsubscribeLink, unsubscribeLink.url),
    ]),
  })
  await sql`
    insert into notification_receipts (member_id, notification_id, org_id, emailed_count)
    select ${member_id}, id, ${orgId}, count
    from unnest(${notifications.map((each) => each.notification_id)}::text[], ${notifications.map(({ count }) => count)}::int[])
      as n (id, count)
    on conflict (member_id, notification_id) do update set emailed_count = excluded.emailed_count`.execute(tx)
}

/** Returns the latest verdicts of notifications about results, by the ID of the notification. */
async function describeResults(
  tx: Tx,
  deps: DigestDeps,
  notifications: Notification[],
  language: AccountLanguage,
): Promise<Map<string, ResultLine[]>> {
  const results = new Map<string, ResultLine[]>()
  let remaining = MAX_RESULTS_IN_EMAIL
  for (const notification of notifications) {
    if (remaining === 0) break
    const limit = Math.min(remaining, MAX_RESULTS_PER_NOTIFICATION)
    const lines = await readResults(tx, deps, notification, limit, language)
    remaining -= lines.length
    results.set(notification.notification_id, lines)
  }
  return results
}

/** Returns no verdicts if they cannot be read, so that one invalid conversation does not stop the emails of all members. */
async function readResults(
  tx: Tx,
  deps: DigestDeps,
  notification: Notification,
  limit: number,
  language: AccountLanguage,
): Promise<ResultLine[]> {
  try {
    return await describeLatestResults(tx, notification, limit, language)
  } catch (error) {
    deps.log.error(
      { err: error, notification_id: notification.notification_id },
      'reading the verdicts of a notification failed; the email is sent without them',
    )
    return []
  }
}

/** Finds the member whose notification email contains an unsubscribe link. */
export function findUnsubscribingMember(): FindUnsubscribeTarget {
  return async (queries: Queries, tokenHash) => {
    const email = await findEmailByUnsubscribeToken(queries, tokenHash)
    if (email?.kind !== 'digest') return undefined
    const member = await queries
      .selectFrom('console_members')
      .select('language')
      .where('org_id', '=', email.org_id)
      .where('member_id', '=', email.about)
      .executeTakeFirst()
    const language = languageOf(member?.language)
    return {
      orgId: email.org_id,
      language,
      texts: NOTIFICATION_EMAIL_TEXTS[language].unsubscribePage,
      unsubscribe: (tx) => switchEmailsOff(tx, email.about!),
    }
  }
}
