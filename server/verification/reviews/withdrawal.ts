import { problem } from '../../api/problem.ts'
import { findEmailBrand } from '../../branding/email-brand.ts'
import { recordEvent } from '../../events/record.ts'
import { type EmailDeps, queueEmail } from '../../mail/mail.ts'
import { createUnsubscribeLink } from '../../mail/unsubscribe-links.ts'
import { ERASED } from '../../people/identity/person-key.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { endorsementWithdrawn } from '../credential-hooks.ts'
import { mainSourceOf } from '../items.ts'
import { eventData, redactOutcomes, reviewSubject, skillOutcomes } from '../outcome.ts'
import { commentsOf, sealWords } from '../personal-values.ts'
import type { SkillOutcome } from '../schema.ts'
import { changeSession, lockVerification, type Session, sealerOf } from '../sessions.ts'
import { findStudentLanguage } from '../student-language.ts'
import { reviewOutcomeEmail } from './emails.ts'
import { findReview, isWithdrawable, type Review, type WithdrawnBy } from './reviews.ts'

interface Withdrawal {
  by: WithdrawnBy
  /** Shown to the student and the partner. */
  reason: string
}

interface ReviewedSession {
  session: Session
  review: Review
}

/**
 * Locks a verification with its review, for a withdrawal by the organisation or an operator. Throws unless its endorsement was or can be
 * withdrawn, with codes that the console has too.
 */
export async function lockReviewed(tx: Tx, clock: Clock, id: string): Promise<ReviewedSession> {
  const session = await lockVerification(tx, clock, id)
  if (!session) throw problem('NOT_FOUND', `Verification ${id} not found.`)
  const review = await findReview(tx, id)
  if (!review || (review.withdrawnAt === undefined && !isWithdrawable(session, review)))
    throw problem('CONFLICT', NOTHING_TO_WITHDRAW)
  return { session, review }
}

const NOTHING_TO_WITHDRAW = 'This verification has no endorsement that can be withdrawn.'

/**
 * Withdraws an endorsement: the verification is declined, its skills are no longer endorsed, and credentials that depend on it are
 * revoked in the same transaction. Withdrawing it again changes nothing. Without `emailDeps`, which commands do not have, the student is
 * not emailed.
 */
export async function withdrawEndorsement(
  tx: Tx,
  { session, review }: ReviewedSession,
  withdrawal: Withdrawal,
  emailDeps?: EmailDeps,
): Promise<{ session: Session; skills: SkillOutcome[] }> {
  if (review.withdrawnAt !== undefined)
    return { session, skills: skillOutcomes(session, session.status, review, undefined) }
  if (!isWithdrawable(session, review)) throw problem('NOTHING_TO_WITHDRAW', NOTHING_TO_WITHDRAW)
  const { clock } = session
  const now = clock.now()
  const { by, reason } = withdrawal
  await tx
    .updateTable('verification_reviews')
    // Without endorsed skills, the job that adds missing endorsements does not add this one again.
    .set({
      withdrawn_at: new Date(now),
      withdrawn_by: by,
      decline_reason: ERASED,
      words: sealWords({ reviewerKey: review.personKey, studentKey: session.personKey }, session.id, {
        comments: commentsOf(review.decisions ?? []),
        reason,
      }),
      endorsed: [],
    })
    .where('verification_id', '=', session.id)
    .execute()
  // A withdrawn endorsement no longer links the reviewer and the student.
  await tx.deleteFrom('endorsements').where('verification_id', '=', session.id).execute()
  const changedSession = await changeSession(tx, session, now, { status: 'declined' })
  const withdrawn: Review = { ...review, withdrawnAt: now, withdrawnBy: by, declineReason: reason }
  const skills = skillOutcomes(changedSession, 'declined', withdrawn, undefined)
  const withdrawalData = { withdrawnAt: new Date(now).toISOString(), withdrawnBy: by }
  await recordEvent(
    tx,
    session.scope,
    clock,
    'verification.declined',
    { ...eventData(changedSession, skills), ...withdrawalData },
    reviewSubject(changedSession, review, { ...eventData(changedSession, redactOutcomes(skills)), ...withdrawalData }),
  )
  await endorsementWithdrawn.run(tx, session.id, clock)
  if (emailDeps) await emailStudent(tx, emailDeps, { session, review }, withdrawal)
  return { session: changedSession, skills }
}

async function emailStudent(
  tx: Tx,
  deps: EmailDeps,
  { session, review }: ReviewedSession,
  { by, reason }: Withdrawal,
): Promise<void> {
  // Nobody is told about an erased person, and an erased student has no address.
  if (session.personKey === null || review.personKey === null) return
  const unsubscribeLink = createUnsubscribeLink(deps.config)
  await queueEmail(tx, deps, {
    ...reviewOutcomeEmail({
      student: session.student,
      reviewer: review,
      source: mainSourceOf(session.items, session.sources)!,
      skills: [],
      withdrawn: { byReviewer: by === 'reviewer', reason },
      unsubscribeUrl: unsubscribeLink.url,
      language: (await findStudentLanguage.run(tx, session.id)).privacy,
      brand: await findEmailBrand(tx, deps.config, session.scope.orgId),
    }),
    to: { name: session.student.name, address: session.student.email },
    scope: session.scope,
    subjectId: session.id,
    people: [sealerOf(session), sealerOf(review)],
    unsubscribeLink,
  })
}
