import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../platform/database/database.ts'
import { changeSession, type Session, sessionNotFound } from '../sessions.ts'
import { requireFreeReviewer } from '../source-rules.ts'
import { isSameMailbox } from './mailboxes.ts'
import { requestReview } from './review-requests.ts'
import { alreadySubmitted, findReview, linkExpired, type Review } from './reviews.ts'

/** Different addresses that a session takes. */
export const MOST_REVIEWERS = 3

export interface ReviewerInput {
  name: string
  email: string
  company: string
  website: string | undefined
}

type Tools = Pick<Context, 'queue' | 'clock' | 'vault' | 'config'>

/** Names the reviewer, or another one. The mail goes out as soon as there is all to be reviewed, and again to another address. */
export async function storeReviewer(tx: Tx, tools: Tools, session: Session, input: ReviewerInput): Promise<Review> {
  const now = tools.clock.now()
  if (session.method === null) throw problem('VERIFICATION_METHOD_NOT_SET', 'Choose the method first (step 2).')
  if (session.method !== 'human') {
    throw problem('INVALID_VERIFICATION_TYPE', 'This verification is an assessment: it has no reviewer.')
  }
  const current = await findReview(tx, session.id)
  if (current?.submittedAt !== undefined) throw alreadySubmitted()
  if (session.status === 'pending_review' || current?.link) {
    if (now >= current!.link!.expiresAt) throw linkExpired()
  } else if (now >= session.expiresAt) throw sessionNotFound()
  const email = input.email.toLowerCase()
  if (isSameMailbox(email, session.student.email)) {
    throw problem('INVALID_EMAIL', 'email: students cannot review themselves.')
  }
  const addresses = [...new Set([...(current?.addresses ?? []), email])]
  if (addresses.length > MOST_REVIEWERS) {
    throw problem('TOO_MANY_REVIEWERS', `A session takes at most ${MOST_REVIEWERS} different reviewer addresses.`)
  }
  await requireFreeReviewer(tx, session, email, now)
  const { name, company, website } = input
  const row = { name, email, company, website: website ?? null, addresses }
  await tx
    .insertInto('verification_reviews')
    .values({ verification_id: session.id, ...row })
    .onConflict((conflict) => conflict.column('verification_id').doUpdateSet(row))
    .execute()
  const stepped = await changeSession(tx, session, now, { step: true })
  const review = { ...(current ?? NOTHING_SENT), name, email, company, website, addresses }
  if (current?.email !== email || !current.link) await requestReview(tx, tools, stepped, review)
  return review
}

const NOTHING_SENT = {
  requestedAt: undefined,
  link: undefined,
  submittedAt: undefined,
  decisions: undefined,
  declineReason: undefined,
}
