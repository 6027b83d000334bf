import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { recordEvent } from '../../events/record.ts'
import { listMails, type MailKind, queueMail } from '../../mail/mail.ts'
import { DAY, MINUTE, SECOND, seconds } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Vault } from '../../platform/vault.ts'
import { sourceOf } from '../items.ts'
import { eventData } from '../outcome.ts'
import { changeSession, hashToken, lockVerification, type Session } from '../sessions.ts'
import { requireFreeReviewer, requireFreeSources } from '../source-rules.ts'
import { reviewRequestMail } from './emails.ts'
import { findReview, type Review } from './reviews.ts'

export const LINK_LIFE = 30 * DAY
/** After a mail, where there is no answer yet. */
export const REMINDERS = [3 * DAY, 7 * DAY] as const

type Tools = Pick<Context, 'queue' | 'clock' | 'vault' | 'config'>

/** Sends the mail where skills, items and reviewer are all there; else nothing happens yet. */
export async function requestReview(
  tx: Tx,
  tools: Tools,
  session: Session,
  review: Review | undefined,
): Promise<Session> {
  if (session.method !== 'human' || !review || session.skills.length === 0 || session.sources.length === 0) {
    return session
  }
  const { clock, vault, config } = tools
  const now = clock.now()
  await requireFreeSources(tx, session, now)
  await requireFreeReviewer(tx, session, review.email, now)
  await requireFewer(tx, now, session.id, 'review_request', MOST_REQUESTS) // addresses may be changed to and fro
  const token = `vrt_${randomToken(32)}`
  const link = `${config.publicUrl}/verify/${session.id}#token=${token}`
  const expiresAt = now + LINK_LIFE
  await tx
    .updateTable('verification_reviews')
    .set({
      token_hash: hashToken(token),
      link: vault.seal(link, linkPurpose(session.id)),
      sent_at: new Date(now),
      expires_at: new Date(expiresAt),
      remind_at: new Date(now + REMINDERS[0]),
      requested_at: new Date(review.requestedAt ?? now),
    })
    .where('verification_id', '=', session.id)
    .execute()
  const changed = await changeSession(tx, session, now, { status: 'pending_review', step: true })
  await queueMail(tx, tools, requestMail(changed, review, link, expiresAt, false))
  if (review.requestedAt === undefined) {
    await recordEvent(tx, session.scope, clock, 'verification.requested', eventData(changed))
  }
  return changed
}

function requestMail(session: Session, review: Review, link: string, expiresAt: number, reminder: boolean) {
  return {
    ...reviewRequestMail({
      reviewer: review,
      student: session.student,
      endorsementType: session.endorsementType,
      source: sourceOf(session.items, session.sources)!,
      skills: session.skills.map(({ name }) => name),
      link,
      expiresAt,
      reminder,
    }),
    to: { name: review.name, address: review.email },
    scope: session.scope,
    subjectId: session.id,
  }
}

function linkPurpose(verificationId: string) {
  return `review link of ${verificationId}`
}

export function openLink(vault: Vault, verificationId: string, sealed: Buffer): string {
  return vault.open(sealed, linkPurpose(verificationId))
}

const BATCH = 100

/** Reminds reviewers who have not answered: a transaction each, so that one that fails holds up nobody else. */
export async function remindReviewers(tools: Tools & Pick<Context, 'db' | 'log'>): Promise<number> {
  const { db, clock, log } = tools
  let sent = 0
  for (let after = ''; ; ) {
    const due = await db.queries
      .selectFrom('verification_reviews')
      .select('verification_id')
      .where('remind_at', '<=', new Date(clock.now()))
      .where('verification_id', '>', after)
      .orderBy('verification_id')
      .limit(BATCH)
      .execute()
    for (const { verification_id: id } of due) {
      try {
        if (await db.transaction((tx) => remind(tx, tools, id))) sent++
      } catch (error) {
        log.warn({ err: error }, 'a reviewer could not be reminded')
      }
      after = id
    }
    if (due.length < BATCH) return sent
  }
}

async function remind(tx: Tx, tools: Tools, verificationId: string): Promise<boolean> {
  const { clock, vault } = tools
  const now = clock.now()
  const session = await lockVerification(tx, verificationId)
  const review = await findReview(tx, verificationId)
  const link = review?.link
  const remindAt = link && nextReminder(link.sentAt, now)
  await tx
    .updateTable('verification_reviews')
    .set({ remind_at: remindAt === undefined ? null : new Date(remindAt) })
    .where('verification_id', '=', verificationId)
    .execute()
  if (session?.status !== 'pending_review' || !link || review.submittedAt !== undefined || now >= link.expiresAt) {
    return false
  }
  if (now < link.sentAt + REMINDERS[0]) return false // the address changed meanwhile: its own first reminder comes later
  await queueMail(
    tx,
    tools,
    requestMail(session, review, openLink(vault, verificationId, link.sealed), link.expiresAt, true),
  )
  return true
}

/** A mail that went astray goes out again, with the link in force. Only the console asks for it. */
export async function resendRequest(tx: Tx, tools: Tools, verificationId: string): Promise<Session> {
  const { clock, vault } = tools
  const now = clock.now()
  const session = await lockVerification(tx, verificationId)
  const review = await findReview(tx, verificationId)
  const link = review?.link
  if (session?.status !== 'pending_review' || !link || now >= link.expiresAt) {
    throw problem('CONFLICT', 'No review is awaited here: there is no mail to send again.')
  }
  await requirePause(tx, now, session)
  const sealed = openLink(vault, verificationId, link.sealed)
  await queueMail(tx, tools, requestMail(session, review, sealed, link.expiresAt, true))
  return session
}

/** Mails to the reviewers of a session within a day: that somebody else pays for each is no reason to send many. */
export const MOST_AGAIN = 5
export const MOST_REQUESTS = 10

/** The console's mails: one a minute, and so many a day. */
async function requirePause(tx: Tx, now: number, { id }: Session) {
  const [last] = await listMails(tx, { subjectId: id, limit: 1 })
  const waited = last ? now - last.created_at.getTime() : MINUTE
  if (waited < MINUTE) throw tooSoon('The last mail went out less than a minute ago', MINUTE - waited)
  await requireFewer(tx, now, id, 'review_reminder', MOST_AGAIN)
}

async function requireFewer(tx: Tx, now: number, id: string, kind: MailKind, most: number) {
  const mails = await listMails(tx, { subjectId: id, kind, limit: most })
  const oldest = mails[most - 1]?.created_at.getTime()
  if (oldest === undefined || now - oldest >= DAY) return
  throw tooSoon(`${most} mails went to the reviewer within a day, which is the most`, oldest + DAY - now)
}

function tooSoon(what: string, left: number) {
  const retryAfter = Math.max(1, Math.ceil(left / SECOND))
  return problem('RATE_LIMITED', `${what}; the next can go out in ${spoken(retryAfter)}.`, { retryAfter })
}

function spoken(wait: number): string {
  return wait < 120
    ? seconds(wait)
    : wait < 7200
      ? `${Math.ceil(wait / 60)} minutes`
      : `${Math.ceil(wait / 3600)} hours`
}

/** The first one that lies ahead: after a long standstill one mail goes out, not two at once. */
function nextReminder(sentAt: number, now: number): number | undefined {
  return REMINDERS.map((after) => sentAt + after).find((time) => time > now)
}
