import { sql } from 'kysely'
import { isNotPaused } from '../../access/service-switch.ts'
import { problem } from '../../api/problem.ts'
import { getPublicName } from '../../branding/branding.ts'
import { type EmailBrand, findEmailBrand } from '../../branding/email-brand.ts'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import { recordEvent } from '../../events/record.ts'
import { type EmailDeps, type EmailKind, listEmails, queueEmail } from '../../mail/mail.ts'
import { findSuppression } from '../../mail/suppressions.ts'
import { isTestAddress } from '../../mail/test-addresses.ts'
import { createUnsubscribeLink } from '../../mail/unsubscribe-links.ts'
import { type Clock, DAY, formatWait, MINUTE, realClock, SECOND } from '../../platform/clock.ts'
import type { SealedColumn } from '../../platform/data-key-rotation.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../../platform/database/database.ts'
import { randomToken } from '../../platform/ids.ts'
import { hashToken } from '../../platform/token-hash.ts'
import type { Vault } from '../../platform/vault.ts'
import { mainSourceOf } from '../items.ts'
import { eventData } from '../outcome.ts'
import { changeSession, hasTestClock, lockVerification, type Session, sealerOf } from '../sessions.ts'
import { requireNotStudent, requireReviewerAvailable, requireSourcesAvailable } from '../source-rules.ts'
import { reviewRequestEmail } from './emails.ts'
import { reviewInvited } from './invitation-hook.ts'
import { findReview, type Review } from './reviews.ts'
import { reviewSchedule, TEST_REVIEW_REQUESTED } from './test-reviewers.ts'

/** Delays of the reminders after the review request email. */
const REMINDER_DELAYS_MS = [3 * DAY, 7 * DAY] as const

/** Codes of the errors that `requestReview` throws. */
export const REVIEW_REQUEST_ERRORS = [
  ...(['INVALID_EMAIL', 'DUPLICATE_REVIEWER_EMAIL', 'REVIEWER_UNREACHABLE'] as const),
  ...(['DUPLICATE_SKILLS_IN_BUNDLE', 'MAX_SKILLS_PER_SOURCE'] as const),
] as const

/** Emails the review request to the reviewer once skills, items and reviewer are all stored. */
export async function requestReview(
  tx: Tx,
  deps: EmailDeps,
  session: Session,
  review: Review | undefined,
): Promise<Session> {
  // A reviewer who was erased does not count: the student names another one.
  const hasReviewer = review !== undefined && review.personKey !== null
  if (session.method !== 'human' || !hasReviewer || session.skills.length === 0 || session.sources.length === 0) {
    return session
  }
  const { clock, vault, config } = deps
  const now = clock.now()
  await requireSourcesAvailable(tx, session, now)
  await requireNotStudent(tx, session, review)
  await requireReviewerAvailable(tx, session, review, now)
  await requireNotSuppressed(tx, deps, session, review.email)
  await requireDailyLimit(tx, clock, session.id, 'review_request', MAX_REQUESTS_PER_DAY) // limits repeated changes of the reviewer address
  const token = `vrt_${randomToken(32)}`
  const link = `${config.publicUrl}/verify/${session.id}#token=${token}`
  const { linkLifetimeMs, testResponseDelayMs } = reviewSchedule(session, review.email)
  const expiresAt = now + linkLifetimeMs
  await tx
    .updateTable('verification_reviews')
    .set({
      token_hash: hashToken(token),
      link: vault.seal(link, linkPurpose(session.id)),
      sent_at: new Date(now),
      expires_at: new Date(expiresAt),
      remind_at: new Date(now + REMINDER_DELAYS_MS[0]),
      requested_at: new Date(review.requestedAt ?? now),
      test_response_at: testResponseDelayMs === undefined ? null : new Date(now + testResponseDelayMs),
    })
    .where('verification_id', '=', session.id)
    .execute()
  if (testResponseDelayMs !== undefined) notifyAfterCommit(tx, TEST_REVIEW_REQUESTED)
  const changedSession = await changeSession(tx, session, now, { status: 'pending_review', extendsSession: true })
  const sender = await findSender(tx, config, session)
  const email = buildRequestEmail(config, changedSession, review, { link, expiresAt, reminder: false, ...sender })
  await queueEmail(tx, deps, { ...email, rejectOverLimit: true })
  await reviewInvited.run(tx, deps, { session: changedSession, review, link, purpose: 'review_request', ...sender })
  if (review.requestedAt === undefined) {
    await recordEvent(tx, session.scope, clock, 'verification.requested', eventData(changedSession))
  }
  return changedSession
}

/** Sends the current link to a phone number that was added or changed after the email. Messages to an earlier number are dropped. */
export async function sendLinkToNewPhone(tx: Tx, deps: EmailDeps, session: Session, review: Review): Promise<void> {
  const link = unsealLink(deps.vault, session.id, review.link!.sealed)
  const sender = await findSender(tx, deps.config, session)
  await reviewInvited.run(tx, deps, { session, review, link, purpose: 'review_request', ...sender })
}

interface RequestEmailOptions {
  link: string
  expiresAt: number
  reminder: boolean
  organisation: string
  brand: EmailBrand | undefined
}

/** Returns the name and the look of the organisation. */
export async function findSender(tx: Queries, config: Pick<Config, 'publicUrl'>, { scope }: Session) {
  const brand = await findEmailBrand(tx, config, scope.orgId)
  return { organisation: brand?.name ?? (await getPublicName(tx, scope.orgId)), brand }
}

function buildRequestEmail(
  config: Pick<Config, 'publicUrl'>,
  session: Session,
  review: Review,
  { link, expiresAt, reminder, organisation, brand }: RequestEmailOptions,
) {
  const unsubscribeLink = createUnsubscribeLink(config)
  return {
    ...reviewRequestEmail({
      reviewer: review,
      student: session.student,
      endorsementType: session.endorsementType,
      source: mainSourceOf(session.items, session.sources)!,
      skills: session.skills.map(({ name }) => name),
      link,
      expiresAt,
      reminder,
      unsubscribeUrl: unsubscribeLink.url,
      organisation,
      brand,
    }),
    to: { name: review.name, address: review.email },
    scope: session.scope,
    subjectId: session.id,
    people: [sealerOf(review), sealerOf(session)],
    unsubscribeLink,
  }
}

/** Rejects a reviewer whose mailbox is suppressed. The message does not reveal whether they unsubscribed or emails bounced. */
export async function requireNotSuppressed(
  tx: Tx,
  deps: Pick<Context, 'mailboxes'>,
  session: Session,
  address: string,
): Promise<void> {
  if (await isSuppressed(tx, deps, session, address))
    throw problem(
      'REVIEWER_UNREACHABLE',
      'email: this address does not accept review requests. Use another reviewer, or another address of this reviewer.',
    )
}

/**
 * Returns whether a reviewer accepts no emails. Test reviewers always do: all organisations share them, and the unsubscribe link in a
 * stored email of one organisation must not affect the others.
 */
export async function isSuppressed(
  tx: Queries,
  deps: Pick<Context, 'mailboxes'>,
  { scope }: Session,
  address: string,
): Promise<boolean> {
  if (scope.mode === 'test' && isTestAddress(address)) return false
  return (await findSuppression(tx, deps, { address, audience: 'reviewer', orgId: scope.orgId })) !== undefined
}

function linkPurpose(verificationId: string) {
  return `review link of ${verificationId}`
}

export const sealedReviewLinks: SealedColumn = {
  table: 'verification_reviews',
  column: 'link',
  id: ['verification_id'],
  purpose: linkPurpose,
}

export function unsealLink(vault: Vault, verificationId: string, sealed: Buffer): string {
  return vault.open(sealed, linkPurpose(verificationId))
}

const BATCH_SIZE = 100

/**
 * Reminds reviewers who have not responded, each in its own transaction, so that one failure does not stop the others: those of sessions
 * in real time, or with a test clock. Reminders of paused organisations wait.
 */
export async function remindReviewers(
  deps: EmailDeps & Pick<Context, 'db' | 'log' | 'keyring'>,
  testClockId?: string,
): Promise<number> {
  const { db, clock, log, keyring } = deps
  await keyring.ensureFresh()
  let sentCount = 0
  for (let lastId = ''; ; ) {
    const dueReviews = await db.queries
      .selectFrom('verification_reviews as r')
      .innerJoin('verification_sessions as s', 's.verification_id', 'r.verification_id')
      .select('r.verification_id')
      .where('r.remind_at', '<=', new Date(clock.now()))
      .where('r.verification_id', '>', lastId)
      .where(isNotPaused(sql`s.org_id`, keyring.pausedOrganisations()))
      .where(hasTestClock(testClockId))
      .orderBy('r.verification_id')
      .limit(BATCH_SIZE)
      .execute()
    for (const { verification_id: id } of dueReviews) {
      try {
        if (await db.transaction((tx) => remindReviewer(tx, deps, id))) sentCount++
      } catch (error) {
        log.warn({ err: error, verification_id: id }, 'sending a review reminder failed, retrying on the next run')
      }
      lastId = id
    }
    if (dueReviews.length < BATCH_SIZE) return sentCount
  }
}

/**
 * Schedules the next reminder, and queues one if the review is still pending. Returns whether it was queued. A reminder over a daily
 * limit, or to a suppressed mailbox, is stored as skipped.
 */
async function remindReviewer(tx: Tx, deps: EmailDeps, verificationId: string): Promise<boolean> {
  const { clock, vault, config } = deps
  const now = clock.now()
  const session = await lockVerification(tx, clock, verificationId)
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
  if (now < link.sentAt + REMINDER_DELAYS_MS[0]) return false // the address has changed: its first reminder is due later
  const unsealedLink = unsealLink(vault, verificationId, link.sealed)
  const sender = await findSender(tx, config, session)
  const options = { link: unsealedLink, expiresAt: link.expiresAt, reminder: true, ...sender }
  await queueEmail(tx, deps, buildRequestEmail(config, session, review, options))
  await reviewInvited.run(tx, deps, { session, review, link: unsealedLink, purpose: 'review_reminder', ...sender })
  return true
}

/** Sends the review request again with the current link, in case the email was lost. Used by the console only. */
export async function resendRequest(tx: Tx, deps: EmailDeps, verificationId: string): Promise<Session> {
  const { clock, vault, config } = deps
  const session = await lockVerification(tx, clock, verificationId)
  const now = session?.clock.now() ?? clock.now()
  const review = await findReview(tx, verificationId)
  const link = review?.link
  if (session?.status !== 'pending_review' || !link || now >= link.expiresAt) {
    throw problem(
      'CONFLICT',
      'This verification has no pending review, or its review link has expired, so there is no email to resend.',
    )
  }
  if (await isSuppressed(tx, deps, session, review.email))
    throw problem('CONFLICT', 'The reviewer no longer accepts review requests, so the email cannot be resent.')
  await requireReminderAllowed(tx, clock, session)
  const unsealedLink = unsealLink(vault, verificationId, link.sealed)
  const sender = await findSender(tx, config, session)
  const options = { link: unsealedLink, expiresAt: link.expiresAt, reminder: true, ...sender }
  await queueEmail(tx, deps, { ...buildRequestEmail(config, session, review, options), rejectOverLimit: true })
  await reviewInvited.run(tx, deps, { session, review, link: unsealedLink, purpose: 'review_reminder', ...sender })
  return session
}

/** Limits on emails to the reviewers of one session per day. */
const MAX_REMINDERS_PER_DAY = 5
const MAX_REQUESTS_PER_DAY = 10

/** Limits resending from the console: one reminder per minute, and a daily maximum. */
async function requireReminderAllowed(tx: Tx, clock: Clock, { id }: Session) {
  const now = realClock(clock).now()
  const [lastEmail] = await listEmails(tx, { subjectId: id, limit: 1 })
  const waitedMs = lastEmail ? now - lastEmail.created_at.getTime() : MINUTE
  if (waitedMs < MINUTE)
    throw tooSoonProblem('The last email to the reviewer was sent less than a minute ago', MINUTE - waitedMs)
  await requireDailyLimit(tx, clock, id, 'review_reminder', MAX_REMINDERS_PER_DAY)
}

/** Limits emails in real time, also those of a session with a test clock. */
async function requireDailyLimit(tx: Tx, clock: Clock, id: string, kind: EmailKind, max: number) {
  const now = realClock(clock).now()
  const emails = await listEmails(tx, { subjectId: id, kind, limit: max })
  const oldestSentAt = emails[max - 1]?.created_at.getTime()
  if (oldestSentAt === undefined || now - oldestSentAt >= DAY) return
  const noun = kind === 'review_reminder' ? 'reminders' : 'review requests'
  throw tooSoonProblem(
    `The maximum of ${max} ${noun} per day has been sent for this verification`,
    oldestSentAt + DAY - now,
  )
}

function tooSoonProblem(reason: string, waitMs: number) {
  const retryAfter = Math.max(1, Math.ceil(waitMs / SECOND))
  return problem('RATE_LIMITED', `${reason}. Try again in ${formatWait(retryAfter)}.`, { retryAfter })
}

/** Returns the time of the next reminder. Skips reminders that were missed during downtime, so that two are not sent together. */
function nextReminder(sentAt: number, now: number): number | undefined {
  return REMINDER_DELAYS_MS.map((delayMs) => sentAt + delayMs).find((time) => time > now)
}
