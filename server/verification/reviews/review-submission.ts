import { timingSafeEqual } from 'node:crypto'
import { invalid } from '../../api/invalid.ts'
import { type Detail, problem } from '../../api/problem.ts'
import { getPublicName } from '../../branding/branding.ts'
import { findEmailBrand } from '../../branding/email-brand.ts'
import { skillId, skillNumber } from '../../catalogue/ids.ts'
import type { Context } from '../../context.ts'
import { recordEvent } from '../../events/record.ts'
import { type EmailDeps, queueEmail } from '../../mail/mail.ts'
import { createUnsubscribeLink } from '../../mail/unsubscribe-links.ts'
import { ERASED } from '../../people/identity/person-key.ts'
import { type Clock, DAY } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { stripInvisible } from '../../platform/text/strip-invisible.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { verificationEnded } from '../credential-hooks.ts'
import { recordEndorsement } from '../endorsements/endorsements.ts'
import { isMissing } from '../fields.ts'
import { mainSourceOf } from '../items.ts'
import { eventData, redactOutcomes, reviewSubject, skillOutcomes, statusAt } from '../outcome.ts'
import { commentsOf, type ReviewWords, sealWords, withoutComments } from '../personal-values.ts'
import { listChosenProofFiles, proofFileRecord } from '../proofs/proof-files.ts'
import type { ReviewInput, SkillOutcome } from '../schema.ts'
import type { SkillDecision } from '../session-skills.ts'
import {
  changeSession,
  dataErasedProblem,
  findVerification,
  lockVerification,
  requireUnrestricted,
  type Session,
  sealerOf,
  skillRecord,
  verificationNotFoundProblem,
} from '../sessions.ts'
import { findStudentLanguage } from '../student-language.ts'
import { reviewOutcomeEmail } from './emails.ts'
import { alreadySubmittedProblem, findReview, isWithdrawable, linkExpiredProblem, type Review } from './reviews.ts'

/** Time from the review in which the reviewer can withdraw an endorsement with the link of the email. Texts and emails name it. */
const WITHDRAWAL_PERIOD_MS = 90 * DAY

/** Returns the data of the review page. The verification ID is enough to read it, but only after the reviewer was emailed. */
export async function readReviewPage(queries: Queries, clock: Clock, id: string) {
  const session = await findVerification(queries, clock, id)
  if (session?.method === 'assessment') {
    throw problem('INVALID_VERIFICATION_TYPE', 'This verification uses an assessment and has no review.')
  }
  const review = session && (await findReview(queries, id))
  if (!session || !review?.link) throw verificationNotFoundProblem()
  requireNotErased(session, review)
  const now = session.clock.now()
  if (now >= review.link.expiresAt) throw linkExpiredProblem()
  const { student } = session
  const { type, title, subtitle, meta, description } = mainSourceOf(session.items, session.sources)!
  const stripIfPresent = (text: string | null) => (text === null ? null : stripInvisible(text))
  // All of this is user text: strip invisible characters that could disguise it.
  return {
    serviceVerificationId: id,
    endorserInfo: {
      name: stripInvisible(review.name) || review.email,
      company: stripInvisible(review.company),
      email: review.email,
    },
    requesterInfo: {
      name: stripInvisible(student.name) || student.email,
      email: student.email,
      externalStudentId: student.externalStudentId,
    },
    source: {
      type,
      title: stripInvisible(title),
      subtitle: stripIfPresent(subtitle),
      meta: stripIfPresent(meta),
      description: stripIfPresent(description),
    },
    proofFiles:
      review.submittedAt === undefined ? (await listChosenProofFiles(queries, session)).map(proofFileRecord) : [],
    skills: session.skills.map(skillRecord),
    endorsementType: session.endorsementType,
    organisationName: await getPublicName(queries, session.scope.orgId),
    status: statusAt(session, now, review, undefined),
    withdrawable: isWithdrawable(session, review),
    expiresAt: new Date(review.link.expiresAt).toISOString(),
  }
}

/** Locks a review. Requires the token of the latest email; other callers cannot even find out whether the ID exists. */
export async function lockReview(
  tx: Tx,
  clock: Clock,
  id: string,
  token: unknown,
): Promise<{ session: Session; review: Review }> {
  const session = await lockVerification(tx, clock, id)
  const review = session && (await findReview(tx, id))
  const tokenHash = hashToken(typeof token === 'string' ? token : '')
  if (session?.method !== 'human' || !review?.link || !timingSafeEqual(tokenHash, review.link.tokenHash)) {
    throw problem(
      'INVALID_TOKEN',
      'This review link is invalid or was replaced by a newer one. Use the link in the newest email.',
    )
  }
  requireNotErased(session, review)
  return { session, review }
}

/** Throws if the data of the student or the reviewer was erased, which ends the review. */
function requireNotErased(session: Session, review: Review): void {
  if (session.personKey === null || review.personKey === null) throw dataErasedProblem()
}

export function requirePendingReview({ submittedAt, link }: Review, now: number): void {
  if (submittedAt !== undefined) throw alreadySubmittedProblem()
  if (now >= link!.expiresAt) throw linkExpiredProblem()
}

type ReviewSubmissionDeps = EmailDeps & Pick<Context, 'emailDomains'>

/** Stores the review and the endorsement, publishes the event and emails the student. */
export async function submitReview(
  tx: Tx,
  deps: ReviewSubmissionDeps,
  { session, review }: { session: Session; review: Review },
  input: ReviewInput,
): Promise<{ session: Session; skills: SkillOutcome[] }> {
  const { clock, config } = deps
  const now = clock.now()
  await requireUnrestricted(tx, review)
  await requireUnrestricted(tx, session)
  const decision = readDecision(session, input)
  const seal = (words: ReviewWords) =>
    sealWords({ reviewerKey: review.personKey, studentKey: session.personKey }, session.id, words)
  await tx
    .updateTable('verification_reviews')
    .set({
      submitted_at: new Date(now),
      remind_at: null,
      ...('reason' in decision
        ? { decline_reason: ERASED, words: seal({ comments: {}, reason: decision.reason }) }
        : {
            decisions: JSON.stringify(withoutComments(decision.decisions)),
            words: seal({ comments: commentsOf(decision.decisions), reason: undefined }),
            endorsed: decision.decisions.filter(({ endorsed }) => endorsed).map(({ skill }) => skill),
            expires_at: new Date(now + WITHDRAWAL_PERIOD_MS),
          }),
    })
    .where('verification_id', '=', session.id)
    .execute()
  const status = 'reason' in decision ? 'declined' : 'completed'
  const endedSession = await changeSession(tx, session, now, { status, completedAt: now })
  const submittedReview = 'reason' in decision ? review : { ...review, decisions: decision.decisions }
  const skills = skillOutcomes(endedSession, status, submittedReview, undefined)
  const isEndorsement = skills.some(({ outcome }) => outcome === 'endorsed')
  const evidence = isEndorsement ? await recordEndorsement(tx, deps, endedSession, review) : undefined
  await recordEvent(
    tx,
    session.scope,
    clock,
    `verification.${status}`,
    eventData(endedSession, skills, evidence),
    reviewSubject(endedSession, review, eventData(endedSession, redactOutcomes(skills), evidence)),
  )
  if (status === 'completed') await verificationEnded.run(tx, session.id, clock)
  const unsubscribeLink = createUnsubscribeLink(config)
  await queueEmail(tx, deps, {
    ...reviewOutcomeEmail({
      student: session.student,
      reviewer: review,
      source: mainSourceOf(session.items, session.sources)!,
      skills,
      ...('reason' in decision ? { declined: decision.reason } : {}),
      unsubscribeUrl: unsubscribeLink.url,
      language: (await findStudentLanguage.run(tx, session.id)).privacy,
      brand: await findEmailBrand(tx, config, session.scope.orgId),
    }),
    to: { name: session.student.name, address: session.student.email },
    scope: session.scope,
    subjectId: session.id,
    people: [sealerOf(session), sealerOf(review)],
    unsubscribeLink,
  })
  return { session: endedSession, skills }
}

type ReviewDecision = { decisions: SkillDecision[] } | { reason: string }

/** Requires exactly one decision per skill, or `declined` with a reason. */
function readDecision(session: Session, { decisions, declined, reason }: ReviewInput): ReviewDecision {
  if (declined) {
    if (decisions && decisions.length > 0) {
      throw invalid([{ path: 'decisions', message: 'must not be sent together with declined' }])
    }
    if (isMissing(reason)) throw invalid([{ path: 'reason', message: 'is required with declined' }])
    return { reason: reason! }
  }
  if (!decisions) throw invalid([{ path: 'decisions', message: 'is required unless declined and reason are sent' }])
  const undecidedSkills = new Set(session.skills.map(({ number }) => number))
  const details: Detail[] = []
  const skillDecisions = decisions.map(({ skillId: id, endorsed, rating, comment }, index): SkillDecision => {
    const skill = skillNumber(id)
    if (skill === undefined || !undecidedSkills.delete(skill)) {
      const isKnown = session.skills.some(({ number }) => number === skill)
      const message = isKnown ? 'is a duplicate' : 'is not a skill of this verification'
      details.push({ path: `decisions[${index}].skillId`, message })
    }
    return {
      skill: skill ?? 0,
      endorsed,
      ...(rating === undefined ? {} : { rating }),
      ...(comment ? { comment } : {}),
    }
  })
  for (const number of undecidedSkills)
    details.push({ path: 'decisions', message: `${skillId(number)} has no decision` })
  if (details.length > 0) throw invalid(details)
  return { decisions: skillDecisions }
}
