import { skillId } from '../catalogue/ids.ts'
import { type EventSubject, recordEvent, recordEvents } from '../events/record.ts'
import { ERASED } from '../people/identity/person-key.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { verificationEnded } from './credential-hooks.ts'
import type { Evidence } from './endorsements/evidence.ts'
import { mainSourceOf } from './items.ts'
import type { Review } from './reviews/reviews.ts'
import type { SkillAssessment, SkillOutcome, VerificationOutcome, VerificationStatus } from './schema.ts'
import type { Session } from './sessions.ts'

/** Score of the last submitted assessment attempt, the skills that were passed in any attempt, and whether all attempts are used. */
export interface AssessmentState {
  score: number | undefined
  passedSkills: number[]
  assessedSkills: number[]
  /** The marks of each skill in the last submitted attempt that asked about it, by number. */
  marks: ReadonlyMap<number, SkillAssessment>
  exhausted: boolean
}

/** Returns the current status of a verification: sessions, links and attempts expire before a job stores the new status. */
export function statusAt(
  session: Session,
  now: number,
  review: Review | undefined,
  assessment: AssessmentState | undefined,
): VerificationStatus {
  const { status, expiresAt } = session
  if (status === 'open' && now >= expiresAt) return 'expired'
  if (status === 'pending_review' && review?.link && now >= review.link.expiresAt) return 'expired'
  if (status === 'in_assessment' && assessment?.exhausted) return 'failed'
  return status
}

export function skillOutcomes(
  { skills }: Session,
  status: VerificationStatus,
  review: Review | undefined,
  assessment: AssessmentState | undefined,
): SkillOutcome[] {
  return skills.map(({ number, name }) => {
    // A withdrawn review no longer says anything about the skills.
    const decisions = review?.withdrawnAt === undefined ? review?.decisions : undefined
    const decision = decisions?.find(({ skill }) => skill === number)
    const marks = assessment?.marks.get(number)
    return {
      skillId: skillId(number),
      name,
      outcome: outcomeOf(),
      ...(decision?.rating === undefined ? {} : { rating: decision.rating }),
      ...(decision?.comment === undefined ? {} : { comment: decision.comment }),
      ...(marks ? { assessment: marks } : {}),
    }

    function outcomeOf(): VerificationOutcome {
      if (decision) return decision.endorsed ? 'endorsed' : 'not_endorsed'
      if (status === 'declined') return 'not_endorsed'
      if (status !== 'completed' && status !== 'failed') return 'pending'
      if (assessment?.passedSkills.includes(number)) return 'passed'
      const wasAssessed =
        !assessment || assessment.assessedSkills.length === 0 || assessment.assessedSkills.includes(number)
      return wasAssessed ? 'not_passed' : 'not_assessed'
    }
  })
}

/** Records that the attempts of an assessment are used up. Skills that were passed before stay verified. */
export async function recordFailure(
  tx: Tx,
  clock: Clock,
  session: Session,
  assessment: AssessmentState | undefined,
): Promise<void> {
  const skills = skillOutcomes(session, 'failed', undefined, assessment)
  await recordEvent(tx, session.scope, clock, 'verification.failed', eventData(session, skills))
  await verificationEnded.run(tx, session.id, clock)
}

/** Records the expiry of sessions. */
export async function recordExpiries(tx: Tx, clock: Clock, sessions: Session[]): Promise<void> {
  const sessionsByScope = Map.groupBy(sessions, ({ scope }) => `${scope.orgId} ${scope.mode}`)
  for (const group of sessionsByScope.values()) {
    const data = group.map((session) => eventData(session, skillOutcomes(session, 'expired', undefined, undefined)))
    await recordEvents(tx, group[0]!.scope, clock, 'verification.expired', data)
  }
}

/** Replaces the comments of the reviewer with the marker. */
export function redactOutcomes(skills: SkillOutcome[]): SkillOutcome[] {
  return skills.map((skill) => (skill.comment === undefined ? skill : { ...skill, comment: ERASED }))
}

/** Returns the people of an event that contains what a reviewer wrote about a student. */
export function reviewSubject(session: Session, review: Review, redactedData: object): EventSubject {
  return {
    personId: session.personId,
    key: session.personKey,
    other: { personId: review.personId, key: review.personKey },
    redactedData,
  }
}

/** Builds the payload of a verification event; final events include the outcome of each skill, and the evidence of endorsements. */
export function eventData(session: Session, skills?: SkillOutcome[], evidence?: Evidence) {
  return {
    serviceVerificationId: session.id,
    serviceUserId: session.userId,
    externalStudentId: session.student.externalStudentId,
    verificationMethod: session.method,
    status: session.status,
    ...(skills ? { skills } : {}),
    ...evidence,
    version: session.version,
  }
}

/** Builds the response for the partner, which is also available after the session has ended. */
export function verificationRecord(
  session: Session,
  now: number,
  review: Review | undefined,
  assessment: AssessmentState | undefined,
  evidence: Evidence | undefined,
) {
  const status = statusAt(session, now, review, assessment)
  const source = mainSourceOf(session.items, session.sources)
  return {
    serviceVerificationId: session.id,
    serviceUserId: session.userId,
    externalStudentId: session.student.externalStudentId,
    status,
    verificationMethod: session.method,
    endorsementType: session.endorsementType,
    ...(session.testClockId === null ? {} : { testClockId: session.testClockId }),
    ...(source ? { source } : {}),
    skills: skillOutcomes(session, status, session.method === 'human' ? review : undefined, assessment),
    ...evidence,
    score: assessment?.score ?? null,
    ...(session.completedAt === undefined ? {} : { completedAt: new Date(session.completedAt).toISOString() }),
    ...(status === 'declined' && review?.declineReason ? { declineReason: review.declineReason } : {}),
    ...(review?.withdrawnAt === undefined
      ? {}
      : { withdrawnAt: new Date(review.withdrawnAt).toISOString(), withdrawnBy: review.withdrawnBy! }),
  }
}
