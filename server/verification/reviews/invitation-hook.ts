import type { EmailDeps } from '../../mail/mail.ts'
import type { Tx } from '../../platform/database/database.ts'
import { defineHook } from '../../platform/hook.ts'
import type { Session } from '../sessions.ts'
import type { Review } from './reviews.ts'

/** A request or a reminder that is emailed to a reviewer. */
export interface ReviewInvitation {
  session: Session
  review: Review
  /** The personal link to the review page. */
  link: string
  purpose: 'review_request' | 'review_reminder'
  /** Name of the organisation that requested the verification. */
  organisation: string
}

/** Runs when a reviewer is invited or reminded by email, so that the link can be sent to their phone as well. */
export const reviewInvited =
  defineHook<[tx: Tx, deps: EmailDeps, invitation: ReviewInvitation]>('reviewInvited').handledBy('review-messages')
