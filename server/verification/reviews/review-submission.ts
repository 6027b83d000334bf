import { timingSafeEqual } from 'node:crypto'
import { type Detail, problem } from '../../api/problem.ts'
import { skillId, skillNumber } from '../../catalogue/ids.ts'
import type { Context } from '../../context.ts'
import { recordEvent } from '../../events/record.ts'
import { queueMail } from '../../mail/mail.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { invalid } from '../../platform/http/validation.ts'
import { visible } from '../../platform/text/strip-invisible.ts'
import { isMissing } from '../fields.ts'
import { sourceOf } from '../items.ts'
import { eventData, skillOutcomes, statusAt } from '../outcome.ts'
import type { ReviewInput, SkillOutcome } from '../schema.ts'
import {
  changeSession,
  findVerification,
  hashToken,
  lockVerification,
  type Session,
  skillAnswer,
  verificationNotFound,
} from '../sessions.ts'
import { reviewOutcomeMail } from './emails.ts'
import { alreadySubmitted, type Decision, findReview, linkExpired, type Review } from './reviews.ts'

/** What the reviewer's page shows. The id alone opens it; nothing is there before a mail has gone out. */
export async function readVerifyPage(queries: Queries, id: string, now: number) {
  const session = await findVerification(queries, id)
  if (session?.method === 'assessment') {
    throw problem('INVALID_VERIFICATION_TYPE', 'This verification is an assessment: there is nothing to review.')
  }
  const review = session && (await findReview(queries, id))
  if (!session || !review?.link) throw verificationNotFound()
  if (now >= review.link.expiresAt) throw linkExpired()
  const { student } = session
  const { type, title, subtitle, meta, description } = sourceOf(session.items, session.sources)!
  const shown = (text: string | null) => (text === null ? null : visible(text))
  // Others wrote all of this: nothing in it may pass for something else.
  return {
    serviceVerificationId: id,
    endorserInfo: {
      name: visible(review.name) || review.email,
      company: visible(review.company),
      email: review.email,
    },
    requesterInfo: {
      name: visible(student.name) || student.email,
      email: student.email,
      externalStudentId: student.externalStudentId,
    },
    source: {
      type,
      title: visible(title),
      subtitle: shown(subtitle),
      meta: shown(meta),
      description: shown(description),
    },
    skills: session.skills.map(skillAnswer),
    endorsementType: session.endorsementType,
    status: statusAt(session, now, review, undefined),
    expiresAt: new Date(review.link.expiresAt).toISOString(),
  }
}

/** Whoever holds the token of the newest mail may go on; everybody else learns nothing, not even whether the id exists. */
export async function lockReview(tx: Tx, id: string, token: unknown): Promise<{ session: Session; review: Review }> {
  const session = await lockVerification(tx, id)
  const review = session && (await findReview(tx, id))
  const given = hashToken(typeof token === 'string' ? token : '')
  if (session?.method !== 'human' || !review?.link || !timingSafeEqual(given, review.link.tokenHash)) {
    throw problem('INVALID_TOKEN', 'This link is not valid, or a newer one has replaced it.')
  }
  return { session, review }
}

export function requireAwaited({ submittedAt, link }: Review, now: number): void {
  if (submittedAt !== undefined) throw alreadySubmitted()
  if (now >= link!.expiresAt) throw linkExpired()
}

type Tools = Pick<Context, 'queue' | 'clock' | 'vault'>

/** Takes the reviewer's one answer, tells the partner and the student. */
export async function submitReview(
  tx: Tx,
  tools: Tools,
  { session, review }: { session: Session; review: Review },
  input: ReviewInput,
): Promise<{ session: Session; skills: SkillOutcome[] }> {
  const { clock } = tools
  const now = clock.now()
  const answer = readAnswer(session, input)
  await tx
    .updateTable('verification_reviews')
    .set({
      submitted_at: new Date(now),
      remind_at: null,
      ...('reason' in answer
        ? { decline_reason: answer.reason }
        : {
            decisions: JSON.stringify(answer.decisions),
            endorsed: answer.decisions.filter(({ endorsed }) => endorsed).map(({ skill }) => skill),
          }),
    })
    .where('verification_id', '=', session.id)
    .execute()
  const status = 'reason' in answer ? 'declined' : 'completed'
  const ended = await changeSession(tx, session, now, { status, completedAt: now })
  const decided = 'reason' in answer ? review : { ...review, decisions: answer.decisions }
  const skills = skillOutcomes(ended, status, decided, undefined)
  await recordEvent(tx, session.scope, clock, `verification.${status}`, eventData(ended, skills))
  await queueMail(tx, tools, {
    ...reviewOutcomeMail({
      student: session.student,
      reviewer: review,
      source: sourceOf(session.items, session.sources)!,
      skills,
      ...('reason' in answer ? { declined: answer.reason } : {}),
    }),
    to: { name: session.student.name, address: session.student.email },
    scope: session.scope,
    subjectId: session.id,
  })
  return { session: ended, skills }
}

type ReviewAnswer = { decisions: Decision[] } | { reason: string }

/** A decision for every skill exactly once, or a refusal with its reason. */
function readAnswer(session: Session, { decisions, declined, reason }: ReviewInput): ReviewAnswer {
  if (declined) {
    if (decisions && decisions.length > 0) {
      throw invalid([{ path: 'decisions', message: 'must not come together with declined' }])
    }
    if (isMissing(reason)) throw invalid([{ path: 'reason', message: 'is required with declined' }])
    return { reason: reason! }
  }
  if (!decisions) throw invalid([{ path: 'decisions', message: 'is required, or declined with a reason' }])
  const open = new Set(session.skills.map(({ number }) => number))
  const details: Detail[] = []
  const read = decisions.map(({ skillId: id, endorsed, rating, comment }, index): Decision => {
    const skill = skillNumber(id)
    if (skill === undefined || !open.delete(skill)) {
      const known = session.skills.some(({ number }) => number === skill)
      const message = known ? 'comes twice' : 'is not a skill of this verification'
      details.push({ path: `decisions[${index}].skillId`, message })
    }
    return {
      skill: skill ?? 0,
      endorsed,
      ...(rating === undefined ? {} : { rating }),
      ...(comment ? { comment } : {}),
    }
  })
  for (const number of open) details.push({ path: 'decisions', message: `${skillId(number)} has no decision` })
  if (details.length > 0) throw invalid(details)
  return { decisions: read }
}
