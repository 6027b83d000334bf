import { skillId } from '../catalogue/ids.ts'
import { sourceOf } from './items.ts'
import type { Review } from './reviews/reviews.ts'
import type { Outcome, SkillOutcome, Status } from './schema.ts'
import type { Session } from './sessions.ts'

/** What an assessment has come to: its last submitted attempt, and whether another one is allowed. */
export interface AssessmentState {
  score: number | undefined
  passedSkills: number[]
  exhausted: boolean
}

/** What a session has come to by now: sessions, links and attempts end without anybody writing it down at that moment. */
export function statusAt(
  session: Session,
  now: number,
  review: Review | undefined,
  assessment: AssessmentState | undefined,
): Status {
  const { status, expiresAt } = session
  if (status === 'open' && now >= expiresAt) return 'expired'
  if (status === 'pending_review' && review?.link && now >= review.link.expiresAt) return 'expired'
  if (status === 'in_assessment' && assessment?.exhausted) return 'failed'
  return status
}

export function skillOutcomes(
  { skills }: Session,
  status: Status,
  review: Review | undefined,
  assessment: AssessmentState | undefined,
): SkillOutcome[] {
  return skills.map(({ number, name }) => {
    const decision = review?.decisions?.find(({ skill }) => skill === number)
    return {
      skillId: skillId(number),
      name,
      outcome: outcomeOf(),
      ...(decision?.rating === undefined ? {} : { rating: decision.rating }),
      ...(decision?.comment === undefined ? {} : { comment: decision.comment }),
    }

    function outcomeOf(): Outcome {
      if (decision) return decision.endorsed ? 'endorsed' : 'not_endorsed'
      if (status === 'declined') return 'not_endorsed'
      if (status === 'completed') return assessment?.passedSkills.includes(number) ? 'passed' : 'not_passed'
      return status === 'failed' ? 'not_passed' : 'pending'
    }
  })
}

/** What partners are told in events; at the end with the outcomes. */
export function eventData(session: Session, skills?: SkillOutcome[]) {
  return {
    serviceVerificationId: session.id,
    serviceUserId: session.userId,
    externalStudentId: session.student.externalStudentId,
    verificationMethod: session.method,
    status: session.status,
    ...(skills ? { skills } : {}),
    version: session.version,
  }
}

/** The partner's view, also after the session ended. */
export function verificationAnswer(
  session: Session,
  now: number,
  review: Review | undefined,
  assessment: AssessmentState | undefined,
) {
  const status = statusAt(session, now, review, assessment)
  const source = sourceOf(session.items, session.sources)
  return {
    serviceVerificationId: session.id,
    serviceUserId: session.userId,
    externalStudentId: session.student.externalStudentId,
    status,
    verificationMethod: session.method,
    endorsementType: session.endorsementType,
    ...(source ? { source } : {}),
    skills: skillOutcomes(session, status, session.method === 'human' ? review : undefined, assessment),
    score: assessment?.score ?? null,
    ...(session.completedAt === undefined ? {} : { completedAt: new Date(session.completedAt).toISOString() }),
    ...(status === 'declined' && review?.declineReason ? { declineReason: review.declineReason } : {}),
  }
}
