import { problem } from '../../api/problem.ts'
import type { EmailDeps } from '../../mail/mail.ts'
import { testAddressError } from '../../mail/test-addresses.ts'
import { blindIndexOf } from '../../people/identity/blind-index.ts'
import { addContactPhone, identifyPerson } from '../../people/identity/people.ts'
import type { Tx } from '../../platform/database/database.ts'
import { sealReviewer } from '../personal-values.ts'
import { changeSession, type Session, sessionNotFoundProblem } from '../sessions.ts'
import { requireNotStudent, requireReviewerAvailable } from '../source-rules.ts'
import { requestReview, requireNotSuppressed, sendLinkToNewPhone } from './review-requests.ts'
import { alreadySubmittedProblem, findReview, linkExpiredProblem, type Review } from './reviews.ts'

/** Maximum number of different reviewer addresses per session, and of phone numbers. */
const MAX_REVIEWER_ADDRESSES = 3
/** Distinguishes the hashes of phone numbers from those of email addresses. */
const PHONE_PREFIX = 'phone '

export interface ReviewerDetails {
  name: string
  email: string
  company: string
  website: string | undefined
  phone: string | undefined
}

/**
 * Stores or replaces the reviewer. The reviewer is emailed once all steps are complete; a new address gets a new email, and a new phone
 * number gets the link.
 */
export async function storeReviewer(
  tx: Tx,
  deps: EmailDeps,
  session: Session,
  input: ReviewerDetails,
): Promise<Review> {
  const now = deps.clock.now()
  if (session.method === null)
    throw problem('VERIFICATION_METHOD_NOT_SET', 'Choose the verification method first (step 2).')
  if (session.method !== 'human') {
    throw problem('INVALID_VERIFICATION_TYPE', 'This verification uses an assessment and has no reviewer.')
  }
  const currentReview = await findReview(tx, session.id)
  if (currentReview?.submittedAt !== undefined) throw alreadySubmittedProblem()
  if (session.status === 'pending_review' || currentReview?.link) {
    if (now >= currentReview!.link!.expiresAt) throw linkExpiredProblem()
  } else if (now >= session.expiresAt) throw sessionNotFoundProblem()
  const email = input.email.toLowerCase()
  const { phone } = input
  const testAddressMessage = testAddressError(email, 'reviewer', session.scope.mode)
  if (testAddressMessage) throw problem('INVALID_EMAIL', `email: ${testAddressMessage}.`)
  await requireNotStudent(tx, session, { email, phone })
  const person = await identifyPerson(tx, session.scope, now, { email })
  if (person.isRestricted)
    throw problem('REVIEWER_UNREACHABLE', 'This reviewer does not want to be contacted. Choose another reviewer.')
  const blindIndex = blindIndexOf(tx)
  const addresses = [
    ...new Set([
      ...(currentReview?.addresses ?? []),
      blindIndex.spelling(session.scope, email).toString('hex'),
      ...(phone === undefined ? [] : [`${PHONE_PREFIX}${blindIndex.phone(session.scope, phone).toString('hex')}`]),
    ]),
  ]
  const phoneCount = addresses.filter((address) => address.startsWith(PHONE_PREFIX)).length
  if (addresses.length - phoneCount > MAX_REVIEWER_ADDRESSES || phoneCount > MAX_REVIEWER_ADDRESSES) {
    const noun = phoneCount > MAX_REVIEWER_ADDRESSES ? 'phone numbers of reviewers' : 'reviewer addresses'
    throw problem('TOO_MANY_REVIEWERS', `A session can have at most ${MAX_REVIEWER_ADDRESSES} different ${noun}.`)
  }
  await requireReviewerAvailable(tx, session, { email, phone }, now)
  await requireNotSuppressed(tx, deps, session, email)
  const { name, company, website } = input
  const row = {
    person_id: person.personId,
    personal: sealReviewer(person.key, session.id, { name, email, company, website, phone }),
    addresses,
  }
  if (phone !== undefined) await addContactPhone(tx, session.scope, person.personId, phone)
  await tx
    .insertInto('verification_reviews')
    .values({ verification_id: session.id, ...row })
    .onConflict((conflict) => conflict.column('verification_id').doUpdateSet(row))
    .execute()
  const extendedSession = await changeSession(tx, session, now, { extendsSession: true })
  const review = {
    ...(currentReview ?? REVIEW_NOT_REQUESTED),
    personId: person.personId,
    personKey: person.key,
    name,
    email,
    company,
    website,
    phone,
    addresses,
  }
  if (currentReview?.email !== email || !currentReview.link) await requestReview(tx, deps, extendedSession, review)
  else if (currentReview.phone !== phone) await sendLinkToNewPhone(tx, deps, extendedSession, review)
  return review
}

const REVIEW_NOT_REQUESTED = {
  requestedAt: undefined,
  link: undefined,
  submittedAt: undefined,
  decisions: undefined,
  declineReason: undefined,
  withdrawnAt: undefined,
  withdrawnBy: undefined,
}
