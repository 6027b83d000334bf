import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { SECOND } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { indianDate, indianDayNumber, indianDayStart } from '../platform/india-time.ts'

/** Emails to one mailbox are counted separately by group, so that notices cannot use up the limit of review emails. */
export type RecipientGroup = 'review' | 'candidate' | 'notice'

export interface CountedEmail {
  /** Counts the email for this organisation too; undefined if the organisation's emails are limited in another way. */
  orgId: string | undefined
  group: RecipientGroup
  address: string
}

export type DailyLimit = 'recipient_limit' | 'organisation_limit'
export type LimitDeps = Pick<Context, 'clock' | 'config' | 'mailboxes'>

/**
 * Counts an email for the current Indian day, or returns the limit that it would exceed. Counters are rows, so that they survive
 * restarts and are shared by all processes; a rollback of the transaction also undoes the count.
 */
export async function countEmail(
  tx: Tx,
  { clock, config, mailboxes }: LimitDeps,
  { orgId, group, address }: CountedEmail,
): Promise<DailyLimit | undefined> {
  const day = indianDate(clock.now())
  const mailbox = mailboxes.hash(address).toString('base64url')
  const { perOrganisation, perRecipient } = config.mailLimits
  if (orgId !== undefined && !(await increment(tx, day, 'organisation', orgId, perOrganisation)))
    return 'organisation_limit'
  if (await increment(tx, day, group, mailbox, perRecipient)) return undefined
  if (orgId !== undefined)
    await sql`update mail_day_counts set emails = emails - 1
      where day = ${day} and counter = 'organisation' and subject = ${orgId}`.execute(tx)
  return 'recipient_limit'
}

/** Undoes the count of an email to a mailbox that was not sent after all. */
export async function uncountEmail(
  tx: Tx,
  { clock, mailboxes }: Pick<LimitDeps, 'clock' | 'mailboxes'>,
  { group, address }: Pick<CountedEmail, 'group' | 'address'>,
): Promise<void> {
  await sql`update mail_day_counts set emails = emails - 1 where day = ${indianDate(clock.now())} and counter = ${group}
    and subject = ${mailboxes.hash(address).toString('base64url')} and emails > 0`.execute(tx)
}

/** Messages to the phone number of a reviewer per day, from all sessions and organisations. */
const MAX_REVIEW_MESSAGES_PER_PHONE = 5

/** Counts a message to the phone number of a reviewer for the current Indian day. Returns false if it would exceed the limit. */
export async function countReviewMessage(
  tx: Tx,
  { clock, mailboxes }: Pick<LimitDeps, 'clock' | 'mailboxes'>,
  phone: string,
): Promise<boolean> {
  const subject = mailboxes.hashPhone(phone).toString('base64url')
  return increment(tx, indianDate(clock.now()), 'review_phone', subject, MAX_REVIEW_MESSAGES_PER_PHONE)
}

async function increment(tx: Tx, day: string, counter: string, subject: string, max: number): Promise<boolean> {
  const { rows } = await sql`
    insert into mail_day_counts as c (day, counter, subject, emails) values (${day}, ${counter}, ${subject}, 1)
    on conflict (day, counter, subject) do update set emails = c.emails + 1 where c.emails < ${max}
    returning 1`.execute(tx)
  return rows.length > 0
}

/** Returns the seconds until the counters start again, at midnight in India. */
export function secondsUntilReset(now: number): number {
  return Math.max(1, Math.ceil((indianDayStart(indianDayNumber(now) + 1) - now) / SECOND))
}

/** Deletes the counters of past days. */
export async function deleteOldCounts(tx: Tx, now: number): Promise<void> {
  await sql`delete from mail_day_counts where day < ${indianDate(now)}`.execute(tx)
}
