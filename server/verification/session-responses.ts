import type { Queries } from '../platform/database/database.ts'
import { readAssessment } from './assessments/attempts.ts'
import { findEvidence } from './endorsements/endorsements.ts'
import { itemRecords } from './items.ts'
import { statusAt, verificationRecord } from './outcome.ts'
import { findReview, reviewerRecord } from './reviews/reviews.ts'
import { type Session, skillRecord } from './sessions.ts'

/** Builds the full session for the student's page. */
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
    skills: session.skills.map(skillRecord),
    stored: itemRecords(session.userId, session.items, session.sources),
    reviewer: review ? reviewerRecord(session.id, review) : null,
    ...(await findEvidence(queries, session, review)),
    expiresAt: new Date(session.expiresAt).toISOString(),
    ...(session.returnUrl === undefined ? {} : { returnUrl: session.returnUrl }),
  }
}

/** Builds the status and the outcome of each skill for the partner. */
export async function readVerification(queries: Queries, session: Session, now: number) {
  const review = session.method === 'human' ? await findReview(queries, session.id) : undefined
  const evidence = await findEvidence(queries, session, review)
  return verificationRecord(session, now, review, await readAssessment(queries, session, now), evidence)
}
