import type { Queries } from '../platform/database/database.ts'
import { readAssessment } from './assessments/attempts.ts'
import { storedItems } from './items.ts'
import { statusAt, verificationAnswer } from './outcome.ts'
import { findReview, reviewerAnswer } from './reviews/reviews.ts'
import { type Session, skillAnswer } from './sessions.ts'

/** The full session, as the student's page reads it. */
export async function readFullSession(queries: Queries, session: Session, now: number) {
  const review = await findReview(queries, session.id)
  const assessment = await readAssessment(queries, session, now)
  return {
    serviceVerificationId: session.id,
    serviceUserId: session.userId,
    status: statusAt(session, now, review, assessment),
    verificationMethod: session.method,
    endorsementType: session.endorsementType,
    student: session.student,
    ...session.items,
    skills: session.skills.map(skillAnswer),
    stored: storedItems(session.userId, session.items, session.sources),
    reviewer: review ? reviewerAnswer(session.id, review) : null,
    expiresAt: new Date(session.expiresAt).toISOString(),
    ...(session.returnUrl === undefined ? {} : { returnUrl: session.returnUrl }),
  }
}

/** Its state and outcomes, as the partner reads them. */
export async function readVerification(queries: Queries, session: Session, now: number) {
  const review = session.method === 'human' ? await findReview(queries, session.id) : undefined
  return verificationAnswer(session, now, review, await readAssessment(queries, session, now))
}
